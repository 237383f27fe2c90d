package dev.waymark.internal.manifest;

/**
 * What the writer last published for others to see.
 *
 * @param storeId the store
 * @param manifestId the manifest in force
 * @param manifestLengthBytes how much of it is durable; never more, since a later open takes it as
 *     proof
 * @param heartbeatMillis wall clock when it was published
 * @param processId of the writer; 0 once it has closed the store
 * @param counters JSON
 */
public record Status(
    StoreId storeId,
    long manifestId,
    long manifestLengthBytes,
    long heartbeatMillis,
    long processId,
    String counters) {

  /** Stands for the process once there is none. */
  public static final long CLOSED = 0;

  /** Whether its writer closed the store, and left nothing undone. */
  public boolean isClosed() {
    return processId == CLOSED;
  }
}
