package dev.waymark.internal.io;

import com.kenai.jffi.MemoryIO;
import com.kenai.jffi.Type;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The few calls of the C library that Java does not offer: allocating and punching, the count of
 * allocated blocks, setting a length, locking a directory, and synchronising a mapped range.
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
  static final int EPERM = 1;
  static final int EINTR = 4;
  static final int EACCES = 13;
  static final int ENOSPC = 28;
  private static final boolean MAC = System.getProperty("os.name", "").startsWith("Mac");
  private static final boolean LINUX = System.getProperty("os.name", "").equals("Linux");
  static final int EWOULDBLOCK = MAC ? 35 : 11;
  static final int ENOSYS = MAC ? 78 : 38;
  private static final int ENODEV = 19;
  static final int ENOTSUP = MAC ? 45 : 95;
  static final int EDQUOT = MAC ? 69 : 122;

  private static final int LOCK_EXCLUSIVELY_NOW = 2 | 4;
  private static final int KEEP_SIZE_AND_PUNCH = 3;
  private static final int MS_SYNC = MAC ? 0x10 : 4;
  private static final int SYNC_FILE_RANGE_WRITE = 2;
  private static final int AT_FDCWD = -100;
  private static final int AT_SYMLINK_NOFOLLOW = 0x100;
  private static final int AT_EMPTY_PATH = 0x1000;

  // The kernel's struct stat: the same here on 64-bit x86 and on those with the generic layout.
  private static final int STAT_INODE_OFFSET = 8;
  private static final int STAT_SIZE_OFFSET = 48;
  private static final int STAT_BLOCKS_OFFSET = 64;
  private static final int STAT_BLOCK_BYTES = 512;

  /** Room for the longest struct stat, and behind it for the longest path that is asked about. */
  private static final int STAT_MAX_BYTES = 256;

  private static final int PATH_MAX_BYTES = 4096;

  private static final Functions FUNCTIONS = load();
  private static final StatCall STAT = statCall();

  private Libc() {}

  /** Whether native calls can be made at all. */
  static boolean isAvailable() {
    return FUNCTIONS != null;
  }

  /** Allocates blocks and extends the file over them. */
  static int allocate(int fd, long offset, long length) {
    return fallocate(fd, 0, offset, length);
  }

  /** Gives blocks back, keeping the length. */
  static int punch(int fd, long offset, long length) {
    return fallocate(fd, KEEP_SIZE_AND_PUNCH, offset, length);
  }

  /** Cuts the file or extends it without blocks. */
  static int truncate(int fd, long length) {
    return isAvailable() ? errorOf(FUNCTIONS.ftruncate, fd, length) : ENOSYS;
  }

  /** Takes the lock that belongs to an open file or directory itself, or says that it is taken. */
  static int lock(int fd) {
    return isAvailable() && FUNCTIONS.flock != null
        ? errorOf(FUNCTIONS.flock, fd, LOCK_EXCLUSIVELY_NOW)
        : ENOSYS;
  }

  /** Makes mapped pages durable; the address is on a page boundary. */
  static int syncMapped(long address, long length) {
    return isAvailable() ? errorOf(FUNCTIONS.msync, address, length, MS_SYNC) : ENOSYS;
  }

  /** Begins to write what is dirty of a range to the device, and does not wait for it. */
  static int startWriting(int fd, long offset, long length) {
    return isAvailable() && FUNCTIONS.syncFileRange != null
        ? errorOf(FUNCTIONS.syncFileRange, fd, offset, length, SYNC_FILE_RANGE_WRITE)
        : ENOSYS;
  }

  /** Bytes allocated for an open file, or -1 where the system's count cannot be had. */
  static long allocatedBytes(int fd) {
    return STAT == null ? -1 : STAT.allocatedBytes(fd, "", AT_EMPTY_PATH);
  }

  /** Bytes allocated for a file below an open directory, or -1 where that cannot be had. */
  static long allocatedBytes(int directoryFd, String name) {
    return STAT == null ? -1 : STAT.allocatedBytes(directoryFd, name, AT_SYMLINK_NOFOLLOW);
  }

  /** The text for an error, in the process's language, as an {@code IOException} has it. */
  static String describe(int errno) {
    return text(errno) + " (errno " + errno + ")";
  }

  /**
   * Whether the text of an {@code IOException} speaks of a full disk or a used-up disk quota. The
   * JDK keeps no number, and the text is in the process's language, so the C library is asked for
   * the same text.
   */
  static boolean meansFull(String reason) {
    return reason.contains("No space left on device")
        || reason.contains("Disk quota exceeded")
        || reason.equals(text(ENOSPC))
        || reason.equals(text(EDQUOT));
  }

  /** Whether the text of an {@code IOException} says that the file's system has no maps. */
  static boolean cannotMap(String reason) {
    return reason.contains("No such device")
        || reason.equals(text(ENODEV))
        || reason.equals(text(ENOTSUP))
        || reason.equals(text(ENOSYS));
  }

  /** A buffer over foreign memory, or null where none can be made. */
  static ByteBuffer over(long address, int length) {
    return isAvailable() ? MemoryIO.getInstance().newDirectByteBuffer(address, length) : null;
  }

  private static int fallocate(int fd, int mode, long offset, long length) {
    return isAvailable() && FUNCTIONS.fallocate != null
        ? errorOf(FUNCTIONS.fallocate, fd, mode, offset, length)
        : ENOSYS;
  }

  private static int errorOf(NativeFunction function, long... arguments) {
    int errno;
    do {
      errno = function.call(arguments) == 0 ? 0 : NativeFunction.lastError();
    } while (errno == EINTR);
    return errno;
  }

  private static String text(int errno) {
    if (!isAvailable()) {
      return "error";
    }
    // The C library may keep the text in one buffer for all threads.
    synchronized (FUNCTIONS) {
      long text = FUNCTIONS.strerror.call(errno);
      return new String(
          MemoryIO.getInstance().getZeroTerminatedByteArray(text), Charset.defaultCharset());
    }
  }

  private static Functions load() {
    try {
      return new Functions(
          LINUX ? NativeFunction.bind("fallocate", Type.SINT32, 4, 4) : null,
          NativeFunction.bind("flock", Type.SINT32, 2, 2),
          required(NativeFunction.bind("ftruncate", Type.SINT32, 2, 2)),
          required(NativeFunction.bind("msync", Type.SINT32, 3, 3)),
          required(NativeFunction.bind("strerror", Type.POINTER, 1, 1)),
          LINUX ? NativeFunction.bind("sync_file_range", Type.SINT32, 4, 4) : null);
    } catch (RuntimeException | LinkageError e) {
      return null;
    }
  }

  private static NativeFunction required(NativeFunction function) {
    if (function == null) {
      throw new UnsatisfiedLinkError("a function of the C library is missing");
    }
    return function;
  }

  private static StatCall statCall() {
    if (FUNCTIONS == null || !LINUX) {
      return null;
    }
    int number =
        switch (System.getProperty("os.arch", "")) {
          case "amd64", "x86_64" -> 262;
          case "aarch64", "riscv64" -> 79;
          default -> -1;
        };
    NativeFunction syscall = NativeFunction.bind("syscall", Type.SINT64, 1, 5);
    if (number < 0 || syscall == null) {
      return null;
    }
    StatCall call = new StatCall(syscall, number);
    return call.tellsTheTruth() ? call : null;
  }

  private record Functions(
      NativeFunction fallocate,
      NativeFunction flock,
      NativeFunction ftruncate,
      NativeFunction msync,
      NativeFunction strerror,
      NativeFunction syncFileRange) {}

  /** The system call {@code newfstatat}, with the memory that it fills. */
  private static final class StatCall {
    private final NativeFunction syscall;
    private final int number;
    private final ByteBuffer memory =
        ByteBuffer.allocateDirect(STAT_MAX_BYTES + PATH_MAX_BYTES).order(ByteOrder.nativeOrder());
    private final long address = MemoryIO.getInstance().getDirectBufferAddress(memory);

    StatCall(NativeFunction syscall, int number) {
      this.syscall = syscall;
      this.number = number;
    }

    synchronized long allocatedBytes(int fd, String name, int flags) {
      return call(fd, name, flags) ? memory.getLong(STAT_BLOCKS_OFFSET) * STAT_BLOCK_BYTES : -1;
    }

    synchronized boolean tellsTheTruth() {
      Path known = Path.of(System.getProperty("java.home"), "lib", "modules");
      try {
        return call(AT_FDCWD, known.toString(), 0)
            && memory.getLong(STAT_SIZE_OFFSET) == Files.size(known)
            && memory.getLong(STAT_INODE_OFFSET) == (Long) Files.getAttribute(known, "unix:ino");
      } catch (IOException | RuntimeException e) {
        return false;
      }
    }

    private boolean call(int fd, String name, int flags) {
      byte[] path = name.getBytes(StandardCharsets.UTF_8);
      if (path.length >= PATH_MAX_BYTES) {
        return false;
      }
      memory.put(STAT_MAX_BYTES, path).put(STAT_MAX_BYTES + path.length, (byte) 0);
      return syscall.call(number, fd, address + STAT_MAX_BYTES, address, flags) == 0;
    }
  }
}
