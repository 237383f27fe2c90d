package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.RestorePolicy;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * A call that drops very much does not write more into the manifest than is set apart for it before
 * the quota counts it.
 */
class ManifestGrowthTest {
  private static final int CHAINS = 1_200;
  private static final int TOKENS = 161;

  private final SampleModel model = new SampleModel("one", 16, 0, 0);

  /** Returns the most that the manifest ever grew by uncounted. */
  private long mostUncounted(Consumer<SnapshotStore> call) {
    long[] most = new long[1];
    try (TestStore test = new TestStore(TestStore.options("256MiB").build())) {
      SnapshotStore store = test.store();
      Namespace ns = store.namespace(model.identity, model.layout);
      PrefillPlan plan = PrefillPlan.tokens(TOKENS).policy(RestorePolicy.EVERY);
      for (int i = 0; i < CHAINS; i++) {
        model.store(ns, QuotaTest.prompt(i, TOKENS), plan.durability(Durability.NONE));
      }
      store.flush();
      QuotaGate gate = store.engine().space.gate();
      long apartBesides = gate.apartBytes() - 2 * store.engine().publisher.manifestAllocatedBytes();
      test.directory()
          .setYieldPoints(
              kind -> {
                long counted = (gate.apartBytes() - apartBesides) / 2;
                long there = store.engine().publisher.manifestAllocatedBytes();
                most[0] = Math.max(most[0], there - counted);
              });
      call.accept(store);
      assertThat(store.stats().boundaries()).isLessThan(CHAINS * 10);
    }
    return most[0];
  }

  @Test
  void deletingWhatIsOld() {
    assertThat(mostUncounted(s -> s.maintenance().deleteOlderThan(Duration.ofMillis(-1), false)))
        .isPositive()
        .isLessThanOrEqualTo(QuotaGate.GROWTH_BYTES);
  }

  @Test
  void loweringANamespacesQuota() {
    assertThat(mostUncounted(s -> s.namespace(model.identity, model.layout).setQuota(8L << 20)))
        .isPositive()
        .isLessThanOrEqualTo(QuotaGate.GROWTH_BYTES);
  }

  @Test
  void loweringTheQuota() {
    assertThat(mostUncounted(s -> s.setQuota(32L << 20)))
        .isPositive()
        .isLessThanOrEqualTo(QuotaGate.GROWTH_BYTES);
  }
}
