package dev.waymark.internal.reclaim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.log.SpaceGate;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.recover.LoadedStore;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.TensorSpec;
import dev.waymark.sim.SimulatedDirectory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NewestUseTest {
  private static final Layout LAYOUT = Layout.of(4, TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8));

  private final SegmentSet segments =
      new SegmentSet(
          new SimulatedDirectory(), 1, 2, SegmentSizing.ofQuota(64L << 20), SpaceGate.OPEN);
  private final Forest forest = LoadedStore.empty(segments).forest();
  private long sequence = 1;

  private record Boundary(BoundaryKey key, int tokens) {}

  private Boundary add(Boundary parent, long number) {
    Boundary added = new Boundary(new BoundaryKey(number, 2, 3, 4), parent.tokens() + 4);
    forest.apply(
        new Edit.RowsAdded(
            1,
            added.key(),
            parent.key(),
            0,
            parent.tokens(),
            added.tokens(),
            sequence++,
            1,
            0,
            List.of()));
    return added;
  }

  private void addNamespace() {
    segments.restore(1, SegmentKind.APPEND, 1);
    ModelIdentity identity = ModelIdentity.builder().weights("w").build();
    forest.apply(
        new Edit.NamespaceAdded(
            1,
            BoundaryKey.of(KeyChain.fingerprint(identity, LAYOUT, CodecPlan.RAW)),
            identity.toJson(),
            LAYOUT.toJson(),
            CodecPlan.RAW.toJson()));
  }

  @Test
  void itIsTheMaximumOverAllThatStandsOnABoundaryInForestsOfAnyShape() {
    addNamespace();
    long seed = 7;
    Random random = new Random(seed);
    List<Boundary> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      all.add(new Boundary(new BoundaryKey(-1 - i, 2, 3, 4), 0));
    }
    for (int i = 0; i < 400; i++) {
      int from = random.nextInt(3) == 0 ? random.nextInt(all.size()) : all.size() - 1;
      all.add(add(all.get(from), i));
      if (random.nextInt(4) == 0) {
        Boundary used = all.get(3 + random.nextInt(all.size() - 3));
        forest.apply(new Edit.Touched(List.of(new Edit.Touch(1, used.key(), 1_000 + sequence++))));
      }
      if (random.nextInt(5) == 0) {
        Boundary last = all.get(all.size() - 1);
        if (last.tokens() > 0 && forest.firstChild(forest.find(1, last.key())) == Forest.NONE) {
          forest.apply(new Edit.RowsDropped(1, last.key(), DropReason.EVICTED));
          all.remove(all.size() - 1);
        }
      }
      NewestUse uses = NewestUse.of(forest);
      Map<Integer, Long> expected = new HashMap<>();
      forest.forEachBoundary(
          node -> {
            for (int at = node; at != Forest.NONE; at = forest.parent(at)) {
              expected.merge(at, forest.recency(node), Math::max);
            }
          });
      forest.forEachBoundary(
          node -> assertThat(uses.of(node)).as("seed %d", seed).isEqualTo(expected.get(node)));
    }
  }
}
