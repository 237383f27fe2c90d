package dev.waymark.tools.model;

/**
 * The inner loops. Each has one fixed order of single-precision operations per result, so that the
 * bits do not depend on the JVM, on whether the loop is compiled, or on how a prompt is chunked.
 *
 * <p>They are shaped for what HotSpot vectorises: elementwise loops of few operations over whole
 * arrays. It vectorises neither float reductions nor these loops once arrays are entered at an
 * offset, hence rows in arrays of their own throughout the model, and four of them at a time.
 */
final class FloatKernels {
  private FloatKernels() {}

  /** y[j] += sum over i in 0..3 of x[at + i] * rows[row + i][j], i ascending, for j &lt; n. */
  static void addRows4(float[][] rows, int row, float[] x, int at, float[] y, int n) {
    float[] r0 = rows[row];
    float[] r1 = rows[row + 1];
    float[] r2 = rows[row + 2];
    float[] r3 = rows[row + 3];
    float a0 = x[at];
    float a1 = x[at + 1];
    float a2 = x[at + 2];
    float a3 = x[at + 3];
    for (int j = 0; j < n; j++) {
      y[j] = y[j] + a0 * r0[j] + a1 * r1[j] + a2 * r2[j] + a3 * r3[j];
    }
  }

  /** y[j] += a * x[j] for j &lt; n. */
  static void addScaled(float[] y, float a, float[] x, int n) {
    for (int j = 0; j < n; j++) {
      y[j] += a * x[j];
    }
  }

  /** s[j] = g * s[j] + a * d[j] for all j. */
  static void decayAndAdd(float[] s, float g, float a, float[] d) {
    for (int j = 0; j < s.length; j++) {
      s[j] = g * s[j] + a * d[j];
    }
  }

  /** y[j] += x[j] for j &lt; n. */
  static void add(float[] y, float[] x, int n) {
    for (int j = 0; j < n; j++) {
      y[j] += x[j];
    }
  }

  /** y[j] += a[j] * b[j] for all j. */
  static void addProduct(float[] y, float[] a, float[] b) {
    for (int j = 0; j < y.length; j++) {
      y[j] += a[j] * b[j];
    }
  }

  static void expInPlace(float[] y, int n) {
    for (int j = 0; j < n; j++) {
      y[j] = exp(y[j]);
    }
  }

  static void siluInPlace(float[] y) {
    for (int j = 0; j < y.length; j++) {
      y[j] = y[j] / (1f + exp(-y[j]));
    }
  }

  static float sigmoid(float x) {
    return 1f / (1f + exp(-x));
  }

  /** y[j] *= x[j] for all j. */
  static void multiply(float[] y, float[] x) {
    for (int j = 0; j < y.length; j++) {
      y[j] *= x[j];
    }
  }

  /**
   * e^x to about 1e-5 relative, for |x| up to 32; beyond, and up to 80, it is rougher but still
   * positive and finite, which is all that a saturated gate needs. Made of multiplications and
   * additions only, which both vectorise and come out the same everywhere: a Taylor polynomial at
   * x/64, squared six times.
   */
  static float exp(float x) {
    float y = x * 0x1p-6f;
    float p = 1f / 5040f;
    p = p * y + 1f / 720f;
    p = p * y + 1f / 120f;
    p = p * y + 1f / 24f;
    p = p * y + 1f / 6f;
    p = p * y + 0.5f;
    p = p * y + 1f;
    p = p * y + 1f;
    p *= p;
    p *= p;
    p *= p;
    p *= p;
    p *= p;
    return p * p;
  }

  /** Scales x[at .. at + n) to a root mean square of {@code rms}; n is a multiple of 4. */
  static void rmsNormInPlace(float[] x, int at, int n, float rms) {
    float meanSquare = sumOfSquares(x, at, n) / n;
    float factor = rms / (float) Math.sqrt(meanSquare + 1e-6f);
    for (int j = at; j < at + n; j++) {
      x[j] *= factor;
    }
  }

  /** Four interleaved partial sums; n is a multiple of 4. */
  private static float sumOfSquares(float[] x, int at, int n) {
    float s0 = 0f;
    float s1 = 0f;
    float s2 = 0f;
    float s3 = 0f;
    for (int j = at; j < at + n; j += 4) {
      s0 += x[j] * x[j];
      s1 += x[j + 1] * x[j + 1];
      s2 += x[j + 2] * x[j + 2];
      s3 += x[j + 3] * x[j + 3];
    }
    return (s0 + s1) + (s2 + s3);
  }
}
