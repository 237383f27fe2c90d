package dev.waymark.tools.model;

/**
 * Rotary position embedding for a run of consecutive positions; computed once per run, shared by
 * all attention layers. StrictMath, because Math.sin and Math.cos may differ between JVMs.
 */
final class Rotary {
  private static final double BASE = 10_000.0;

  private final int half;

  /** [position][half]. */
  private final float[] cos;

  private final float[] sin;

  Rotary(int width, int firstPosition, int positions) {
    this.half = width / 2;
    this.cos = new float[positions * half];
    this.sin = new float[positions * half];
    for (int i = 0; i < half; i++) {
      double frequency = StrictMath.pow(BASE, -(double) i / half);
      for (int p = 0; p < positions; p++) {
        double angle = (firstPosition + p) * frequency;
        cos[p * half + i] = (float) StrictMath.cos(angle);
        sin[p * half + i] = (float) StrictMath.sin(angle);
      }
    }
  }

  /** Turns one head's vector x[at .. at + width) to the given position of the run. */
  void rotate(float[] x, int at, int positionInRun) {
    int row = positionInRun * half;
    for (int i = 0; i < half; i++) {
      float c = cos[row + i];
      float s = sin[row + i];
      float a = x[at + i];
      float b = x[at + half + i];
      x[at + i] = a * c - b * s;
      x[at + half + i] = a * s + b * c;
    }
  }
}
