package dev.waymark.tools.model;

/**
 * Prints how fast {@link ModelConfig#demo} computes prompts of the given lengths, on one thread:
 *
 * <pre>java -cp CLASSES dev.waymark.tools.model.PrefillSpeed 2048 8192 40000</pre>
 */
public final class PrefillSpeed {
  private PrefillSpeed() {}

  /**
   * Runs the measurement.
   *
   * @param args prompt lengths in tokens
   */
  public static void main(String[] args) {
    HybridModel model = new HybridModel(ModelConfig.demo());
    measure(model, 1024);
    for (String arg : args) {
      int tokens = Integer.parseInt(arg);
      double seconds = measure(model, tokens);
      System.out.printf("%d tokens: %.2f s, %.0f tokens/s%n", tokens, seconds, tokens / seconds);
    }
  }

  private static double measure(HybridModel model, int tokens) {
    ModelState state = model.newState(tokens);
    int[] prompt = new int[tokens];
    SplitMix64 random = new SplitMix64(tokens);
    for (int i = 0; i < tokens; i++) {
      prompt[i] = random.nextInt(model.config().vocab());
    }
    long start = System.nanoTime();
    model.prefill(state, prompt, 0, tokens);
    return (System.nanoTime() - start) / 1e9;
  }
}
