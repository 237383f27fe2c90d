package dev.waymark.tools.demo;

import dev.waymark.layout.Codec;
import dev.waymark.tools.model.ModelConfig;
import java.nio.file.Path;

/**
 * What a demonstration runs.
 *
 * @param store where the store is made
 * @param model shape of the model
 * @param blockTokens tokens a block
 * @param tokens length of the last prompt
 * @param decodeTokens tokens that are compared at the end
 * @param stateCodec what fixed state is stored with: a lossless one from the start, a lossy one in
 *     a conversation of its own, after the exact one
 */
record DemoOptions(
    Path store,
    ModelConfig model,
    int blockTokens,
    int tokens,
    int decodeTokens,
    Codec stateCodec) {
  private static final int BLOCK_TOKENS = 128;
  private static final int DECODE_TOKENS = 64;

  /** Prompts shorter than this leave nothing to abort. */
  static final int MIN_TOKENS = 16 * BLOCK_TOKENS;

  static DemoOptions of(Path store, int tokens, Codec stateCodec) {
    return new DemoOptions(
        store, ModelConfig.demo(), BLOCK_TOKENS, tokens, DECODE_TOKENS, stateCodec);
  }

  /** Enough for a whole block of generated tokens, wherever the prompt ends in its last one. */
  int answerTokens() {
    return blockTokens + blockTokens / 4;
  }
}
