package dev.waymark.jmh;

/** How much is measured: enough to see that it runs, or enough to say what it gives. */
enum Form {
  SMOKE(0, 1, 2, 4L << 20, 4_000),
  SHORT(1, 5, 8, 256L << 20, 1_000_000),
  WHOLE(2, 15, 40, 512L << 20, 1_000_000);

  private final int warmups;
  private final int rounds;
  private final int budgetSeconds;
  private final long batchBytes;
  private final int manyBoundaries;

  Form(int warmups, int rounds, int budgetSeconds, long batchBytes, int manyBoundaries) {
    this.warmups = warmups;
    this.rounds = rounds;
    this.budgetSeconds = budgetSeconds;
    this.batchBytes = batchBytes;
    this.manyBoundaries = manyBoundaries;
  }

  /** Rounds that are thrown away. */
  int warmups() {
    return warmups;
  }

  /** Most rounds that are kept. */
  int rounds() {
    return rounds;
  }

  /** After so long no further round is begun, once there are three. */
  int budgetSeconds() {
    return budgetSeconds;
  }

  /** What is written or read at one turn, about. */
  long batchBytes() {
    return batchBytes;
  }

  /** Boundaries of a large store. */
  int manyBoundaries() {
    return manyBoundaries;
  }

  boolean isSmoke() {
    return this == SMOKE;
  }
}
