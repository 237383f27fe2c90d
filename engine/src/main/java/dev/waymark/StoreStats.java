package dev.waymark;

/**
 * The account of a store at one moment: {@code allocatedBytes = liveBytes + deadBytes +
 * framingBytes + reservedBytes}.
 *
 * @param quotaBytes most that may be allocated
 * @param allocatedBytes what all files occupy, as the store counts it
 * @param liveBytes records that boundaries and points need
 * @param deadBytes records that nothing needs and that did not come back yet
 * @param framingBytes headers, footers, padding, manifest and small files
 * @param reservedBytes allocated ahead, and held by nothing
 * @param segments segment files
 * @param boundaries boundaries
 * @param points restore points
 * @param appendedBytes payload that callers stored, since open
 * @param writtenBytes whole records, every copy, and manifests, since open
 * @param restores restores that succeeded, since open
 * @param restoreMisses restores that failed, since open
 * @param restoredBytes raw bytes given to callers, since open
 * @param unforcedBytes written and not yet forced
 * @param manifestBytes length of the manifest
 * @param mappedFiles segment files that are mapped
 * @param chunksLeftRaw chunks that their codec left as they were, since open
 */
public record StoreStats(
    long quotaBytes,
    long allocatedBytes,
    long liveBytes,
    long deadBytes,
    long framingBytes,
    long reservedBytes,
    int segments,
    long boundaries,
    long points,
    long appendedBytes,
    long writtenBytes,
    long restores,
    long restoreMisses,
    long restoredBytes,
    long unforcedBytes,
    long manifestBytes,
    int mappedFiles,
    long chunksLeftRaw) {}
