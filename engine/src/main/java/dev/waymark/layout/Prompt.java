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

  /**
   * {@return a prompt of these token ids}
   *
   * @param tokens token ids
   */
  public static Prompt ofTokens(int... tokens) {
    return new Prompt(tokens, Map.of(), null, tokens.length);
  }

  /**
   * {@return a prompt of these token ids, some of whose blocks have extra keys: an adapter's name,
   * the digest of an image}
   *
   * @param tokens token ids
   * @param extraByBlock by number of the block, from 0
   */
  public static Prompt ofTokens(int[] tokens, Map<Integer, byte[]> extraByBlock) {
    return new Prompt(tokens, Map.copyOf(extraByBlock), null, tokens.length);
  }

  /**
   * {@return a prompt whose whole blocks the caller names itself} Each key has to stand for its
   * block and all before it; the root key of a namespace or tenant plays no part in it.
   *
   * @param keys one for each whole block
   * @param lengthTokens tokens in all, an unfinished last block included
   */
  public static Prompt ofKeys(List<BoundaryKey> keys, int lengthTokens) {
    return new Prompt(null, Map.of(), List.copyOf(keys), lengthTokens);
  }

  /** {@return tokens in all} */
  public int lengthTokens() {
    return lengthTokens;
  }

  /** {@return whether the caller named the blocks itself} */
  public boolean hasOwnKeys() {
    return keys != null;
  }

  /**
   * {@return whole blocks of {@code blockTokens}}
   *
   * @param blockTokens tokens a block, 1 or more
   */
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

  /**
   * {@return the key of a block, whose parent's key is given}
   *
   * @param chain hashes
   * @param parent key of the boundary before, or the root's
   * @param block number of the block, from 0
   * @param blockTokens tokens a block, 1 or more
   */
  public BoundaryKey key(KeyChain chain, BoundaryKey parent, int block, int blockTokens) {
    if (keys != null) {
      return keys.get(block);
    }
    byte[] extra = extraByBlock.getOrDefault(block, NO_EXTRA);
    return chain.next(parent, tokens, block * blockTokens, blockTokens, extra);
  }
}
