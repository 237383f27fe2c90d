package dev.waymark.internal.manifest;

import static dev.waymark.internal.manifest.ManifestFixture.NEXT;
import static dev.waymark.internal.manifest.ManifestFixture.STORE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import dev.waymark.sim.SimulatedDirectory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ManifestCheckpointTest {
  private final RandomEdits random = new RandomEdits(3);

  /** At every step of a checkpoint, a loss of power leaves the old or the new one, whole. */
  @Test
  void aCheckpointIsInForceWholeOrNotAtAll() {
    List<Edit> state = random.list(60);
    for (OperationKind kind :
        List.of(
            OperationKind.CREATE,
            OperationKind.ALLOCATE,
            OperationKind.WRITE,
            OperationKind.FORCE,
            OperationKind.RENAME,
            OperationKind.DIRECTORY_FORCE)) {
      for (int call = 1; call <= 2; call++) {
        try (ManifestFixture fixture = ManifestFixture.empty()) {
          fixture.force(random.list(20));
          fixture.directory.inject(Fault.ioError(kind).onCall(call));
          boolean failed = false;
          try {
            write(fixture.directory, 8, state).close();
          } catch (WaymarkException e) {
            failed = true;
          }
          for (long seed = 0; seed < 20; seed++) {
            SimulatedDirectory after = fixture.directory.crashState(seed);
            long id = CurrentFile.read(after, STORE).manifestId();
            assertThat(id).isIn(failed ? new Long[] {7L, 8L} : new Long[] {8L});
            List<Edit> edits = new ArrayList<>();
            try (StoreFile file = after.openReadOnly(ManifestLog.fileName(id))) {
              ManifestReader.read(file, id, STORE, 0, edits::add);
            }
            List<Edit> expected = new ArrayList<>(id == 7 ? fixture.edits : state);
            if (id == 8) {
              expected.add(new Edit.CheckpointEnd(60, 10, 11, 12, 13));
            }
            assertThat(edits).isEqualTo(expected);
          }
        }
      }
    }
  }

  @Test
  void aCheckpointThatDoesNotFitLeavesNothing() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.directory.inject(Fault.diskFull(OperationKind.ALLOCATE).onCall(2).sticky());
      assertThatThrownBy(() -> write(fixture.directory, 8, random.list(5000)))
          .isInstanceOf(WaymarkException.class);
      assertThat(fixture.directory.exists(ManifestLog.fileName(8))).isFalse();
      assertThat(CurrentFile.read(fixture.directory).manifestId()).isEqualTo(7);
    }
  }

  @Test
  void theStateHasNoEndOfItsOwn() {
    try (SimulatedDirectory directory = new SimulatedDirectory()) {
      assertThatThrownBy(() -> write(directory, 8, List.of(new Edit.CheckpointEnd(0, 0, 0, 0, 0))))
          .isInstanceOf(InvalidArgumentException.class);
      assertThat(directory.list()).isEmpty();
    }
  }

  private static ManifestLog write(SimulatedDirectory directory, long id, List<Edit> state) {
    return ManifestCheckpoint.write(directory, id, STORE, 5, state.iterator(), NEXT);
  }
}
