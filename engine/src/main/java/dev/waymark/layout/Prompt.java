package dev.waymark.layout;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import java.util.List;
import java.util.Map;

/**
 * What a prompt is known by: its token ids, with extra keys for some of its blocks, or the caller's
 * own key for each of its whole blocks. Holds the caller's array, not a copy.
 */
public final class Prompt {
  private static final byte[] NO_EXTRA = {};

  private final int[] tokens;
  private final Map<Integer, byte[]> extraByBlock;
  private final List<BoundaryKey> keys;
  private final int lengthTokens;

  private Prompt(
      int[] tokens, Map<Integer, byte[]> extraByBlock, List<BoundaryKey> keys, int lengthTokens) {
    this.tokens = tokens;
    this.extraByBlock = extraByBlock;
    this.keys = keys;
    this.lengthTokens = lengthTokens;
  }

  /** A prompt of these token ids. */
  public static Prompt ofTokens(int... tokens) {
    return new Prompt(tokens, Map.of(), null, tokens.length);
  }

  /**
   * A prompt of these token ids, some of whose blocks have extra keys: an adapter's name, the
   * digest of an image.
   */
  public static Prompt ofTokens(int[] tokens, Map<Integer, byte[]> extraByBlock) {
    return new Prompt(tokens, Map.copyOf(extraByBlock), null, tokens.length);
  }

  /**
   * A prompt whose whole blocks the caller names itself. Each key has to stand for its block and
   * all before it; the root key of a namespace or tenant plays no part in it.
   *
   * @param lengthTokens tokens in all, an unfinished last block included
   */
  public static Prompt ofKeys(List<BoundaryKey> keys, int lengthTokens) {
    return new Prompt(null, Map.of(), List.copyOf(keys), lengthTokens);
  }

  /** Tokens in all. */
  public int lengthTokens() {
    return lengthTokens;
  }

  /** Whether the caller named the blocks itself. */
  public boolean hasOwnKeys() {
    return keys != null;
  }

  /** Whole blocks of {@code blockTokens}. */
  public int wholeBlocks(int blockTokens) {
    int blocks = lengthTokens / blockTokens;
    if (keys != null && keys.size() != blocks) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a prompt has another number of keys than of whole blocks")
              .expected(blocks)
              .found(keys.size()));
    }
    return blocks;
  }

  /** The key of a block, whose parent's key is given. */
  public BoundaryKey key(KeyChain chain, BoundaryKey parent, int block, int blockTokens) {
    if (keys != null) {
      return keys.get(block);
    }
    byte[] extra = extraByBlock.getOrDefault(block, NO_EXTRA);
    return chain.next(parent, tokens, block * blockTokens, blockTokens, extra);
  }
}
