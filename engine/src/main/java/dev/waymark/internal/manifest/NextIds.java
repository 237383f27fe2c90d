package dev.waymark.internal.manifest;

/**
 * The next number of each sequence, none of which is ever reused.
 *
 * @param segmentId of segments
 * @param sessionId of sessions
 * @param sequence of recency
 * @param namespaceId of namespaces
 */
public record NextIds(long segmentId, long sessionId, long sequence, int namespaceId) {}
