package dev.waymark;

/** Why a match does not reach deeper. */
public enum MissReason {
  /** It reaches as deep as the limit allows. */
  NONE,
  /** The next block was never stored here. */
  ABSENT,
  /** The next block was stored, and made room for others. */
  EVICTED,
  /** The next block was taken back by the prefill that had stored it, or was wiped. */
  REMOVED,
  /** The next block, or one before it, was damaged. */
  DAMAGED,
  /** Rows are stored deeper, but no boundary there has a restore point. */
  NO_STATE,
  /** The prompt is stored in another namespace: something of the model's identity differs. */
  OTHER_NAMESPACE
}
