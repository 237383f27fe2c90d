package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.manifest.StatusFile;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import dev.waymark.sim.CrashState;
import dev.waymark.sim.CrashStates;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import dev.waymark.sim.SimulatedDirectory;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Whichever force of a segment fails, the bytes add up after every loss of power that follows: no
 * manifest may name what that force did not prove, be it a record, a description or a footer.
 */
class FailedForceAccountTest {
  private static final int BLOCK = 4;

  /** A step of allocation and more: a footer may go where it has not come to, and need a page. */
  private static final int MOST_BLOCKS = 17;

  private static final int STATES = 12;

  /** The account sets a page aside for LOCK, which is empty here, and one for a second CURRENT. */
  private static final long ASIDE_BYTES = 2 * 4_096;

  /** A block is a page. */
  private static final Layout LAYOUT =
      Layout.of(BLOCK, TensorSpec.rows("k", DType.BF16, 1, 1, -1, 16));

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(MOST_BLOCKS * BLOCK + 1, 0, 1_000).toArray();

  private static StoreOptions options() {
    return TestStore.options("16MiB").restoreThreads(1).build();
  }

  @Test
  void theAccountIsTheDirectorysWhicheverForceFailed() {
    for (int blocks = 1; blocks <= MOST_BLOCKS; blocks++) {
      long forces = forces(run(blocks, Long.MAX_VALUE));
      assertThat(forces).as("forces, that of the footer at close included").isGreaterThan(1);
      for (long n = 1; n <= forces; n++) {
        SimulatedDirectory disk = run(blocks, n);
        String after = " after force " + n + " of " + forces + ", with " + blocks + " blocks";
        requireAccount(disk.killState(), "killed" + after);
        for (CrashState state : CrashStates.of(disk).enumerate(STATES)) {
          requireAccount(state.directory(), state.how() + after);
        }
      }
    }
  }

  /** Stores that many blocks durably, and closes, which seals their segment. */
  private SimulatedDirectory run(int blocks, long failing) {
    SimulatedDirectory directory = new SimulatedDirectory();
    SnapshotStore store = SnapshotStore.open(directory, options(), () -> 1L, directory::yieldPoint);
    directory.inject(Fault.ioError(OperationKind.FORCE).onFile(".seg").onCall(failing));
    Namespace namespace = store.namespace(TestStore.identity("w"), LAYOUT);
    PrefillPlan plan =
        PrefillPlan.tokens(prompt.length).durability(Durability.NONE).onAbort(AbortMode.KEEP);
    try (PrefillSession session = namespace.prefill(namespace.match(prompt), plan)) {
      int end = blocks * BLOCK;
      session.append(Arrays.copyOf(prompt, end), model.plainViews(prompt, end));
      store.flush();
    }
    store.close();
    return directory;
  }

  private static long forces(SimulatedDirectory directory) {
    return directory.operations().stream()
        .filter(call -> call.kind() == OperationKind.FORCE && call.file().endsWith(".seg"))
        .count();
  }

  private static void requireAccount(SimulatedDirectory left, String how) {
    if (left.exists(StatusFile.NAME)) {
      // It has no part in this, and is read many times over where it is torn.
      left.delete(StatusFile.NAME);
    }
    try (SnapshotStore store = SnapshotStore.open(left, options(), () -> 2L, left::yieldPoint)) {
      StoreStats stats = store.stats();
      assertThat(
              stats.liveBytes() + stats.deadBytes() + stats.framingBytes() + stats.reservedBytes())
          .as(how)
          .isEqualTo(stats.allocatedBytes());
      assertThat(stats.allocatedBytes() - left.allocatedBytes())
          .as("%s: the account less what is on disk: %s\n%s", how, stats, left)
          .isBetween(0L, ASIDE_BYTES);
    }
  }
}
