package dev.waymark.internal.manifest;

/**
 * Where the content of a manifest ends, and what follows it. Its checkpoint is whole, or reading it
 * would have failed.
 *
 * @param header its first frame
 * @param validLengthBytes end of the last batch that counts
 * @param tail what stands between there and the end of the file
 * @param tailReason why the first frame of a torn tail does not count, or empty
 * @param tailBytes from the end of the content to the last byte of a torn tail that is not zero
 * @param editCount edits that were handed out, the end of the checkpoint among them
 * @param checkpointBytes end of the batch in which the checkpoint ends
 * @param closedAtBytes where the mark of a clean close stands, all before which was durable; 0
 *     unless it is the last that there is
 */
public record ManifestEnd(
    ManifestHeader header,
    long validLengthBytes,
    Tail tail,
    String tailReason,
    long tailBytes,
    long editCount,
    long checkpointBytes,
    long closedAtBytes) {

  /** What follows the content. */
  public enum Tail {
    /** Nothing, or space that was never written. */
    CLEAN,
    /** Edits that were being written, none of them known to be durable. They do not count. */
    TORN
  }
}
