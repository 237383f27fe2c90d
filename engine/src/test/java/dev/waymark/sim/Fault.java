package dev.waymark.sim;

import dev.waymark.error.DiskFullException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.StoreIoException;
import dev.waymark.error.WaymarkException;

/**
 * A failure to come, as a rule: calls of one kind, on some files, in some range, from the n-th on.
 * Calls are counted from the moment that the rule is given to a directory.
 *
 * @param kind which calls
 * @param cause as what they fail
 * @param firstCall first matching call that fails, from 1
 * @param calls how many fail from there on
 * @param filePart part of the file's name, or empty for all
 * @param fromBytes calls that touch bytes from here
 * @param toBytes up to here, exclusive
 * @param appliedBytes what a write or put still does before it fails
 */
public record Fault(
    OperationKind kind,
    Cause cause,
    long firstCall,
    long calls,
    String filePart,
    long fromBytes,
    long toBytes,
    long appliedBytes) {

  /** As what a call fails. */
  public enum Cause {
    /** {@code DiskFullException}. */
    DISK_FULL,
    /** {@code StoreIoException}. */
    IO_ERROR
  }

  /** The next call of that kind fails once with an I/O error. */
  public static Fault ioError(OperationKind kind) {
    return new Fault(kind, Cause.IO_ERROR, 1, 1, "", 0, Long.MAX_VALUE, 0);
  }

  /** The next call of that kind fails once for want of space. */
  public static Fault diskFull(OperationKind kind) {
    return new Fault(kind, Cause.DISK_FULL, 1, 1, "", 0, Long.MAX_VALUE, 0);
  }

  /** Begins with the n-th matching call, from 1. */
  public Fault onCall(long n) {
    return new Fault(kind, cause, n, calls, filePart, fromBytes, toBytes, appliedBytes);
  }

  /** Fails every matching call from there on. */
  public Fault sticky() {
    return times(Long.MAX_VALUE);
  }

  /** Fails that many calls in a row. */
  public Fault times(long n) {
    return new Fault(kind, cause, firstCall, n, filePart, fromBytes, toBytes, appliedBytes);
  }

  /** Only calls on files whose name contains that. */
  public Fault onFile(String part) {
    return new Fault(kind, cause, firstCall, calls, part, fromBytes, toBytes, appliedBytes);
  }

  /** Only calls that touch a byte of {@code [from, to)}, as if the device were bad there. */
  public Fault within(long from, long to) {
    return new Fault(kind, cause, firstCall, calls, filePart, from, to, appliedBytes);
  }

  /** A write or put does that many bytes before it fails. */
  public Fault afterBytes(long bytes) {
    return new Fault(kind, cause, firstCall, calls, filePart, fromBytes, toBytes, bytes);
  }

  boolean matches(OperationKind other, String file, long offset, long length) {
    return kind == other
        && file.contains(filePart)
        && offset < toBytes
        && offset + Math.max(1, length) > fromBytes;
  }

  WaymarkException failure(String file, long offset) {
    ErrorDetail detail = ErrorDetail.of("simulated fault of " + kind).at(file, offset);
    return cause == Cause.DISK_FULL ? new DiskFullException(detail) : new StoreIoException(detail);
  }
}
