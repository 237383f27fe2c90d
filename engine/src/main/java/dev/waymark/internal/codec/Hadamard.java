package dev.waymark.internal.codec;

/**
 * The Walsh-Hadamard transform, not normalised, in place, in natural (Hadamard) order: steps of 1,
 * 2, 4 ... each replace {@code (a, b)} that far apart by {@code (a + b, a - b)}. Up to four steps
 * are taken at once in registers; each sum is the same, and rounded the same, as one step at a
 * time.
 */
final class Hadamard {
  private Hadamard() {}

  /** Transforms each of the rows in {@code [0, length)}. */
  static void transform(float[] a, int length, int rowWidth) {
    int step = first(a, length, rowWidth);
    while (step < rowWidth) {
      int left = rowWidth / step;
      if (left >= 16) {
        steps16(a, length, step);
        step *= 16;
      } else if (left == 8) {
        steps8(a, length, step);
        step *= 8;
      } else if (left == 4) {
        steps4(a, length, step);
        step *= 4;
      } else {
        steps2(a, length, step);
        step *= 2;
      }
    }
  }

  /** The first steps, among neighbours: a loop over one position would cost more than the sums. */
  private static int first(float[] a, int length, int rowWidth) {
    switch (rowWidth) {
      case 2 -> first2(a, length);
      case 4 -> first4(a, length);
      case 8 -> first8(a, length);
      default -> first16(a, length);
    }
    return Math.min(rowWidth, 16);
  }

  private static void first2(float[] a, int length) {
    for (int i = 0; i < length; i += 2) {
      float v0 = a[i];
      float v1 = a[i + 1];
      a[i] = v0 + v1;
      a[i + 1] = v0 - v1;
    }
  }

  private static void first4(float[] a, int length) {
    for (int i = 0; i < length; i += 4) {
      float v0 = a[i];
      float v1 = a[i + 1];
      float v2 = a[i + 2];
      float v3 = a[i + 3];
      float x0 = v0 + v1;
      float x1 = v0 - v1;
      float x2 = v2 + v3;
      float x3 = v2 - v3;
      a[i] = x0 + x2;
      a[i + 2] = x0 - x2;
      a[i + 1] = x1 + x3;
      a[i + 3] = x1 - x3;
    }
  }

  private static void first8(float[] a, int length) {
    for (int i = 0; i < length; i += 8) {
      float v0 = a[i];
      float v1 = a[i + 1];
      float v2 = a[i + 2];
      float v3 = a[i + 3];
      float v4 = a[i + 4];
      float v5 = a[i + 5];
      float v6 = a[i + 6];
      float v7 = a[i + 7];
      float x0 = v0 + v1;
      float x1 = v0 - v1;
      float x2 = v2 + v3;
      float x3 = v2 - v3;
      float x4 = v4 + v5;
      float x5 = v4 - v5;
      float x6 = v6 + v7;
      float x7 = v6 - v7;
      float y0 = x0 + x2;
      float y2 = x0 - x2;
      float y1 = x1 + x3;
      float y3 = x1 - x3;
      float y4 = x4 + x6;
      float y6 = x4 - x6;
      float y5 = x5 + x7;
      float y7 = x5 - x7;
      a[i] = y0 + y4;
      a[i + 4] = y0 - y4;
      a[i + 1] = y1 + y5;
      a[i + 5] = y1 - y5;
      a[i + 2] = y2 + y6;
      a[i + 6] = y2 - y6;
      a[i + 3] = y3 + y7;
      a[i + 7] = y3 - y7;
    }
  }

