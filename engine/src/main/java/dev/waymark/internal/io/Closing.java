package dev.waymark.internal.io;

/** Closes several things: each of them, whatever the others say. */
public final class Closing {
  private Closing() {}

  /** Takes all steps in order; throws at the end what the first that failed threw. */
  public static void all(Iterable<? extends Runnable> steps) {
    RuntimeException first = null;
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (RuntimeException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
