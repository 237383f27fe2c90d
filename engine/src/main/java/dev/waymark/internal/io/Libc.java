package dev.waymark.internal.io;

import com.kenai.jffi.MemoryIO;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import jnr.ffi.LastError;
import jnr.ffi.LibraryLoader;
import jnr.ffi.Platform;
import jnr.ffi.annotations.In;
import jnr.ffi.annotations.Out;

/**
 * The few calls of the C library that Java does not offer: allocating and punching, the count of
 * allocated blocks, setting a length, and synchronising a mapped range.
 *
 * <p>Chronicle's own binding of {@code fallocate} is not used: on a failure it takes the file's
 * {@code flock}, has the C library write a byte a block, and loses which error it was.
 *
 * <p>Invariants: no method throws for an error of the system, each returns its number, or 0; a call
 * that a platform lacks answers {@link #ENOSYS}. {@code fstat} and {@code stat} are not symbols of
 * every C library, so blocks are asked for by system call, on Linux on 64-bit x86, Arm and RISC-V,
 * and believed only after the same call told the truth about a file that Java knows too.
 */
final class Libc {
  static final int EINTR = 4;
  static final int ENOSPC = 28;
  private static final boolean MAC = System.getProperty("os.name", "").startsWith("Mac");
  private static final boolean LINUX = System.getProperty("os.name", "").equals("Linux");
  static final int ENOSYS = MAC ? 78 : 38;
  private static final int ENODEV = 19;
  static final int ENOTSUP = MAC ? 45 : 95;
  static final int EDQUOT = MAC ? 69 : 122;

  private static final int KEEP_SIZE_AND_PUNCH = 3;
  private static final int MS_SYNC = MAC ? 0x10 : 4;
  private static final int AT_FDCWD = -100;
  private static final int AT_SYMLINK_NOFOLLOW = 0x100;
  private static final int AT_EMPTY_PATH = 0x1000;
  private static final byte[] EMPTY_PATH = {0};

  /** The kernel's {@code struct stat} is at most this long on the architectures listed below. */
  private static final int STAT_BYTES = 144;

  // The same on 64-bit x86 and on those that use the kernel's generic layout.
  private static final int STAT_INODE_OFFSET = 8;
  private static final int STAT_SIZE_OFFSET = 48;
  private static final int STAT_BLOCKS_OFFSET = 64;
  private static final int STAT_BLOCK_BYTES = 512;

  private static final Functions FUNCTIONS = load();
  private static final long STAT_CALL = statCall();

  private Libc() {}

  /** What the C library is asked for. Public for the generated code, and nobody else. */
  public interface Functions {
    /** Allocates or punches. */
    int fallocate(int fd, int mode, long offset, long length);

    /** Sets the length. */
    int ftruncate(int fd, long length);

    /** Writes mapped pages back. */
    int msync(long address, long length, int flags);

    /** Describes an error. */
    String strerror(int errno);

    /** The system call {@code newfstatat}. */
    long syscall(long number, long directory, @In byte[] path, @Out byte[] stat, long flags);
  }

  /** Whether native calls can be made at all. */
  static boolean isAvailable() {
    return FUNCTIONS != null;
  }

  /** Allocates blocks and extends the file over them. */
  static int allocate(int fd, long offset, long length) {
    return LINUX ? fallocate(fd, 0, offset, length) : ENOSYS;
  }

  /** Gives blocks back, keeping the length. */
  static int punch(int fd, long offset, long length) {
    return LINUX ? fallocate(fd, KEEP_SIZE_AND_PUNCH, offset, length) : ENOSYS;
  }

  /** Cuts the file or extends it without blocks. */
  static int truncate(int fd, long length) {
    if (!isAvailable() || fd < 0) {
      return ENOSYS;
    }
    int errno;
    do {
      errno = FUNCTIONS.ftruncate(fd, length) == 0 ? 0 : lastError();
    } while (errno == EINTR);
    return errno;
  }

  /** Makes mapped pages durable; the address is on a page boundary. */
  static int syncMapped(long address, long length) {
    if (!isAvailable()) {
      return ENOSYS;
    }
    int errno;
    do {
      errno = FUNCTIONS.msync(address, length, MS_SYNC) == 0 ? 0 : lastError();
    } while (errno == EINTR);
    return errno;
  }

  /** Bytes allocated for an open file, or -1 where the system's count cannot be had. */
  static long allocatedBytes(int fd) {
    return fd < 0 ? -1 : statField(fd, EMPTY_PATH, AT_EMPTY_PATH);
  }

