package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.sim.SimulatedDirectory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the age of STATUS says of its writer, by a clock that may be another. */
class StoreStatusTest {
  private static final long NOW = 1_700_000_000_000L;
  private final SimulatedDirectory disk = new SimulatedDirectory();

  private List<String> findings(long nowMillis) {
    return StoreStatus.read(disk.another(), nowMillis).findings().stream()
        .map(StoreInspector.FindingReport::id)
        .toList();
  }

  private String text(long nowMillis) {
    return StoreStatus.read(disk.another(), nowMillis).findings().get(0).text();
  }

  @Test
  void aTimeThatHasNotComeIsNoSilence() {
    SimulatedDirectory directory = disk.another();
    try (SnapshotStore store =
        SnapshotStore.open(
            directory, TestStore.options("64MiB").build(), () -> NOW, directory::yieldPoint)) {
      store.runOnce();
      assertThat(findings(NOW)).isEmpty();
      assertThat(findings(NOW - 9_000)).isEmpty();
      assertThat(findings(NOW + 60_000)).containsExactly("WRITER_SILENT");
      assertThat(findings(NOW - 60_000)).containsExactly("STATUS_AHEAD");
      assertThat(text(NOW - 60_000)).endsWith("whether the writer lives does not show");
    }
    assertThat(findings(NOW + 60_000)).isEmpty();
    assertThat(findings(NOW - 60_000)).containsExactly("STATUS_AHEAD");
    assertThat(text(NOW - 60_000)).doesNotContain("writer");
  }
}
