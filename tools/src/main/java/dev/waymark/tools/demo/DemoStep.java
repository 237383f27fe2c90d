package dev.waymark.tools.demo;

/**
 * One request of a demonstration.
 *
 * @param promptTokens length of the prompt
 * @param restoredTokens of it out of the store
 * @param computedTokens of it by the model
 * @param generatedTokens of an answer
 * @param restoreNanos time of match and restore
 * @param prefillNanos time of computing the rest of the prompt, and of storing it
 */
record DemoStep(
    String name,
    int promptTokens,
    int restoredTokens,
    int computedTokens,
    int generatedTokens,
    long restoreNanos,
    long prefillNanos) {

  double seconds() {
    return (restoreNanos + prefillNanos) / 1e9;
  }
}
