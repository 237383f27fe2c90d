package dev.waymark.tools.model;

/**
 * Where the row of each token lives in an attention cache.
 *
 * <p>A growing cache keeps token t in slot t. A ring of {@code sink + window} slots keeps token t
 * in slot t while t &lt; sink, and in slot {@code sink + (t - sink) % window} afterwards.
 *
 * @param capacity slots in all
 * @param sink slots at the front that are written once
 * @param ring whether slots behind the sinks are used again
 */
record RowSlots(int capacity, int sink, boolean ring) {
  static RowSlots growing(int capacity) {
    return new RowSlots(capacity, 0, false);
  }

  static RowSlots ring(int window, int sink) {
    return new RowSlots(Math.addExact(sink, window), sink, true);
  }

  int slotOf(int token) {
    if (!ring || token < sink) {
      return token;
    }
    return sink + (token - sink) % (capacity - sink);
  }

  /** Rows in use, always slots [0, held), once {@code tokens} tokens have been written. */
  int held(int tokens) {
    return Math.min(tokens, capacity);
  }
}