  private static void first16(float[] a, int length) {
    for (int i = 0; i < length; i += 16) {
      float v0 = a[i];
      float v1 = a[i + 1];
      float v2 = a[i + 2];
      float v3 = a[i + 3];
      float v4 = a[i + 4];
      float v5 = a[i + 5];
      float v6 = a[i + 6];
      float v7 = a[i + 7];
      float v8 = a[i + 8];
      float v9 = a[i + 9];
      float v10 = a[i + 10];
      float v11 = a[i + 11];
      float v12 = a[i + 12];
      float v13 = a[i + 13];
      float v14 = a[i + 14];
      float v15 = a[i + 15];
      float x0 = v0 + v1;
      float x1 = v0 - v1;
      float x2 = v2 + v3;
      float x3 = v2 - v3;
      float x4 = v4 + v5;
      float x5 = v4 - v5;
      float x6 = v6 + v7;
      float x7 = v6 - v7;
      float x8 = v8 + v9;
      float x9 = v8 - v9;
      float x10 = v10 + v11;
      float x11 = v10 - v11;
      float x12 = v12 + v13;
      float x13 = v12 - v13;
      float x14 = v14 + v15;
      float x15 = v14 - v15;
      float y0 = x0 + x2;
      float y2 = x0 - x2;
      float y1 = x1 + x3;
      float y3 = x1 - x3;
      float y4 = x4 + x6;
      float y6 = x4 - x6;
      float y5 = x5 + x7;
      float y7 = x5 - x7;
      float y8 = x8 + x10;
      float y10 = x8 - x10;
      float y9 = x9 + x11;
      float y11 = x9 - x11;
      float y12 = x12 + x14;
      float y14 = x12 - x14;
      float y13 = x13 + x15;
      float y15 = x13 - x15;
      float z0 = y0 + y4;
      float z4 = y0 - y4;
      float z1 = y1 + y5;
      float z5 = y1 - y5;
      float z2 = y2 + y6;
      float z6 = y2 - y6;
      float z3 = y3 + y7;
      float z7 = y3 - y7;
      float z8 = y8 + y12;
      float z12 = y8 - y12;
      float z9 = y9 + y13;
      float z13 = y9 - y13;
      float z10 = y10 + y14;
      float z14 = y10 - y14;
      float z11 = y11 + y15;
      float z15 = y11 - y15;
      a[i] = z0 + z8;
      a[i + 8] = z0 - z8;
      a[i + 1] = z1 + z9;
      a[i + 9] = z1 - z9;
      a[i + 2] = z2 + z10;
      a[i + 10] = z2 - z10;
      a[i + 3] = z3 + z11;
      a[i + 11] = z3 - z11;
      a[i + 4] = z4 + z12;
      a[i + 12] = z4 - z12;
      a[i + 5] = z5 + z13;
      a[i + 13] = z5 - z13;
      a[i + 6] = z6 + z14;
      a[i + 14] = z6 - z14;
      a[i + 7] = z7 + z15;
      a[i + 15] = z7 - z15;
    }
  }

  private static void steps2(float[] a, int length, int step) {
    for (int from = 0; from < length; from += 2 * step) {
      for (int i = from; i < from + step; i++) {
        float v0 = a[i];
        float v1 = a[i + step];
        a[i] = v0 + v1;
        a[i + step] = v0 - v1;
      }
    }
  }

  private static void steps4(float[] a, int length, int step) {
    for (int from = 0; from < length; from += 4 * step) {
      for (int i = from; i < from + step; i++) {
        float v0 = a[i];
        float v1 = a[i + step];
        float v2 = a[i + 2 * step];
        float v3 = a[i + 3 * step];
        float x0 = v0 + v1;
        float x1 = v0 - v1;
        float x2 = v2 + v3;
        float x3 = v2 - v3;
        a[i] = x0 + x2;
        a[i + 2 * step] = x0 - x2;
        a[i + step] = x1 + x3;
        a[i + 3 * step] = x1 - x3;
      }
    }
  }

