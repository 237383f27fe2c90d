package dev.waymark.jmh;

import dev.waymark.Durability;
import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.SnapshotStore;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Very many boundaries of as few bytes as boundaries can have: chains of 2,020 blocks, ten of which
 * share their first 20, with a restore point each.
 */
final class ManyStore {
  static final int BLOCKS = 2_020;
  private static final int SHARED = 20;
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("many").build();

  private final int block;
  private final Layout layout;
  private final Namespace namespace;
  private final StateViews views;
  private final int[] tokens;
  private int chains;
  private long boundaries;

  ManyStore(SnapshotStore store, int block) {
    TensorSpec rows = TensorSpec.rows("rows", DType.U8, block, TensorSpec.TOKEN_AXIS, 1);
    TensorSpec state = TensorSpec.fixed("state", DType.U8, 8);
    this.block = block;
    this.layout = Layout.of(block, rows, state);
    this.namespace = store.namespace(IDENTITY, layout);
    this.tokens = new int[BLOCKS * block + 1];
    this.views =
        StateViews.builder()
            .put(
                rows,
                TensorView.linear(
                    Memory.of(ByteBuffer.allocateDirect(BLOCKS)), 0, BLOCKS, 1, 0, BLOCKS))
            .put(state, TensorView.value(state, ByteBuffer.allocateDirect(8)))
            .build();
  }

  /** Adds chains until there are at least so many boundaries. */
  void grow(long wanted) {
    while (boundaries < wanted) {
      prompt(chains);
      try (PrefillSession session =
          namespace.prefill(
              namespace.match(tokens),
              PrefillPlan.tokens(tokens.length)
                  .policy(RestorePolicy.LAST)
                  .durability(Durability.NONE))) {
        session.append(Arrays.copyOf(tokens, BLOCKS * block), views);
        session.promptComplete();
      }
      boundaries += BLOCKS - (chains % 10 == 0 ? 0 : SHARED);
      chains++;
    }
  }

  /** The tokens of a chain and one more; the array is used again. */
  int[] prompt(int chain) {
    Arrays.fill(tokens, 0, block * SHARED, chain / 10);
    Arrays.fill(tokens, block * SHARED, tokens.length, chain);
    return tokens;
  }

  /** The keys of a chain, for a caller who makes them itself. */
  List<BoundaryKey> keys(int chain) {
    prompt(chain);
    KeyChain maker = new KeyChain();
    List<BoundaryKey> keys = new ArrayList<>(BLOCKS);
    BoundaryKey parent = KeyChain.root(KeyChain.fingerprint(IDENTITY, layout, CodecPlan.RAW));
    for (int i = 0; i < BLOCKS; i++) {
      parent = maker.next(parent, tokens, i * block, block, new byte[0]);
      keys.add(parent);
    }
    return keys;
  }

  Namespace namespace() {
    return namespace;
  }

  int chains() {
    return chains;
  }

  long boundaries() {
    return boundaries;
  }
}
