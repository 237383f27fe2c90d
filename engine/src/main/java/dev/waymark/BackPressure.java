package dev.waymark;

/**
 * What an append does when its bytes would have to wait, because too many others are on their way
 * to the disk ({@link StoreOptions#maxInFlightBytes()}).
 *
 * <p>The choice is about the bytes that appends bring. What waits for the disk by its nature waits
 * under each: durability {@code COMMIT}, the ends of prompts and sessions, and making room by
 * eviction. An append that is larger than all that may be in flight waits for its own forces, once
 * nothing else is in flight.
 */
public enum BackPressure {
  /** It waits for the disk. */
  BLOCK,
  /**
   * It fails with {@link dev.waymark.error.BackPressureException} before its first byte. The
   * session is as it was: append the same again later, alone or with the tokens that follow.
   */
  FAIL,
  /**
   * It leaves out the restore point that it would have made, and says so in its receipt; rows
   * always go in. The last point of a prompt and the one where it branches off are made all the
   * same. What cannot be left out waits as under {@link #BLOCK}.
   */
  WIDEN
}
