package dev.waymark.internal.manifest;

import java.util.List;

/** Takes the edits of a manifest in their order. */
public interface EditSink {
  /** So many edits at a time: what is read for them has to stay in the nearest caches. */
  int FORESEEN = 128;

  /** The edits that will be taken next, for whoever can make ready for many at a time. */
  default void foresee(List<Edit> coming) {}

  /** Takes one. */
  void take(Edit edit);
}
