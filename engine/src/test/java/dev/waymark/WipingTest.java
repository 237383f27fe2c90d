package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.retain.Victim;
import dev.waymark.internal.retain.Wipe;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How deleting many boundaries goes: in one look, and by another look at each when it goes. */
class WipingTest {
  private static final int BLOCK = SampleModel.BLOCK;

  private final SampleModel model = new SampleModel("small", 16, 0, 0);
  private final TestStore test = new TestStore(TestStore.options("256MiB").build());
  private final SnapshotStore store = test.store();
  private final Namespace ns = store.namespace(model.identity, model.layout);

  @AfterEach
  void close() {
    test.close();
  }

  private void store(int seed, int blocks) {
    int tokens = blocks * BLOCK + 1;
    model.store(ns, QuotaTest.prompt(seed, tokens), PrefillPlan.tokens(tokens));
  }

  @Test
  void howOftenABoundaryIsLookedAtDoesNotDependOnHowManyGo() {
    int boundaries = 6 * SpaceKeeper.STEP_BOUNDARIES;
    for (int i = 0; i < 12; i++) {
      store(i, boundaries / 12);
    }
    int[] looks = new int[1];
    Wiping wiping =
        new Wiping(
            store.engine(),
            node -> {
              looks[0]++;
              return true;
            },
            false,
            Victim.Reason.ASKED);

    assertThat(wiping.run(() -> {}).boundaries()).isEqualTo(boundaries);

    assertThat(looks[0]).isEqualTo(2 * boundaries);
    assertThat(store.stats().boundaries()).isZero();
  }

  @Test
  void whatIsHeldOrBuiltOnSinceItWasPlannedStays() {
    store(1, 3);
    int[] prompt = QuotaTest.prompt(1, 3 * BLOCK + 1);
    Wipe wipe = new Wipe(store.engine().forest, node -> true, false, Victim.Reason.ASKED);
    int[] plan = store.engine().publisher.read(wipe::plan);
    assertThat(plan).hasSize(3);
    assertThat(canGo(wipe, plan)).containsExactly(true, false, false);
    try (RestoredState reading = ns.match(prompt).restore()) {
      assertThat(canGo(wipe, plan)).containsOnly(false);
      assertThat(model.check(reading, prompt)).isEqualTo(3 * BLOCK);
    }
    assertThat(canGo(wipe, plan)).containsExactly(true, false, false);

    int[] longer = Arrays.copyOf(prompt, 4 * BLOCK + 1);
    model.store(ns, longer, PrefillPlan.tokens(longer.length));

    assertThat(canGo(wipe, plan)).containsOnly(false);
  }

  private List<Boolean> canGo(Wipe wipe, int[] plan) {
    return store.engine().publisher.read(() -> Arrays.stream(plan).mapToObj(wipe::canGo).toList());
  }

  @Test
  void theDryRunOfANamespaceCountsWhatIsKept() {
    store(1, 3);
    store(2, 3);
    ns.keep(ns.match(QuotaTest.prompt(1, 3 * BLOCK + 1)), "kept");

    EvictionReport would = store.maintenance().deleteNamespace(ns, true);

    assertThat(would.boundaries()).isEqualTo(6);
    assertThat(store.kept()).hasSize(1);
    assertThat(store.maintenance().deleteNamespace(ns, false)).isEqualTo(would);
    assertThat(store.kept()).isEmpty();
  }

  static List<Duration> noAges() {
    return List.of(
        Duration.ofMillis(-1),
        Duration.ofSeconds(Long.MAX_VALUE),
        Duration.ofSeconds(Long.MIN_VALUE),
        Duration.ofMillis(Long.MAX_VALUE));
  }

  @ParameterizedTest
  @MethodSource("noAges")
  void whatIsNoAgeIsRefused(Duration age) {
    store(1, 3);
    assertThatThrownBy(() -> Deletion.ofOlderThan(age))
        .isInstanceOf(InvalidArgumentException.class);
    for (boolean dryRun : new boolean[] {true, false}) {
      assertThatThrownBy(() -> store.maintenance().deleteOlderThan(age, dryRun))
          .isInstanceOf(InvalidArgumentException.class);
    }
    assertThat(store.maintenance().deleteOlderThan(Duration.ofDays(365_000), false).boundaries())
        .isZero();
    assertThat(store.stats().boundaries()).isEqualTo(3);
  }
}
