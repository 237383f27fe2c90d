package dev.waymark.internal.io;

import dev.waymark.error.ClosedException;
import dev.waymark.error.DiskFullException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.StoreIoException;
import dev.waymark.error.WaymarkException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Turns what the operating system reports into the store's own failures. */
final class IoFailures {
  private static final String FREE_SPACE = "free space on the file system or lower the quota";
  private static final String PERMISSION_DENIED = "permission denied";
  private static final String ASK_FOR_RIGHTS =
      "run as the user that owns the store, or have that user grant the right";
  private static final String LOOK_AT_DEVICE = "look at the device and the kernel's log";

  private IoFailures() {}

  /** Makes the failure for an exception of a channel or of {@code java.nio.file}. */
  static WaymarkException of(IOException cause, ErrorDetail detail) {
    if (cause instanceof ClosedChannelException) {
      return new ClosedException(detail.found("a closed file"), cause);
    }
    String reason = reason(cause);
    if (Libc.meansFull(reason)) {
      return new DiskFullException(detail.found(reason).remedy(FREE_SPACE), cause);
    }
    return new StoreIoException(detail.found(reason).remedy(remedy(cause, reason)), cause);
  }

  /** Makes the failure for an error number of a native call. */
  static WaymarkException of(int errno, ErrorDetail detail) {
    String reason = Libc.describe(errno);
    if (errno == Libc.ENOSPC || errno == Libc.EDQUOT) {
      return new DiskFullException(detail.found(reason).remedy(FREE_SPACE));
    }
    if (errno == Libc.EACCES || errno == Libc.EPERM) {
      return new StoreIoException(detail.found(PERMISSION_DENIED).remedy(ASK_FOR_RIGHTS));
    }
    return new StoreIoException(detail.found(reason).remedy(LOOK_AT_DEVICE));
  }

  static ClosedException closed(String what, String name) {
    return new ClosedException(
        ErrorDetail.of(what).in(name).expected("an open file").found("a closed one"));
  }

  /** Refuses a range that does not lie within {@code [0, limit]}. */
  static void checkRange(String name, long offset, long length, long limit) {
    if (offset < 0 || length < 0 || offset > limit - length) {
      throw new InvalidArgumentException(
          ErrorDetail.of("A range was refused")
              .at(name, offset)
              .expected("a range within " + limit + " bytes")
              .found(length + " bytes"));
    }
  }

  private static String reason(IOException cause) {
    if (cause instanceof AccessDeniedException) {
      return PERMISSION_DENIED;
    }
    if (cause instanceof NoSuchFileException) {
      return "no such file";
    }
    if (cause instanceof FileAlreadyExistsException) {
      return "a file of that name";
    }
    if (cause instanceof FileSystemException named) {
      return named.getReason() == null ? cause.getClass().getSimpleName() : named.getReason();
    }
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  private static String remedy(IOException cause, String reason) {
    if (reason.equals(PERMISSION_DENIED)) {
      return ASK_FOR_RIGHTS;
    }
    if (cause instanceof NoSuchFileException) {
      return "look again at what names it, or check the store";
    }
    if (cause instanceof FileAlreadyExistsException) {
      return "choose another name";
    }
    if (reason.contains("Too many open files")) {
      return "raise the limit of open files (ulimit -n)";
    }
    return LOOK_AT_DEVICE;
  }
}
