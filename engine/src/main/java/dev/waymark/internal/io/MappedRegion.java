package dev.waymark.internal.io;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A range of a file, read through a map where there are maps, and touched only by copies to and
 * from private memory, each followed by a fence that brings out a fault where it happened. Nothing
 * else ever sees its address: checksums, comparisons and decompression on a map kill the JVM when a
 * page cannot be read.
 */
public interface MappedRegion extends AutoCloseable {
  /** Bytes of the range. */
  long lengthBytes();

  /**
   * Copies out of the map.
   *
   * @throws dev.waymark.error.StoreIoException if a page cannot be read: the file was cut short
   *     under the map, or the device failed
   */
  void get(long offset, MutableDirectBuffer target, int targetIndex, int length);

  /**
   * Copies into the range.
   *
   * @throws dev.waymark.error.StoreIoException if it cannot be written
   */
  void put(long offset, DirectBuffer source, int sourceIndex, int length);

  /**
   * Makes {@code [offset, offset + length)} durable where the file is allocated and has its length.
   */
  void force(long offset, long length);

  /** Unmaps; idempotent. No call may be under way or follow. */
  @Override
  void close();
}
