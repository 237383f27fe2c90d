package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.sim.SimulatedDirectory;
import java.util.HashMap;
import java.util.Map;

/** A store on a simulated disk, whose account is checked against it. */
final class TestStore implements AutoCloseable {
  /** Small files that have no block, or are just being replaced. */
  private static final long SLACK_BYTES = 32 << 10;

  private static final long START_MILLIS = 1_700_000_000_000L;

  final SimulatedDirectory disk;
  private final StoreOptions options;
  private SimulatedDirectory directory;
  private SnapshotStore store;

  TestStore(StoreOptions options) {
    this(new SimulatedDirectory(), options);
  }

  TestStore(SimulatedDirectory disk, StoreOptions options) {
    this.disk = disk;
    this.options = options;
    open();
  }

  /** A quota that no test reaches; no thread of its own. */
  static StoreOptions.Builder options(String quota) {
    return StoreOptions.builder().quota(quota).backgroundThread(false).restoreThreads(2);
  }

  private void open() {
    directory = disk.another();
    store =
        SnapshotStore.open(
            directory, options, () -> START_MILLIS, label -> directory.yieldPoint(label));
    check();
  }

  SnapshotStore store() {
    return store;
  }

  /** The directory as the open store sees it. */
  SimulatedDirectory directory() {
    return directory;
  }

  static ModelIdentity identity(String weights) {
    return ModelIdentity.builder().weights(weights).engine("test 1").build();
  }

  Namespace namespace(Layout layout) {
    return store.namespace(identity("w"), layout);
  }

  Namespace namespace(Layout layout, CodecPlan codecs) {
    return store.namespace(identity("w"), layout, codecs);
  }

  void reopen() {
    close();
    open();
  }

  /** Ends the process as a kill would, and opens again what it left. */
  void killAndReopen() {
    store.abandon();
    disk.assertAllClosed();
    open();
  }

  /** The forest hangs together, and the account is the disk's. */
  void check() {
    ForestChecker.check(store);
    StoreStats stats = store.stats();
    assertThat(stats.liveBytes() + stats.deadBytes() + stats.framingBytes() + stats.reservedBytes())
        .isEqualTo(stats.allocatedBytes());
    assertThat(stats.reservedBytes()).isNotNegative();
    assertThat(stats.deadBytes()).isNotNegative();
    assertThat(Math.abs(stats.allocatedBytes() - disk.another().allocatedBytes()))
        .as("allocated by the account and on disk: %s", stats)
        .isLessThan(SLACK_BYTES);
    assertThat(stats.allocatedBytes()).isLessThanOrEqualTo(stats.quotaBytes());
  }

  /** What may not change where nothing happened. */
  Map<String, Object> state() {
    StoreStats s = store.stats();
    Map<String, Object> state = new HashMap<>();
    state.put("boundaries", s.boundaries());
    state.put("points", s.points());
    state.put("live", s.liveBytes());
    state.put("appended", s.appendedBytes());
    return state;
  }

  @Override
  public void close() {
    check();
    store.close();
    disk.assertAllClosed();
  }
}
