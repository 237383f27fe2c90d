package dev.waymark.faults;

import dev.waymark.Namespace;
import dev.waymark.SnapshotStore;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.RestorePolicy;
import java.util.ArrayList;
import java.util.List;

/** The prompts of one epoch: families that share a trunk, some small and some large. */
final class Samples {
  static final int BRANCHES = 4;
  private static final RestorePolicy[] POLICIES = {
    RestorePolicy.EVERY,
    RestorePolicy.DEFAULT,
    RestorePolicy.EVERY,
    RestorePolicy.LAST,
    RestorePolicy.stride(2)
  };
  private static final int SMALL_FAMILIES = 7;
  private static final int LARGE_FAMILIES = 2;
  private static final int SMALL_BLOCKS = 20;
  private static final int LARGE_BLOCKS = 9;

  private final List<Sample> all = new ArrayList<>();

  /** With another epoch every byte is another, so that what an old store left cannot pass. */
  Samples(long epoch) {
    for (int family = 0; family < SMALL_FAMILIES + LARGE_FAMILIES; family++) {
      boolean large = family >= SMALL_FAMILIES;
      for (int branch = 0; branch < BRANCHES; branch++) {
        int blocks = large ? LARGE_BLOCKS : SMALL_BLOCKS;
        all.add(new Sample(epoch, family, branch, large, blocks));
      }
    }
  }

  List<Sample> all() {
    return all;
  }

  Sample of(int family, int branch) {
    return all.get(family * BRANCHES + branch);
  }

  /** One for all prompts of a family, since completing one thins the trunk of all. */
  static RestorePolicy policy(Sample sample) {
    return POLICIES[sample.family() % POLICIES.length];
  }

  /** Whether the policy never thins a point. */
  static boolean keepsPoints(Sample sample) {
    return policy(sample) == RestorePolicy.EVERY;
  }

  static int families() {
    return SMALL_FAMILIES + LARGE_FAMILIES;
  }

  static Namespace namespace(SnapshotStore store, Sample sample) {
    ModelIdentity identity =
        ModelIdentity.builder().weights(sample.isLarge() ? "large" : "small").build();
    return store.namespace(identity, sample.isLarge() ? Sample.LARGE : Sample.SMALL);
  }
}
