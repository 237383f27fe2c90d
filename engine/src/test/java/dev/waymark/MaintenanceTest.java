package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.WriteBudgetExhaustedException;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.sim.SimulatedDirectory;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MaintenanceTest {
  private static final long MIB = 1L << 20;

  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);
  private final SampleModel other = new SampleModel("two", 992, 96, 8_064);
  private SimulatedDirectory disk = new SimulatedDirectory();
  private long nowMillis = 1_700_000_000_000L;

  private SnapshotStore open(StoreOptions.Builder options) {
    return SnapshotStore.open(
        disk, options.backgroundThread(false).build(), () -> nowMillis, YieldPoints.NONE);
  }

  private SnapshotStore open() {
    return open(StoreOptions.builder().quota(64 * MIB));
  }

  private static int[] prompt(int seed) {
    return QuotaTest.prompt(seed, 321);
  }

  private void store(Namespace ns, SampleModel of, int seed) {
    of.store(ns, prompt(seed), PrefillPlan.tokens(321));
  }

  @Test
  void aDryRunSaysWhatGoesAndLeavesIt() {
    try (SnapshotStore store = open()) {
      Namespace ns = store.namespace(model.identity, model.layout);
      for (int i = 0; i < 10; i++) {
        store(ns, model, i);
      }
      Maintenance maintenance = store.maintenance();
      EvictionReport would = maintenance.evictionFor(MIB);
      assertThat(would.freedBytes()).isGreaterThanOrEqualTo(MIB);
      assertThat(would.chains().get(0).reason()).isEqualTo("score");
      EvictionReport planned = maintenance.deleteNamespace(ns, true);
      assertThat(planned.boundaries()).isEqualTo(200);
      assertThat(store.stats().boundaries()).isEqualTo(200);
      EvictionReport went = maintenance.deleteNamespace(ns, false);
      assertThat(went).isEqualTo(planned);
      assertThat(store.stats().boundaries()).isZero();
    }
  }

  @Test
  void aDeletionTakesOneTenantAndLeavesTheOthers() {
    try (SnapshotStore store = open()) {
      Namespace ns = store.namespace(model.identity, model.layout);
      byte[] salt = new byte[16];
      Namespace tenant = ns.tenant(salt);
      store(ns, model, 1);
      store(tenant, model, 1);
      store(tenant, model, 2);
      tenant.keep(tenant.match(prompt(2)), "kept");
      store.flush();
      String root = tenant.rootKey().abbreviated();
      Deletion deletion = Deletion.ofTenant(root);

      EvictionReport went = store.maintenance().delete(deletion, false);

      assertThat(went.boundaries()).isEqualTo(40);
      assertThat(store.stats().boundaries()).isEqualTo(20);
      assertThat(store.kept()).isEmpty();
      assertThat(ns.match(prompt(1)).storedTokens()).isEqualTo(320);
      assertThat(tenant.match(prompt(1)).why()).isEqualTo(MissReason.REMOVED);
      assertThatThrownBy(() -> store.maintenance().delete(deletion, false))
          .isInstanceOf(InvalidArgumentException.class)
          .hasMessageContaining("tenant");
      store.maintenance().delete(Deletion.ofNamespace(ns.abbreviatedFingerprint()), false);
      assertThat(store.stats().boundaries()).isZero();
    }
  }

  @Test
  void aDeletionOfNothingInParticularIsRefused() {
    assertThatThrownBy(() -> new Deletion(null, null, null))
        .isInstanceOf(InvalidArgumentException.class);
  }

  @Test
  void whatAnEvictionPreviewNamesIsWhatGoes() {
    try (SnapshotStore store = open()) {
      Namespace ns = store.namespace(model.identity, model.layout);
      for (int i = 0; i < 60; i++) {
        store(ns, model, i);
      }
      EvictionReport would = store.maintenance().evictionFor(8 * MIB);
      EvictionReport went = store.setQuota(20 * MIB);
      int common = Math.min(would.chains().size(), went.chains().size());
      assertThat(common).isPositive();
      assertThat(went.chains().subList(0, common)).isEqualTo(would.chains().subList(0, common));
    }
  }

  @Test
  void aDeletedNamespaceIsGoneAlsoWhenKilledBeforeItsFilesWent() {
    SnapshotStore store = open();
    Namespace ns = store.namespace(model.identity, model.layout);
    Namespace stays = store.namespace(other.identity, other.layout);
    for (int i = 0; i < 20; i++) {
      store(ns, model, i);
    }
    store(stays, other, 1);
    store.flush();
    ns.keep(ns.match(prompt(3)), "kept");
    long before = disk.allocatedBytes();
    store.maintenance().deleteNamespace(ns, false);
    SimulatedDirectory killed = disk.killState();
    store.abandon();
    disk = killed;
    try (SnapshotStore again = open()) {
      assertThat(again.stats().boundaries()).isEqualTo(20);
      assertThat(again.kept()).isEmpty();
      assertThat(disk.allocatedBytes()).isLessThan(before / 5);
      Namespace there = again.namespace(other.identity, other.layout);
      assertThat(other.restoreAndCheck(there.match(prompt(1)), prompt(1))).isEqualTo(320);
      Namespace anew = again.namespace(model.identity, model.layout);
      assertThat(anew.match(prompt(3)).storedTokens()).isZero();
      store(anew, model, 3);
      assertThat(model.restoreAndCheck(anew.match(prompt(3)), prompt(3))).isEqualTo(320);
    }
  }

  @Test
  void ageAndSequenceSayWhatIsOld() {
    try (SnapshotStore store = open()) {
      Namespace ns = store.namespace(model.identity, model.layout);
      store(ns, model, 1);
      nowMillis += Duration.ofHours(2).toMillis();
      store(ns, model, 2);
      Maintenance maintenance = store.maintenance();
      assertThat(maintenance.deleteOlderThan(Duration.ofHours(1), false).boundaries())
          .isEqualTo(20);
      assertThat(ns.match(prompt(2)).restorableTokens()).isEqualTo(320);
      long sequence = maintenance.sequence();
      store(ns, model, 3);
      assertThat(maintenance.deleteUsedBefore(sequence, false).boundaries()).isEqualTo(20);
      assertThat(ns.match(prompt(3)).restorableTokens()).isEqualTo(320);
      assertThat(maintenance.deleteChain(ns.match(prompt(3)), false).boundaries()).isEqualTo(20);
      assertThatThrownBy(() -> maintenance.deleteChain(ns.match(prompt(3)), false))
          .isInstanceOf(InvalidArgumentException.class);
    }
  }

  @Test
  void whatIsKeptOutlivesEvictionAndAReopen() {
    SnapshotStore store = open(StoreOptions.builder().quota(16 * MIB));
    Namespace ns = store.namespace(model.identity, model.layout);
    store(ns, model, 0);
    ns.keep(ns.match(prompt(0)), "system prompt");
    store.close();
    disk = disk.another();
    try (SnapshotStore again = open(StoreOptions.builder().quota(16 * MIB))) {
      assertThat(again.kept()).hasSize(1);
      assertThat(again.kept().get(0).tokens()).isEqualTo(320);
      assertThat(again.stats().keptBytes()).isEqualTo(again.kept().get(0).bytes());
      Namespace there = again.namespace(model.identity, model.layout);
      for (int i = 1; i < 100; i++) {
        store(there, model, i);
      }
      assertThat(model.restoreAndCheck(there.match(prompt(0)), prompt(0))).isEqualTo(320);
      there.release("system prompt");
      for (int i = 100; i < 200; i++) {
        store(there, model, i);
      }
      assertThat(there.match(prompt(0)).restorableTokens()).isZero();
    }
  }

  @Test
  void compactionLosesNothing() {
    try (SnapshotStore store = open(StoreOptions.builder().quota(64 * MIB).punchHoles(false))) {
      Namespace ns = store.namespace(model.identity, model.layout);
      for (int i = 0; i < 60; i++) {
        store(ns, model, i);
      }
      for (int i = 0; i < 60; i++) {
        if (i % 4 != 0) {
          store.maintenance().deleteChain(ns.match(prompt(i)), false);
        }
      }
      long before = disk.allocatedBytes();
      CompactionReport would = store.maintenance().compact(0.6, 64 * MIB, true, (a, b, c) -> true);
      assertThat(would.candidates()).isNotEmpty();
      CompactionReport done = store.maintenance().compact(0.6, 64 * MIB, false, (a, b, c) -> true);
      assertThat(done.emptiedSegments()).isPositive();
      assertThat(disk.allocatedBytes()).isLessThan(before * 6 / 10);
      for (int i = 0; i < 60; i += 4) {
        assertThat(model.restoreAndCheck(ns.match(prompt(i)), prompt(i))).isEqualTo(320);
      }
      assertThat(store.stats().copiedBytes()).isEqualTo(done.copiedBytes());
    }
  }

  @Test
  void theWriteBudgetWidensThenRefusesAndOutlivesARestart() {
    StoreOptions.Builder options = StoreOptions.builder().quota(64 * MIB).writeBudget(4 * MIB);
    SnapshotStore store = open(options);
    Namespace ns = store.namespace(model.identity, model.layout);
    int stored = 0;
    try {
      for (; stored < 100; stored++) {
        store(ns, model, stored);
      }
    } catch (WriteBudgetExhaustedException e) {
      assertThat(stored).isBetween(5, 15);
    }
    assertThat(store.stats().writtenBytes()).isLessThanOrEqualTo(4 * MIB + (256 << 10));
    assertThat(ns.match(prompt(stored - 1)).points().length)
        .isLessThan(ns.match(prompt(0)).points().length);
    store.close();
    disk = disk.another();
    try (SnapshotStore again = open(options)) {
      Namespace there = again.namespace(model.identity, model.layout);
      assertThatThrownBy(() -> store(there, model, 200))
          .isInstanceOf(WriteBudgetExhaustedException.class);
      nowMillis += Duration.ofDays(1).toMillis();
      store(there, model, 200);
    }
  }
}