  private static void steps8(float[] a, int length, int step) {
    for (int from = 0; from < length; from += 8 * step) {
      for (int i = from; i < from + step; i++) {
        float v0 = a[i];
        float v1 = a[i + step];
        float v2 = a[i + 2 * step];
        float v3 = a[i + 3 * step];
        float v4 = a[i + 4 * step];
        float v5 = a[i + 5 * step];
        float v6 = a[i + 6 * step];
        float v7 = a[i + 7 * step];
        float x0 = v0 + v1;
        float x1 = v0 - v1;
        float x2 = v2 + v3;
        float x3 = v2 - v3;
        float x4 = v4 + v5;
        float x5 = v4 - v5;
        float x6 = v6 + v7;
        float x7 = v6 - v7;
        float y0 = x0 + x2;
        float y2 = x0 - x2;
        float y1 = x1 + x3;
        float y3 = x1 - x3;
        float y4 = x4 + x6;
        float y6 = x4 - x6;
        float y5 = x5 + x7;
        float y7 = x5 - x7;
        a[i] = y0 + y4;
        a[i + 4 * step] = y0 - y4;
        a[i + step] = y1 + y5;
        a[i + 5 * step] = y1 - y5;
        a[i + 2 * step] = y2 + y6;
        a[i + 6 * step] = y2 - y6;
        a[i + 3 * step] = y3 + y7;
        a[i + 7 * step] = y3 - y7;
      }
    }
  }

  private static void steps16(float[] a, int length, int step) {
    for (int from = 0; from < length; from += 16 * step) {
      for (int i = from; i < from + step; i++) {
        float v0 = a[i];
        float v1 = a[i + step];
        float v2 = a[i + 2 * step];
        float v3 = a[i + 3 * step];
        float v4 = a[i + 4 * step];
        float v5 = a[i + 5 * step];
        float v6 = a[i + 6 * step];
        float v7 = a[i + 7 * step];
        float v8 = a[i + 8 * step];
        float v9 = a[i + 9 * step];
        float v10 = a[i + 10 * step];
        float v11 = a[i + 11 * step];
        float v12 = a[i + 12 * step];
        float v13 = a[i + 13 * step];
        float v14 = a[i + 14 * step];
        float v15 = a[i + 15 * step];
        float x0 = v0 + v1;
        float x1 = v0 - v1;
        float x2 = v2 + v3;
        float x3 = v2 - v3;
        float x4 = v4 + v5;
        float x5 = v4 - v5;
        float x6 = v6 + v7;
        float x7 = v6 - v7;
        float x8 = v8 + v9;
        float x9 = v8 - v9;
        float x10 = v10 + v11;
        float x11 = v10 - v11;
        float x12 = v12 + v13;
        float x13 = v12 - v13;
        float x14 = v14 + v15;
        float x15 = v14 - v15;
        float y0 = x0 + x2;
        float y2 = x0 - x2;
        float y1 = x1 + x3;
        float y3 = x1 - x3;
        float y4 = x4 + x6;
        float y6 = x4 - x6;
        float y5 = x5 + x7;
        float y7 = x5 - x7;
        float y8 = x8 + x10;
        float y10 = x8 - x10;
        float y9 = x9 + x11;
        float y11 = x9 - x11;
        float y12 = x12 + x14;
        float y14 = x12 - x14;
        float y13 = x13 + x15;
        float y15 = x13 - x15;
        float z0 = y0 + y4;
        float z4 = y0 - y4;
        float z1 = y1 + y5;
        float z5 = y1 - y5;
        float z2 = y2 + y6;
        float z6 = y2 - y6;
        float z3 = y3 + y7;
        float z7 = y3 - y7;
        float z8 = y8 + y12;
        float z12 = y8 - y12;
        float z9 = y9 + y13;
        float z13 = y9 - y13;
        float z10 = y10 + y14;
        float z14 = y10 - y14;
        float z11 = y11 + y15;
        float z15 = y11 - y15;
        a[i] = z0 + z8;
        a[i + 8 * step] = z0 - z8;
        a[i + step] = z1 + z9;
        a[i + 9 * step] = z1 - z9;
        a[i + 2 * step] = z2 + z10;
        a[i + 10 * step] = z2 - z10;
        a[i + 3 * step] = z3 + z11;
        a[i + 11 * step] = z3 - z11;
        a[i + 4 * step] = z4 + z12;
        a[i + 12 * step] = z4 - z12;
        a[i + 5 * step] = z5 + z13;
        a[i + 13 * step] = z5 - z13;
        a[i + 6 * step] = z6 + z14;
        a[i + 14 * step] = z6 - z14;
        a[i + 7 * step] = z7 + z15;
        a[i + 15 * step] = z7 - z15;
      }
    }
  }
}
