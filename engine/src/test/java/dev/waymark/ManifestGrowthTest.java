package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.RestorePolicy;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * A call that drops very much commits it in steps, each a small part of the growth that is set
 * apart for the manifest before the quota counts it.
 */
class ManifestGrowthTest {
  private static final int CHAINS = 1_200;
  private static final int TOKENS = 161;

  private final SampleModel model = new SampleModel("one", 16, 0, 0);

  /** Returns the most bytes that the manifest ever grew by at once. */
  private long mostAtOnce(Consumer<SnapshotStore> call) {
    long[] most = new long[1];
    try (TestStore test = new TestStore(TestStore.options("256MiB").build())) {
      SnapshotStore store = test.store();
      Namespace ns = store.namespace(model.identity, model.layout);
      PrefillPlan plan = PrefillPlan.tokens(TOKENS).policy(RestorePolicy.EVERY);
      for (int i = 0; i < CHAINS; i++) {
        model.store(ns, QuotaTest.prompt(i, TOKENS), plan.durability(Durability.NONE));
      }
      store.flush();
      long[] last = {store.engine().publisher.manifestLengthBytes()};
      test.directory()
          .setYieldPoints(
              kind -> {
                long length = store.engine().publisher.manifestLengthBytes();
                most[0] = Math.max(most[0], length - last[0]);
                last[0] = length;
              });
      call.accept(store);
      assertThat(store.stats().boundaries()).isLessThan(CHAINS * 10);
    }
    return most[0];
  }

  @Test
  void deletingWhatIsOld() {
    assertThat(mostAtOnce(s -> s.maintenance().deleteUsedBefore(Long.MAX_VALUE, false)))
        .isPositive()
        .isLessThanOrEqualTo(QuotaGate.GROWTH_BYTES / 4);
  }

  @Test
  void loweringANamespacesQuota() {
    assertThat(mostAtOnce(s -> s.namespace(model.identity, model.layout).setQuota(8L << 20)))
        .isPositive()
        .isLessThanOrEqualTo(QuotaGate.GROWTH_BYTES / 4);
  }

  @Test
  void loweringTheQuota() {
    assertThat(mostAtOnce(s -> s.setQuota(32L << 20)))
        .isPositive()
        .isLessThanOrEqualTo(QuotaGate.GROWTH_BYTES / 4);
  }
}
