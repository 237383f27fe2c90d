package dev.waymark.error;

/**
 * Stable names of everything that can go wrong. Programs may switch on them; they are never
 * renamed, only added to.
 */
public enum ErrorCode {
  /** Another process, or another store object of this one, has the directory open for writing. */
  STORE_LOCKED,
  /** The directory holds no store, or is missing. */
  NOT_A_STORE,
  /** The store was written by a version whose format this one cannot read or write. */
  UNSUPPORTED_FORMAT,
  /** The JVM was started without flags that the store needs. */
  MISSING_JVM_FLAGS,
  /** Bytes on disk are not what was written. */
  CORRUPTION,
  /** The file system has no space left for what was asked. */
  DISK_FULL,
  /** The operating system reported an error that is not a full disk. */
  IO_FAILURE,
  /** The file system lacks a call that the store cannot do without. */
  UNSUPPORTED_FILE_SYSTEM,
  /** What was asked would not fit the store's quota, whatever was evicted. */
  QUOTA_EXCEEDED,
  /** What could be evicted is pinned or kept, so the quota cannot be met now. */
  QUOTA_PINNED,
  /** The day's write budget is used up. */
  WRITE_BUDGET_EXHAUSTED,
  /** Admission refused the prefill before its first byte, or stopped it when it could not end. */
  REJECTED,
  /** Too many bytes are on their way to the disk. */
  BACK_PRESSURE,
  /** A view's rows do not end at the boundary that the caller named. */
  BOUNDARY_MISMATCH,
  /** A view's shape, stride or length does not fit its tensor. */
  VIEW_MISMATCH,
  /** A layout or a setting contradicts itself or is out of range. */
  INVALID_SETTING,
  /** An argument is out of range. */
  INVALID_ARGUMENT,
  /** The object was closed, completed or aborted before this call. */
  CLOSED,
  /** A session was used by a second thread while a call was under way. */
  CONCURRENT_USE,
  /** What a match had found is no longer there; match again. */
  STALE_MATCH,
  /** A restore could not return what was stored. */
  RESTORE_MISS,
  /** Acknowledged work that had not yet been forced was lost to a device error. */
  DURABILITY_LOST,
  /** The writer kept moving files while a reader looked; try again. */
  MOVING
}
