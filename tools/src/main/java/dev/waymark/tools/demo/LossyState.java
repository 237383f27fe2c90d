package dev.waymark.tools.demo;

import dev.waymark.layout.Codec;

/**
 * The whole conversation again, with recurrent state that went through a lossy codec at each
 * restore. That it says something else is no failure: it is what the demonstration is to show.
 *
 * @param comparedTokens tokens of all answers
 * @param firstDifference index of the first of them that differs, or -1; what is said after it
 *     answers another conversation
 * @param rawBytes of the state in the store, before the codec
 * @param storedBytes the same after it
 */
record LossyState(
    Codec codec, int comparedTokens, int firstDifference, long rawBytes, long storedBytes) {
  boolean identical() {
    return firstDifference < 0;
  }
}
