package dev.waymark.tools.model;

/** What the mixing half of a decoder layer is; each kind remembers the past in its own way. */
public enum LayerKind {
  /** Attends to every earlier token: keys and values grow by one row per token. */
  FULL_ATTENTION,
  /** Attends to the first few tokens and a window of recent ones: a ring of rows. */
  SLIDING_ATTENTION,
  /** Folds the past into a fixed-size recurrent state and a short convolution tail. */
  GATED_DELTA_NET
}
