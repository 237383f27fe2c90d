package dev.waymark.sim;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * The content of one page of a file at one moment. Immutable once shared: only the {@link Inode}
 * that made it may write to its bytes, and only until it is observed.
 */
final class Page {
  static final int SIZE_BYTES = 4096;
  static final int SECTOR_BYTES = 512;
  static final int SECTORS = SIZE_BYTES / SECTOR_BYTES;

  /** Not allocated; reads as zeros. */
  static final Page HOLE = new Page(null, false);

  /** Allocated and never written; reads as zeros. */
  static final Page ZEROS = new Page(null, true);

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final byte[] bytes;
  private final boolean allocated;
  private long hash;

  private Page(byte[] bytes, boolean allocated) {
    this.bytes = bytes;
    this.allocated = allocated;
  }

  /** A private copy that can be written to. */
  static Page writableCopyOf(Page page) {
    return new Page(page.bytes == null ? new byte[SIZE_BYTES] : page.bytes.clone(), true);
  }

  /** A page whose i-th sector is that of {@code sources.get(i)}. */
  static Page torn(List<Page> sources) {
    byte[] mixed = new byte[SIZE_BYTES];
    boolean anyAllocated = false;
    for (int sector = 0; sector < SECTORS; sector++) {
      Page source = sources.get(sector);
      anyAllocated |= source.allocated;
      if (source.bytes != null) {
        int at = sector * SECTOR_BYTES;
        System.arraycopy(source.bytes, at, mixed, at, SECTOR_BYTES);
      }
    }
    return new Page(mixed, anyAllocated);
  }

  boolean isAllocated() {
    return allocated;
  }

  /** Whether it holds written bytes, be they zeros. */
  boolean isWritten() {
    return bytes != null;
  }

  /** The bytes of a page that is written, not a copy. */
  byte[] bytes() {
    return bytes;
  }

  /** This page, or a copy of it that is zero from there on. */
  Page cutAt(int length) {
    if (bytes == null || isZeroFrom(length)) {
      return this;
    }
    byte[] cut = Arrays.copyOf(Arrays.copyOf(bytes, length), SIZE_BYTES);
    return new Page(cut, allocated);
  }

  boolean isZeroFrom(int from) {
    if (bytes == null) {
      return true;
    }
    for (int i = from; i < SIZE_BYTES; i++) {
      if (bytes[i] != 0) {
        return false;
      }
    }
    return true;
  }

  /** A hash of the content, the same for a page of written zeros and for a hole. */
  long contentHash(boolean frozen) {
    if (bytes == null) {
      return 0;
    }
    long known = hash;
    if (frozen && known != 0) {
      return known;
    }
    long sum = 0;
    long any = 0;
    for (int i = 0; i < SIZE_BYTES; i += Long.BYTES) {
      long word = (long) LONGS.get(bytes, i);
      any |= word;
      sum = Long.rotateLeft(sum ^ (word * 0x9E3779B97F4A7C15L), 27) * 0xBF58476D1CE4E5B9L;
    }
    if (any == 0) {
      return 0;
    }
    long mixed = (sum ^ (sum >>> 31)) | 1;
    if (frozen) {
      hash = mixed;
    }
    return mixed;
  }
}