  /** Bytes allocated for a file below an open directory, or -1 where that cannot be had. */
  static long allocatedBytes(int directoryFd, String name) {
    return directoryFd < 0 ? -1 : statField(directoryFd, cString(name), AT_SYMLINK_NOFOLLOW);
  }

  /** The text for an error, as a {@code IOException} of the JDK has it. */
  static String describe(int errno) {
    String text = isAvailable() ? FUNCTIONS.strerror(errno) : "error";
    return text + " (errno " + errno + ")";
  }

  /**
   * Whether the text of an {@code IOException} speaks of a full disk or a used-up disk quota. The
   * JDK keeps no number, and the text is in the process's language, so the C library is asked for
   * the same text.
   */
  static boolean meansFull(String reason) {
    return reason.contains("No space left on device")
        || reason.contains("Disk quota exceeded")
        || FullTexts.NO_SPACE.equals(reason)
        || FullTexts.QUOTA.equals(reason);
  }

  /** Whether the text of an {@code IOException} says that the file's system has no maps. */
  static boolean cannotMap(String reason) {
    return reason.contains("No such device")
        || isAvailable()
            && (FUNCTIONS.strerror(ENODEV).equals(reason)
                || FUNCTIONS.strerror(ENOTSUP).equals(reason)
                || FUNCTIONS.strerror(ENOSYS).equals(reason));
  }

  /** A buffer over foreign memory, or null where none can be made. */
  static ByteBuffer over(long address, int length) {
    return isAvailable() ? MemoryIO.getInstance().newDirectByteBuffer(address, length) : null;
  }

  private static int fallocate(int fd, int mode, long offset, long length) {
    if (!isAvailable() || fd < 0) {
      return ENOSYS;
    }
    int errno;
    do {
      // The number is stale after a success, so only the result counts.
      errno = FUNCTIONS.fallocate(fd, mode, offset, length) == 0 ? 0 : lastError();
    } while (errno == EINTR);
    return errno;
  }

  private static int lastError() {
    return LastError.getLastError(jnr.ffi.Runtime.getSystemRuntime());
  }

  private static long statField(int fd, byte[] path, int flags) {
    if (STAT_CALL < 0) {
      return -1;
    }
    byte[] stat = new byte[STAT_BYTES];
    return FUNCTIONS.syscall(STAT_CALL, fd, path, stat, flags) == 0
        ? field(stat, STAT_BLOCKS_OFFSET) * STAT_BLOCK_BYTES
        : -1;
  }

  private static long field(byte[] stat, int offset) {
    return ByteBuffer.wrap(stat).order(ByteOrder.nativeOrder()).getLong(offset);
  }

  private static byte[] cString(String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    byte[] terminated = new byte[text.length + 1];
    System.arraycopy(text, 0, terminated, 0, text.length);
    return terminated;
  }

  private static Functions load() {
    try {
      String library = Platform.getNativePlatform().getStandardCLibraryName();
      Functions loaded = LibraryLoader.create(Functions.class).load(library);
      loaded.strerror(0);
      return loaded;
    } catch (RuntimeException | LinkageError e) {
      return null;
    }
  }

  private static long statCall() {
    if (FUNCTIONS == null || !LINUX) {
      return -1;
    }
    String architecture = System.getProperty("os.arch", "");
    long number =
        switch (architecture) {
          case "amd64", "x86_64" -> 262;
          case "aarch64", "riscv64" -> 79;
          default -> -1;
        };
    return number >= 0 && tellsTheTruth(number) ? number : -1;
  }

  private static boolean tellsTheTruth(long number) {
    Path known = Path.of(System.getProperty("java.home"), "lib", "modules");
    byte[] stat = new byte[STAT_BYTES];
    try {
      return FUNCTIONS.syscall(number, AT_FDCWD, cString(known.toString()), stat, 0) == 0
          && field(stat, STAT_SIZE_OFFSET) == Files.size(known)
          && field(stat, STAT_INODE_OFFSET) == (Long) Files.getAttribute(known, "unix:ino");
    } catch (IOException | RuntimeException | LinkageError e) {
      return false;
    }
  }

  /** Texts in the process's language, asked for once. */
  private static final class FullTexts {
    static final String NO_SPACE = isAvailable() ? FUNCTIONS.strerror(ENOSPC) : "";
    static final String QUOTA = isAvailable() ? FUNCTIONS.strerror(EDQUOT) : "";
  }
}
