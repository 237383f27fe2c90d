package dev.waymark;

import java.util.List;

/**
 * What opening a store found and did.
 *
 * @param created whether the store was made by this call
 * @param cleanlyClosed whether nothing had to be cut, dropped or closed
 * @param boundaries boundaries that are there
 * @param points restore points that are there
 * @param tornManifestBytes bytes of edits at the manifest's end that were never acknowledged
 * @param sessionsKept prefills that were open, and whose boundaries stay
 * @param sessionsDiscarded prefills that were open, and took back what only they used
 * @param droppedBoundaries boundaries that went
 * @param droppedPoints restore points that went
 * @param deletedFiles files that nothing named
 * @param evicted what went because the store was above its quota
 * @param findings what else was noticed, one sentence each
 */
public record RecoveryReport(
    boolean created,
    boolean cleanlyClosed,
    long boundaries,
    long points,
    long tornManifestBytes,
    int sessionsKept,
    int sessionsDiscarded,
    int droppedBoundaries,
    int droppedPoints,
    List<String> deletedFiles,
    EvictionReport evicted,
    List<String> findings) {}
