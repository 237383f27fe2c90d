package dev.waymark.internal.forest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.TensorSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bytes that someone reads stay until he is done, in whatever order the edits take them away. */
class ReadingHoldTest {
  private static final Layout LAYOUT =
      Layout.of(
          4,
          TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8),
          TensorSpec.window("w", DType.BF16, 6, 1, 2, -1, 8),
          TensorSpec.fixed("s", DType.F32, 2, 16));
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("w").build();
  private static final int CHAIN = 4;

  /** Records that died, by segment and page: of boundary n those in segment n. */
  private final Map<RecordLocation, BooleanSupplier> died = new LinkedHashMap<>();

  private final Forest forest =
      new Forest(
          new RecordEvents() {
            @Override
            public void check(RecordLocation location) {}

            @Override
            public void born(RecordLocation location) {}

            @Override
            public void died(RecordLocation location, BooleanSupplier isRead) {
              died.put(location, isRead);
            }
          });

  @BeforeEach
  void aChainOfPoints() {
    forest.apply(
        new Edit.NamespaceAdded(
            1,
            BoundaryKey.of(KeyChain.fingerprint(IDENTITY, LAYOUT, CodecPlan.RAW)),
            IDENTITY.toJson(),
            LAYOUT.toJson(),
            CodecPlan.RAW.toJson()));
    for (int i = 1; i <= CHAIN; i++) {
      addRows(i, i - 1, i);
      int covered = (i - 1) * 4;
      forest.apply(
          new Edit.PointAdded(
              1, key(i), 0, covered, i, 1, 64, 64, List.of(at(i, 2)), List.of(at(i, 3))));
    }
  }

  private void addRows(int number, int parent, int depth) {
    forest.apply(
        new Edit.RowsAdded(
            1,
            key(number),
            key(parent),
            0,
            (depth - 1) * 4L,
            depth * 4L,
            number,
            1,
            64,
            List.of(at(number, 1))));
  }

  private static BoundaryKey key(long number) {
    return new BoundaryKey(100 + number, 2, 3, 4);
  }

  private static RecordLocation at(long segment, int page) {
    return new RecordLocation(segment, page * 4_096L, 300);
  }

  private int node(int number) {
    return forest.find(1, key(number));
  }

  private void drop(int number) {
    new Drops(forest).subtree(node(number), DropReason.DAMAGED).forEach(forest::apply);
  }

  private boolean isRead(int number, int page) {
    return died.get(at(number, page)).getAsBoolean();
  }

  @Test
  void allThatIsReadOutlivesTheDropOfItsWholeChain() {
    Forest.Hold hold = forest.holdToRead(node(3));
    drop(1);
    assertThat(hold.isValid()).isFalse();
    assertThat(died).hasSize(3 * CHAIN);
    for (int i = 1; i <= 3; i++) {
      assertThat(isRead(i, 1)).as("rows of %d", i).isTrue();
    }
    assertThat(isRead(3, 2)).as("its window").isTrue();
    assertThat(isRead(2, 2)).as("its window before").isTrue();
    assertThat(isRead(3, 3)).as("its state").isTrue();
    for (int page = 1; page <= 3; page++) {
      assertThat(isRead(4, page)).as("below what is read").isFalse();
    }
    forest.release(hold);
    died.forEach(
        (location, isRead) -> assertThat(isRead.getAsBoolean()).as("%s", location).isFalse());
  }

  @Test
  void allThatIsReadOutlivesDropsOneByOne() {
    Forest.Hold hold = forest.holdToRead(node(3));
    drop(3);
    // The number of what went is given again: to what nobody reads.
    addRows(9, 2, 3);
    assertThat(forest.readNodes()).containsExactly(node(2));
    drop(9);
    assertThat(isRead(9, 1)).isFalse();
    forest.apply(new Edit.RecordMoved(1, key(1), RecordKind.APPEND, 1, 4_096, 7, 4_096));
    assertThat(isRead(1, 1)).as("moved").isTrue();
    drop(2);
    assertThat(isRead(2, 1)).isTrue();
    drop(1);
    assertThat(isRead(3, 1)).isTrue();
    assertThat(forest.readNodes()).isEmpty();
    forest.release(hold);
    assertThat(died.values()).noneMatch(BooleanSupplier::getAsBoolean);
  }

  @Test
  void whatIsReleasedBeforeIsNotRead() {
    forest.release(forest.holdToRead(node(3)));
    Forest.Hold other = forest.hold(node(3));
    drop(1);
    assertThat(died.values()).noneMatch(BooleanSupplier::getAsBoolean);
    forest.release(other);
  }
}
