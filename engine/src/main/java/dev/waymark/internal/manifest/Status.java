package dev.waymark.internal.manifest;

/**
 * What the writer last published for others to see.
 *
 * @param storeId the store
 * @param manifestId the manifest in force
 * @param manifestLengthBytes how much of it is durable; never more, since a later open takes it as
 *     proof
 * @param heartbeatMillis wall clock when it was published
 * @param processId of the writer
 * @param counters JSON
 */
public record Status(
    StoreId storeId,
    long manifestId,
    long manifestLengthBytes,
    long heartbeatMillis,
    long processId,
    String counters) {}
