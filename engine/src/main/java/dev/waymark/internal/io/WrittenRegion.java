package dev.waymark.internal.io;

import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Read through a map, and written by positional writes, which the map sees at once: both go through
 * the system's page cache.
 */
final class WrittenRegion implements MappedRegion {
  private final MappedRegion reads;
  private final MappedRegion writes;

  /** Two regions of the same range of one file, which are closed with this one. */
  WrittenRegion(MappedRegion reads, MappedRegion writes) {
    this.reads = reads;
    this.writes = writes;
  }

  @Override
  public long lengthBytes() {
    return writes.lengthBytes();
  }

  @Override
  public void get(long offset, MutableDirectBuffer target, int targetIndex, int length) {
    reads.get(offset, target, targetIndex, length);
  }

  @Override
  public void put(long offset, DirectBuffer source, int sourceIndex, int length) {
    writes.put(offset, source, sourceIndex, length);
  }

  @Override
  public void force(long offset, long length) {
    writes.force(offset, length);
  }

  @Override
  public void close() {
    Closing.all(List.of(reads::close, writes::close));
  }
}
