package dev.waymark;

/**
 * The account of a store at one moment: {@code allocatedBytes = liveBytes + deadBytes +
 * framingBytes + reservedBytes}.
 *
 * @param quotaBytes most that may be allocated
 * @param allocatedBytes what all files occupy, as the store counts it
 * @param liveBytes records that boundaries and points need
 * @param deadBytes records that nothing needs and that did not come back yet
 * @param framingBytes headers, footers, padding, manifest, small files and what is in quarantine
 * @param reservedBytes allocated ahead, and held by nothing
 * @param segments segment files
 * @param boundaries boundaries
 * @param points restore points
 * @param openSessions prefills that were begun and not ended
 * @param appendedBytes payload that callers stored, since open
 * @param writtenBytes whole records, every copy, and manifests, since open
 * @param recordBytes whole records, written the first time, since open
 * @param copiedBytes whole records, every copy, since open
 * @param evictedBoundaries boundaries that made room, since open
 * @param evictedPoints restore points that made room, since open
 * @param skippedPoints restore points that were left out under {@link BackPressure#WIDEN}, since
 *     open
 * @param keptChains chains that are kept under a name
 * @param keptBytes whole pages of the records on kept chains
 * @param matches prompts that were matched, since open
 * @param matchHits of these, those of which something was restorable
 * @param restores restores that succeeded, since open
 * @param restoreMisses restores that failed, since open
 * @param restoredBytes raw bytes given to callers, since open
 * @param unforcedBytes bytes of records in flight: being written, or written and not yet forced
 * @param admittedMemoryBytes of the memory budget, what admitted prefills have now
 * @param manifestBytes length of the manifest
 * @param mappedFiles segment files that are mapped
 * @param chunksLeftRaw chunks that were stored as they are, since open, because the codec asked for
 *     could not take them, would not have made them smaller, or not within its stated error
 * @param timings how long what it did took
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
    int openSessions,
    long appendedBytes,
    long writtenBytes,
    long recordBytes,
    long copiedBytes,
    long evictedBoundaries,
    long evictedPoints,
    long skippedPoints,
    int keptChains,
    long keptBytes,
    long matches,
    long matchHits,
    long restores,
    long restoreMisses,
    long restoredBytes,
    long unforcedBytes,
    long admittedMemoryBytes,
    long manifestBytes,
    int mappedFiles,
    long chunksLeftRaw,
    StoreTimings timings) {

  /**
   * {@return record bytes written, every copy, over those written the first time; 1 where there are
   * none}
   */
  public double writeAmplification() {
    return recordBytes == 0 ? 1 : (double) (recordBytes + copiedBytes) / recordBytes;
  }
}
