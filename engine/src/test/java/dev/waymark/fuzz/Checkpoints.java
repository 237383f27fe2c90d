package dev.waymark.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.ForestState;
import dev.waymark.internal.forest.RecordEvents;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.EditCodec;
import java.util.Iterator;
import org.agrona.concurrent.UnsafeBuffer;

/** Whatever state was taken from disk, a checkpoint can be made of it, and says the same. */
final class Checkpoints {
  private static final UnsafeBuffer BUFFER = new UnsafeBuffer(new byte[1 << 20]);
  private static final EditCodec CODEC = new EditCodec();

  private Checkpoints() {}

  static void saysTheSame(Forest forest) {
    Forest again = new Forest(RecordEvents.UNHEARD);
    ForestState.heads(forest).forEach(edit -> copy(edit, again));
    for (Iterator<Edit> edits = ForestState.boundaries(forest); edits.hasNext(); ) {
      copy(edits.next(), again);
    }
    ForestState.tails(forest).forEach(edit -> copy(edit, again));
    assertThat(again.boundaryCount()).isEqualTo(forest.boundaryCount());
    assertThat(again.pointCount()).isEqualTo(forest.pointCount());
    assertThat(again.kept()).hasSameSizeAs(forest.kept());
    assertThat(again.sessions()).hasSameSizeAs(forest.sessions());
    assertThat(again.budgetSpent()).isEqualTo(forest.budgetSpent());
    forest.forEachBoundary(node -> sameBoundary(forest, node, again));
  }

  private static void copy(Edit edit, Forest to) {
    int length = CODEC.encode(edit, BUFFER, 0, 1);
    to.apply(CODEC.decode(BUFFER, 0, length, "checkpoint", 0));
    if (!Frame.check(BUFFER, 0, length, 1, length).isValid()) {
      throw new AssertionError("an edit was written that cannot be read: " + edit);
    }
  }

  private static void sameBoundary(Forest forest, int node, Forest again) {
    int other = again.find(forest.namespaceOf(node).id(), forest.key(node));
    boolean same =
        other != Forest.NONE
            && again.tokens(other) == forest.tokens(node)
            && again.key(again.parent(other)).equals(forest.key(forest.parent(node)))
            && again.isPoint(other) == forest.isPoint(node)
            && again.hasDelta(other) == forest.hasDelta(node)
            && again.isWindowCovered(other) == forest.isWindowCovered(node)
            && again.isRestorable(other) == forest.isRestorable(node)
            && again.recency(other) == forest.recency(node);
    for (RecordKind kind : RecordKind.values()) {
      same = same && again.records(other, kind).equals(forest.records(node, kind));
    }
    if (!same) {
      throw new AssertionError(
          "a checkpoint changes the boundary at " + forest.tokens(node) + " tokens");
    }
  }
}
