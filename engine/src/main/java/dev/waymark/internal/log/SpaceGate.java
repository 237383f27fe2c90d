package dev.waymark.internal.log;

/** Asked before files grow, and told when they shrink: the quota stands behind it. */
public interface SpaceGate {
  /** Lets everything through. */
  SpaceGate OPEN =
      new SpaceGate() {
        @Override
        public void charge(long bytes) {}

        @Override
        public void refund(long bytes) {}
      };

  /**
   * Before {@code bytes} are allocated.
   *
   * @throws dev.waymark.error.QuotaExceededException if they may not be
   */
  void charge(long bytes);

  /** After {@code bytes} came back, or could not be allocated. */
  void refund(long bytes);
}
