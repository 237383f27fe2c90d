package dev.waymark;

/** When what was appended is forced to the device. */
public enum Durability {
  /** When a bound on unforced bytes is reached, on flush and on close. */
  NONE,
  /** Every so many bytes or milliseconds, when a prompt is complete, and on close. The default. */
  GROUP,
  /** Before the append returns. */
  COMMIT
}
