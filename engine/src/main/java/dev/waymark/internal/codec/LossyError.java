package dev.waymark.internal.codec;

/**
 * How far a decoded chunk is from the raw one.
 *
 * @param relativeL2 root of the summed squares of the differences, over that of the raw values; 0
 *     where the bytes are equal, infinite where they differ and the raw values have no finite norm
 *     other than zero
 * @param maxRelativeL2 what the codec promises
 */
public record LossyError(double relativeL2, double maxRelativeL2) {
  /** Whether the codec kept its promise. */
  public boolean isWithinBound() {
    return relativeL2 <= maxRelativeL2;
  }
}
