package dev.waymark.error;

/** Which limit a prefill was refused for. */
public enum Rejection {
  /** It would not fit the store's or the namespace's quota, whatever was evicted. */
  QUOTA(507),
  /** It would fit the quota, if others did not pin, keep or reserve so much of it now. */
  QUOTA_PINNED(429),
  /** The day's write budget does not allow it. */
  WRITE_BUDGET(507),
  /** Its state would not fit the memory budget, if it was alone. */
  MEMORY(413),
  /** Its state would fit the memory budget, if others did not use so much of it now. */
  MEMORY_IN_USE(429);

  private final int httpStatus;

  Rejection(int httpStatus) {
    this.httpStatus = httpStatus;
  }

  /** {@return status that a server may answer with: 413 or 507 for good, 429 for now} */
  public int httpStatus() {
    return httpStatus;
  }

  /** {@return whether the same request may be admitted later with nothing changed but the load} */
  public boolean isForNow() {
    return httpStatus == 429;
  }
}
