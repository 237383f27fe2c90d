package dev.waymark.tools.replay;

/**
 * One request of a trace. Every hash id stands for one whole block of the trace, so that a request
 * is as long as its ids say, whatever its token counts say.
 */
final class TraceRequest {
  private final String scope;
  private final long lineNumber;
  private final double timeSeconds;
  private final boolean subAgent;
  private final long[] hashIds;
  private final int idsPerBlock;

  TraceRequest(
      String scope,
      long lineNumber,
      double timeSeconds,
      boolean subAgent,
      long[] hashIds,
      int idsPerBlock) {
    this.scope = scope;
    this.lineNumber = lineNumber;
    this.timeSeconds = timeSeconds;
    this.subAgent = subAgent;
    this.hashIds = hashIds;
    this.idsPerBlock = idsPerBlock;
  }

  /** Within what the ids are unique: a session's name, or "" for the whole trace. */
  String scope() {
    return scope;
  }

  /** The line of the trace, counted from 1. */
  long lineNumber() {
    return lineNumber;
  }

  /** When the request came, from the start of its scope. */
  double timeSeconds() {
    return timeSeconds;
  }

  /** Whether a sub-agent of the session made it. */
  boolean isSubAgent() {
    return subAgent;
  }

  /**
   * Ids of the trace's own blocks in order, {@link #idsPerBlock()} for each block of the request.
   * The array is the request's own: read it only.
   */
  long[] hashIds() {
    return hashIds;
  }

  /** How many of the trace's blocks make one block here. */
  int idsPerBlock() {
    return idsPerBlock;
  }

  /** Blocks of the request. */
  int blocks() {
    return hashIds.length / idsPerBlock;
  }
}
