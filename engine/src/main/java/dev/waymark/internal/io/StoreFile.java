package dev.waymark.internal.io;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * One open file: one descriptor from creation to its last force. Threads may use it at once.
 * Interrupting a thread inside any of these calls neither closes the file nor fails the call.
 */
public interface StoreFile extends AutoCloseable {
  /** Name inside the directory. */
  String name();

  /** The file's length. */
  long lengthBytes();

  /** Bytes the file system has allocated for it, by its own count. */
  long allocatedBytes();

  /**
   * Allocates blocks for {@code [offset, offset + length)} and grows the file to cover them; bytes
   * never written read as zero. Where the file system cannot allocate, writes zeros there, so that
   * a full disk still shows here and never as a fault on a map. After a failure the file is as long
   * as it was, and nothing is allocated from the offset on: so nothing there may be in use yet.
   *
   * @throws dev.waymark.error.DiskFullException if there is no space
   */
  void allocate(long offset, long length);

  /** Cuts or extends (sparsely) the file to that length. */
  void setLength(long length);

  /**
   * Gives the blocks of {@code [offset, offset + length)} back; the range reads as zeros after and
   * the length stays. Both are multiples of 4 KiB.
   *
   * @return false where the file system cannot
   */
  boolean punch(long offset, long length);

  /**
   * Reads exactly {@code length} bytes, by a positional read.
   *
   * @throws dev.waymark.error.StoreIoException on an error of the device
   * @throws dev.waymark.error.CorruptionException if the file ends before that
   */
  void read(long offset, MutableDirectBuffer target, int targetIndex, int length);

  /** Writes exactly {@code length} bytes, by positional writes, looping over short ones. */
  void write(long offset, DirectBuffer source, int sourceIndex, int length);

  /** Makes the content of the whole file, and its length, durable: bytes written and mapped. */
  void force();

  /**
   * Has the system begin to write a range to the device, where it can. Promises nothing, and fails
   * silently: what went wrong the next {@link #force} says.
   */
  default void startWriting(long offset, long length) {}

  /**
   * Maps {@code [0, length)}. Writers see to it that what they touch was allocated before. The
   * mapping outlives this object's close only until {@link MappedRegion#close()}.
   */
  MappedRegion map(long length, boolean writable);

  /** Closes the descriptor; idempotent. */
  @Override
  void close();
}
