package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.DiskFullException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import dev.waymark.sim.CrashPlan;
import dev.waymark.sim.CrashState;
import dev.waymark.sim.CrashStates;
import dev.waymark.sim.SimulatedCrash;
import dev.waymark.sim.SimulatedDirectory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Crashes that stores like this one have met, each at the place where it hurt. */
class CrashCasesTest {
  private static final int BLOCK = 4;

  private static final Layout LAYOUT =
      Layout.of(
          BLOCK,
          TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8),
          TensorSpec.window("w", DType.BF16, 6, 1, 2, -1, 8),
          TensorSpec.fixed("s", DType.F32, 2, 16));

  /** Rows of which a block is two pages and a header. */
  private static final TensorSpec WIDE = TensorSpec.rows("k", DType.BF16, 1, 1, -1, 1_024);

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(74 * BLOCK, 0, 1_000).toArray();

  private static StoreOptions options() {
    return TestStore.options("64MiB").build();
  }

  private static PrefillSession prefill(
      Namespace ns, int[] tokens, Durability durability, AbortMode abort) {
    return ns.prefill(
        ns.match(tokens),
        PrefillPlan.tokens(tokens.length)
            .policy(RestorePolicy.EVERY)
            .durability(durability)
            .onAbort(abort));
  }

  private void append(PrefillSession session) {
    int end = session.tokens() + BLOCK;
    session.append(Arrays.copyOfRange(prompt, end - BLOCK, end), model.plainViews(prompt, end));
  }

  // A torn record behind one of zeros

  private static StateViews wideViews(ByteBuffer rows, int tokens) {
    return StateViews.builder()
        .put(
            WIDE,
            TensorView.linear(Memory.of(rows), 0, rows.capacity(), WIDE.innerBytes(), 0, tokens))
        .build();
  }

  @Test
  void aRecordThatIsHalfThereIsCutAndTheZerosBeforeItStay() {
    ByteBuffer rows = ByteBuffer.allocate(2 * BLOCK * (int) WIDE.innerBytes());
    for (int i = rows.capacity() / 2; i < rows.capacity(); i++) {
      rows.put(i, (byte) (i | 1));
    }
    Layout layout = Layout.of(BLOCK, WIDE);
    int[] tokens = Arrays.copyOf(prompt, 2 * BLOCK + 1);
    TestStore test = new TestStore(options());
    PrefillSession session =
        prefill(test.namespace(layout), tokens, Durability.NONE, AbortMode.KEEP);
    session.append(Arrays.copyOf(tokens, BLOCK), wideViews(rows, BLOCK));
    test.store().flush();
    session.append(Arrays.copyOfRange(tokens, BLOCK, 2 * BLOCK), wideViews(rows, 2 * BLOCK));
    int halves = 0;
    for (CrashState state : CrashStates.of(test.directory()).enumerate(200)) {
      halves += state.how().startsWith("page ") && state.how().contains("append-") ? 1 : 0;
      try (TestStore after = new TestStore(state.directory(), options())) {
        PrefixMatch match = after.namespace(layout).match(tokens);
        assertThat(match.storedTokens()).as(state.how()).isEqualTo(BLOCK);
        ByteBuffer back = ByteBuffer.allocate(rows.capacity() / 2);
        Arrays.fill(back.array(), (byte) 1);
        try (RestoredState restored = match.restore(BLOCK)) {
          restored.read(wideViews(back, BLOCK));
          restored.finish();
        }
        assertThat(back.array()).as(state.how()).containsOnly(0);
        assertEndsAfterItsLastRecord(after, match);
      }
    }
    assertThat(halves).as("states in which the record is there in part").isGreaterThan(2);
    test.store().abandon();
  }

  private static void assertEndsAfterItsLastRecord(TestStore after, PrefixMatch match) {
    Forest forest = after.store().engine().forest;
    int node = forest.find(match.namespace().state().id(), match.keyAt(BLOCK));
    RecordLocation last = forest.rowRecords(node).get(0);
    String name =
        after.store().engine().segments.infos().stream()
            .filter(info -> info.segmentId() == last.segmentId())
            .map(SegmentInfo::fileName)
            .findFirst()
            .orElseThrow();
    assertThat(after.directory().bytes(name))
        .hasSize((int) (last.offsetBytes() + Alignment.toPage(last.lengthBytes())));
  }

  // Killed at every call

  /** Runs a first prefill that dies at the k-th call; false once it does not die any more. */
  private boolean diesAt(SimulatedDirectory disk, long k, AbortMode abort) {
    SimulatedDirectory process = disk.another();
    process.setCrashPlan(CrashPlan.atOperation(process.crashPoints() + k));
    SnapshotStore store = null;
    try {
      store = SnapshotStore.open(process, options(), () -> 1L, process::yieldPoint);
      Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
      PrefillSession session = prefill(ns, prompt, Durability.GROUP, abort);
      append(session);
      append(session);
      store.flush();
      append(session);
      session.abort(abort);
      store.close();
      return false;
    } catch (SimulatedCrash e) {
      if (store != null) {
        store.abandon();
      }
      return true;
    }
  }

  private static List<SimulatedDirectory> left(SimulatedDirectory disk, long k) {
    return List.of(disk.killState(), disk.crashState(k), disk.crashState(-k));
  }

  @Test
  void killedAtAnyCallItReopensWithBoundedWork() {
    long k = 1;
    for (SimulatedDirectory disk = new SimulatedDirectory();
        diesAt(disk, k, AbortMode.KEEP);
        disk = new SimulatedDirectory()) {
      for (SimulatedDirectory state : left(disk, k)) {
        try (TestStore after = new TestStore(state, options())) {
          assertThat(state.operations().size())
              .as("calls of an open after a crash at call %s: %s", k, state.operations())
              .isLessThan(120);
          after.namespace(LAYOUT);
        }
      }
      k++;
    }
    assertThat(k).isGreaterThan(40);
  }

  @Test
  void noHalfBoundaryIsEverSeenAndNoByteIsLeftUnreferenced() {
    for (AbortMode abort : AbortMode.values()) {
      long k = 1;
      for (SimulatedDirectory disk = new SimulatedDirectory();
          diesAt(disk, k, abort);
          disk = new SimulatedDirectory()) {
        for (SimulatedDirectory state : left(disk, k)) {
          try (TestStore after = new TestStore(state, options())) {
            PrefixMatch match = after.namespace(LAYOUT).match(prompt);
            assertThat(match.points()).hasSize(match.storedTokens() / BLOCK);
            for (int at : match.points()) {
              model.assertRestores(new Random(at), match, at, prompt);
            }
            if (abort == AbortMode.DISCARD) {
              assertThat(match.storedTokens()).as("after a crash at call " + k).isZero();
            }
            after.store().runOnce();
            for (SegmentInfo info : after.store().engine().segments.infos()) {
              assertThat(info.deadBytes() + info.reservedBytes())
                  .as("unreferenced after a crash at call %s: %s", k, info)
                  .isZero();
            }
          }
        }
        k++;
      }
    }
  }

  // The clock

  @Test
  void aClockThatGoesBackADayChangesNeitherOrderNorSequence() {
    SimulatedDirectory disk = new SimulatedDirectory();
    long[] millis = {1_700_000_000_000L};
    int[] other = new Random(2).ints(2 * BLOCK, 0, 1_000).toArray();
    int[] first = Arrays.copyOf(prompt, 2 * BLOCK);
    long before;
    try (SnapshotStore store =
        SnapshotStore.open(disk.another(), options(), () -> millis[0], label -> {})) {
      Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
      for (int[] tokens : List.of(first, other)) {
        try (PrefillSession session = prefill(ns, tokens, Durability.GROUP, AbortMode.KEEP)) {
          session.append(Arrays.copyOf(tokens, BLOCK), model.plainViews(tokens, BLOCK));
          session.promptComplete();
        }
        millis[0] -= 24 * 3_600_000L;
      }
      // The first is used again, a day earlier by the clock.
      ns.match(first).restore().close();
      before = store.engine().segments.peekSequence();
    }
    try (SnapshotStore store =
        SnapshotStore.open(disk.another(), options(), () -> millis[0], label -> {})) {
      Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
      Forest forest = store.engine().forest;
      assertThat(store.engine().segments.peekSequence()).isGreaterThanOrEqualTo(before);
      assertThat(recency(forest, ns.match(first))).isGreaterThan(recency(forest, ns.match(other)));
      store.maintenance().deleteUsedBefore(recency(forest, ns.match(first)), false);
      assertThat(ns.match(first).storedTokens()).isEqualTo(BLOCK);
      assertThat(ns.match(other).storedTokens()).isZero();
    }
  }

  private static long recency(Forest forest, PrefixMatch match) {
    return forest.recency(forest.find(match.namespace().state().id(), match.keyAt(BLOCK)));
  }

  // More than may be in flight

  @Test
  void manyBlocksThroughASmallBoundAreHeldBackAndLeaveNoHole() {
    long bound = 16 << 10;
    StoreOptions small =
        TestStore.options("64MiB").group(bound, 1_000_000).maxInFlight(bound).build();
    try (TestStore test = new TestStore(small)) {
      int[] tokens = Arrays.copyOf(prompt, 73 * BLOCK + 1);
      PrefillSession session =
          prefill(test.namespace(LAYOUT), tokens, Durability.NONE, AbortMode.KEEP);
      for (int block = 0; block < 73; block++) {
        append(session);
        assertThat(test.store().stats().unforcedBytes()).isLessThanOrEqualTo(bound);
      }
      // Without forces in between nothing would be durable: this session asks for none.
      assertThat(session.durableTokens()).isPositive();
      test.killAndReopen();
      assertHasNoHole(test.namespace(LAYOUT).match(tokens), session.durableTokens(), tokens);
    }
  }

  @Test
  void aPrefillThatMeetsAFullDiskLeavesNoHole() {
    StoreOptions small = TestStore.options("64MiB").group(32 << 10, 1_000_000).build();
    try (TestStore test = new TestStore(small)) {
      int[] tokens = Arrays.copyOf(prompt, 73 * BLOCK + 1);
      PrefillSession session =
          prefill(test.namespace(LAYOUT), tokens, Durability.GROUP, AbortMode.KEEP);
      append(session);
      test.disk.setCapacityBytes(test.disk.another().allocatedBytes() + (100 << 10));
      assertThatThrownBy(
              () -> {
                for (int block = 1; block < 73; block++) {
                  append(session);
                }
              })
          .isInstanceOf(DiskFullException.class)
          .isInstanceOf(WaymarkException.class);
      int reached = session.tokens();
      assertThat(test.namespace(LAYOUT).match(tokens).storedTokens()).isEqualTo(reached);
      assertThat(reached).isLessThan(73 * BLOCK);
      test.disk.setCapacityBytes(1L << 40);
      append(session);
      int durable = session.durableTokens();
      test.killAndReopen();
      assertHasNoHole(test.namespace(LAYOUT).match(tokens), durable, tokens);
    }
  }

  private void assertHasNoHole(PrefixMatch match, int durableTokens, int[] tokens) {
    assertThat(match.storedTokens()).isGreaterThanOrEqualTo(durableTokens);
    assertThat(match.restorableTokens()).isEqualTo(match.storedTokens());
    for (int at : match.points()) {
      model.assertRestores(new Random(at), match, at, tokens);
    }
  }
}
