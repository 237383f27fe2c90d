package dev.waymark.tools.replay;

/** The kinds of trace that can be replayed. Records tell their kind by their fields. */
enum TraceKind {
  /** One coding session a line: {@code block_size}, {@code requests}; ids local to the session. */
  SESSIONS(0, 1),
  /** One request a line: {@code timestamp} in milliseconds, {@code hash_ids}. */
  MOONCAKE(512, 1e-3),
  /** One request a line: {@code chat_id}, {@code timestamp} in seconds, {@code hash_ids}. */
  BAILIAN(16, 1);

  private final int blockTokens;
  private final double timeUnitSeconds;

  TraceKind(int blockTokens, double timeUnitSeconds) {
    this.blockTokens = blockTokens;
    this.timeUnitSeconds = timeUnitSeconds;
  }

  /** Tokens a block; 0 where the record says it itself. */
  int blockTokens() {
    return blockTokens;
  }

  /** Seconds in one unit of the record's times. */
  double timeUnitSeconds() {
    return timeUnitSeconds;
  }
}
