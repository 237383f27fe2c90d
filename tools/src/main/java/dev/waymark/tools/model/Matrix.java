package dev.waymark.tools.model;

/** A fixed weight matrix, one row of outputs per input, so that the inner loop runs along it. */
final class Matrix {
  final int in;
  final int out;

  /** [in][out]. */
  final float[][] rows;

  private Matrix(int in, int out) {
    this.in = in;
    this.out = out;
    this.rows = new float[in][out];
  }

  /** Uniform weights whose product with a unit-RMS vector has an RMS of about {@code gain}. */
  static Matrix random(SplitMix64 random, int in, int out, float gain) {
    Matrix matrix = new Matrix(in, out);
    float bound = gain * (float) Math.sqrt(3.0 / in);
    for (float[] row : matrix.rows) {
      for (int j = 0; j < out; j++) {
        row[j] = bound * random.nextSigned();
      }
    }
    return matrix;
  }

  /**
   * x [n][in] times this, [n][out]. Four rows of weights serve all n tokens while they are in the
   * nearest cache; each token's sums are formed in the same order whatever n is.
   */
  float[][] times(float[][] x) {
    float[][] y = new float[x.length][out];
    for (int i = 0; i < in; i += 4) {
      for (int t = 0; t < x.length; t++) {
        FloatKernels.addRows4(rows, i, x[t], i, y[t], out);
      }
    }
    return y;
  }
}
