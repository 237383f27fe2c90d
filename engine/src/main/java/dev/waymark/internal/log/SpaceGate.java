package dev.waymark.internal.log;

/** Asked before files grow, and told when they shrink: the quota stands behind it. */
public interface SpaceGate {
  /** Whose bytes they are; the gate knows its own payers and may have set room aside for them. */
  interface Payer {}

  /** Pays for what nobody has reserved room for. */
  Payer ANYONE = new Payer() {};

  /**
   * Pays for the footers of segments, without which they could not be trimmed: may use what is held
   * back for such.
   */
  Payer SEALING = new Payer() {};

  /** Pays for what is on disk already: let through, whatever the quota, which is met later. */
  Payer ADOPTED = new Payer() {};

  /** Lets everything through. */
  SpaceGate OPEN =
      new SpaceGate() {
        @Override
        public void charge(long bytes, Payer payer) {}

        @Override
        public void refund(long bytes, Payer payer) {}
      };

  /**
   * Before {@code bytes} are allocated.
   *
   * @throws dev.waymark.error.QuotaExceededException if they may not be
   */
  void charge(long bytes, Payer payer);

  /**
   * After {@code bytes} came back, or could not be allocated.
   *
   * @param payer who gets them back, where they were just charged; else {@link #ANYONE}
   */
  void refund(long bytes, Payer payer);
}
