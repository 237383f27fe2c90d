package dev.waymark.faults;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.EnumSet;
import java.util.Set;

/**
 * Tells the preloaded library which calls of this process are to fail, through a page that both
 * have mapped. Its layout is that of {@code struct control} in {@code failio.c}.
 */
final class FailingCalls {
  /** The page's length. */
  static final int PAGE_BYTES = 4096;

  private static final int ARMED = 0;
  private static final int FAIL_AT = 1;
  private static final int MODE = 2;
  private static final int ERROR = 3;
  private static final int CALLS = 4;
  private static final int FAILURES = 5;
  private static final int KINDS = 6;
  private static final int FAILED_KIND = 7;
  private static final int UNSUPPORTED = 8;
  private static final int LIES_ABOUT_BLOCKS = 9;
  private static final int BYTES_READ = 10;
  private static final int COUNTS = 16;

  /** What is called; the order is that of {@code enum kind}. */
  enum Kind {
    OPEN,
    CREATE,
    READ,
    WRITE,
    TRUNCATE,
    ALLOCATE,
    PUNCH,
    SYNC,
    MSYNC,
    MAP,
    RENAME,
    UNLINK,
    MKDIR,
    LOCK,
    LIST,
    STAT,
    CLOSE
  }

  /** How long a failure lasts; the order is that of {@code enum mode}. */
  enum Mode {
    /** One call. */
    ONCE,
    /** That call and all later ones of its kind. */
    SAME_KIND,
    /** That call and all later ones. */
    ALL_KINDS
  }

  private final MappedByteBuffer page;

  /**
   * Maps the page.
   *
   * @throws IllegalStateException if the library is not loaded, or looks at another page
   */
  FailingCalls(Path file, Path directory) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      page = channel.map(FileChannel.MapMode.READ_WRITE, 0, PAGE_BYTES);
    }
    page.order(ByteOrder.nativeOrder());
    long before = count(Kind.STAT);
    directory.toFile().length();
    if (count(Kind.STAT) == before) {
      throw new IllegalStateException("calls on " + directory + " are not seen: LD_PRELOAD?");
    }
  }

  /** From now on: the n-th call of these kinds fails. */
  void arm(long n, Mode mode, int errno, Set<Kind> kinds) {
    put(FAIL_AT, n);
    put(MODE, mode.ordinal());
    put(ERROR, errno);
    put(CALLS, 0);
    put(FAILURES, 0);
    put(KINDS, mask(kinds));
    put(ARMED, 1);
  }

  /** From now on every call is let through. */
  void disarm() {
    put(ARMED, 0);
  }

  /** Calls that were counted since it was armed. */
  long calls() {
    return get(CALLS);
  }

  /** Calls that failed since it was armed. */
  long failures() {
    return get(FAILURES);
  }

  /** Kind of the first call that failed. */
  Kind failedKind() {
    return Kind.values()[(int) get(FAILED_KIND)];
  }

  /** Calls of these kinds are answered as by a file system that has no such thing. */
  void lack(Set<Kind> kinds) {
    put(UNSUPPORTED, mask(kinds));
  }

  /** Every file claims to have no blocks. */
  void lieAboutBlocks(boolean lies) {
    put(LIES_ABOUT_BLOCKS, lies ? 1 : 0);
  }

  /** Bytes that were read by calls since the process began. */
  long bytesRead() {
    return get(BYTES_READ);
  }

  /** Calls of a kind since the process began. */
  long count(Kind kind) {
    return get(COUNTS + kind.ordinal());
  }

  /** All kinds but some. */
  static Set<Kind> allBut(Kind... kinds) {
    EnumSet<Kind> all = EnumSet.allOf(Kind.class);
    all.removeAll(Set.of(kinds));
    return all;
  }

  private static long mask(Set<Kind> kinds) {
    long mask = 0;
    for (Kind kind : kinds) {
      mask |= 1L << kind.ordinal();
    }
    return mask;
  }

  private long get(int index) {
    return page.getLong(8 * index);
  }

  private void put(int index, long value) {
    page.putLong(8 * index, value);
  }
}
