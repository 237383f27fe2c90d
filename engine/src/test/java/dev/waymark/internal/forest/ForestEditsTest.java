package dev.waymark.internal.forest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.CorruptionException;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentInfo;
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
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An edit is applied whole, or refused and nothing is changed. */
class ForestEditsTest {
  private static final Layout LAYOUT =
      Layout.of(
          4,
          TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8),
          TensorSpec.window("w", DType.BF16, 6, 1, 2, -1, 8),
          TensorSpec.fixed("s", DType.F32, 2, 16));
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("w").build();
  private static final BoundaryKey ROOT = key(100);
  private static final long GONE = 9;

  private final SegmentSet segments =
      new SegmentSet(
          new SimulatedDirectory(), 1, 2, SegmentSizing.ofQuota(64L << 20), SpaceGate.OPEN);
  private final Forest forest = LoadedStore.empty(segments).forest();

  @BeforeEach
  void twoBoundariesAndAPoint() {
    segments.restore(1, SegmentKind.APPEND, 1);
    segments.restore(2, SegmentKind.DELTA, 2);
    forest.apply(
        new Edit.NamespaceAdded(
            1,
            BoundaryKey.of(KeyChain.fingerprint(IDENTITY, LAYOUT, CodecPlan.RAW)),
            IDENTITY.toJson(),
            LAYOUT.toJson(),
            CodecPlan.RAW.toJson()));
    forest.apply(rows(1, ROOT, 0, List.of(at(1, 1)), 1_000));
    forest.apply(rows(2, key(1), 4, List.of(at(1, 2), at(1, 3)), 1_000));
    forest.apply(point(1, List.of(at(2, 1)), List.of(at(2, 2))));
  }

  private static BoundaryKey key(long number) {
    return new BoundaryKey(number, 2, 3, 4);
  }

  private static RecordLocation at(long segment, int page) {
    return new RecordLocation(segment, page * 4_096L, 300);
  }

  private static Edit.RowsAdded rows(
      int key, BoundaryKey parent, int from, List<RecordLocation> records, long millis) {
    return new Edit.RowsAdded(1, key(key), parent, 0, from, from + 4, key, millis, 64, records);
  }

  private static Edit.PointAdded point(
      int key, List<RecordLocation> deltas, List<RecordLocation> states) {
    return new Edit.PointAdded(1, key(key), 0, 0, key, 1_000, 64, 64, deltas, states);
  }

  private static Edit.RecordMoved move(int key, RecordKind kind, RecordLocation from, long to) {
    return new Edit.RecordMoved(1, key(key), kind, from.segmentId(), from.offsetBytes(), to, 8_192);
  }

  /** All that can be asked of the forest and of the account of segments. */
  private List<Object> state() {
    List<Object> all = new ArrayList<>(ForestState.heads(forest));
    ForestState.boundaries(forest).forEachRemaining(all::add);
    all.addAll(ForestState.tails(forest));
    forest.forEachRoot(node -> all.add(forest.key(node)));
    all.addAll(segments.infos());
    NamespaceState ns = forest.namespace(1);
    all.add(List.of(ns.boundaries(), ns.points(), ns.rowRecordBytes(), ns.pointRecordBytes()));
    all.add(List.of(forest.boundaryCount(), forest.pointCount()));
    return all;
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 20_000, Long.MAX_VALUE})
  void theBytesOfAnyDayAreSaidAgain(long epochDay) {
    Edit spent = new Edit.BudgetSpent(epochDay, 7);
    forest.apply(spent);
    assertThat(ForestState.heads(forest)).contains(spent);
  }

  @Test
  void whatNamesARecordWhereNoneCanBeChangesNothing() {
    List<Edit> wrong =
        List.of(
            rows(3, key(1), 4, List.of(at(GONE, 1)), 1_000),
            rows(3, key(1), 4, List.of(at(1, 4), at(GONE, 1)), 1_000),
            rows(3, key(98), 0, List.of(at(GONE, 1)), 1_000),
            rows(3, key(98), 4, List.of(at(1, 4)), 1_000),
            rows(3, ROOT, 4, List.of(at(1, 4)), 1_000),
            rows(2, key(1), 4, List.of(at(1, 4)), 1_000),
            point(2, List.of(at(2, 3)), List.of(at(GONE, 1))),
            point(2, List.of(at(GONE, 1)), List.of(at(2, 3))),
            point(1, List.of(at(2, 3)), List.of(at(2, 4))),
            point(7, List.of(at(2, 3)), List.of(at(2, 4))),
            move(1, RecordKind.APPEND, at(1, 1), GONE),
            move(2, RecordKind.APPEND, at(1, 3), GONE),
            move(1, RecordKind.STATE, at(2, 2), GONE),
            move(1, RecordKind.DELTA, at(2, 2), 2),
            move(2, RecordKind.STATE, at(2, 2), 2),
            move(7, RecordKind.APPEND, at(1, 1), 1));
    List<Object> before = state();
    for (Edit edit : wrong) {
      assertThatThrownBy(() -> forest.apply(edit))
          .as(edit.toString())
          .isInstanceOf(CorruptionException.class);
      assertThat(state()).as(edit.toString()).isEqualTo(before);
    }
  }

  @Test
  void aKeptDeltaIsNotReplacedByOneThatCannotBe() {
    forest.apply(new Edit.PointDropped(1, key(1), DropReason.THINNED, false));
    List<Object> before = state();
    Edit wrong = point(1, List.of(at(GONE, 1)), List.of(at(2, 3)));
    assertThatThrownBy(() -> forest.apply(wrong)).isInstanceOf(CorruptionException.class);
    assertThat(state()).isEqualTo(before);
  }

  @Test
  void aSegmentInWhichRecordsLiveIsNotForgotten() {
    List<SegmentInfo> before = segments.infos();
    assertThatThrownBy(() -> segments.forget(1)).isInstanceOf(CorruptionException.class);
    assertThat(segments.infos()).isEqualTo(before);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1970-01-01T00:00:00Z",
        "2026-11-30T12:00:00Z",
        "2038-01-19T03:14:07Z",
        "2038-01-19T03:14:08Z",
        "2075-06-01T00:00:00Z",
        "2106-02-07T06:28:15Z"
      })
  void theTimeAtWhichRowsWereAddedIsKept(String time) {
    long millis = Instant.parse(time).toEpochMilli();
    forest.apply(rows(3, key(1), 4, List.of(at(1, 4)), millis + 999));
    assertThat(forest.addedMillis(forest.find(1, key(3)))).isEqualTo(millis);
  }

  @Test
  void timesBeyondWhatIsKeptStayAtTheEndsAndDoNotWrap() {
    forest.apply(rows(3, key(1), 4, List.of(at(1, 4)), Long.MIN_VALUE));
    forest.apply(rows(4, key(1), 4, List.of(at(1, 5)), Long.MAX_VALUE));
    assertThat(forest.addedMillis(forest.find(1, key(3)))).isZero();
    assertThat(forest.addedMillis(forest.find(1, key(4))))
        .isEqualTo(Instant.parse("2106-02-07T06:28:15Z").toEpochMilli());
  }
}
