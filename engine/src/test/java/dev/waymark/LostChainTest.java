package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.StaleMatchException;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import dev.waymark.sim.SimulatedDirectory;
import java.util.AbstractList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The chain under a session is lost at any moment: a typed error, and nothing is left behind. */
class LostChainTest {
  private static final Layout LAYOUT =
      Layout.of(
          4,
          TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8),
          TensorSpec.window("w", DType.BF16, 6, 1, 2, -1, 8),
          TensorSpec.fixed("s", DType.F32, 2, 16));

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(41, 0, 1_000).toArray();
  private final List<BoundaryKey> keys =
      IntStream.range(1, 11).mapToObj(i -> new BoundaryKey(i, 7, 7, 7)).toList();

  /** Damage takes the first boundary, and with it all that stands on it. */
  private void lose(TestStore test, Namespace ns) {
    StoreEngine engine = test.store().engine();
    engine.publisher.write(
        () -> {
          int node = engine.forest.find(ns.state().id(), keys.get(0));
          if (node >= 0) {
            engine.dropDamaged(
                ns.state().id(),
                keys.get(0),
                RecordKind.APPEND,
                engine.forest.rowRecords(node).get(0),
                new CorruptionException(ErrorDetail.of("made up")));
          }
          return null;
        });
  }

  private PrefillSession start(Namespace ns, RestorePolicy policy) {
    PrefixMatch match = ns.match(Prompt.ofKeys(keys, 41), 40);
    return ns.prefill(match, PrefillPlan.tokens(41).policy(policy).onAbort(AbortMode.KEEP));
  }

  /** Keys that count each look at them. */
  private static List<BoundaryKey> watched(List<BoundaryKey> keys, Runnable look) {
    return new AbstractList<>() {
      @Override
      public BoundaryKey get(int index) {
        look.run();
        return keys.get(index);
      }

      @Override
      public int size() {
        look.run();
        return keys.size();
      }
    };
  }

  /** Runs a call during which the chain is lost at the n-th look at its keys, or write. */
  private boolean loseDuring(int moment, int before, Call call) {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession session = start(ns, RestorePolicy.EVERY);
      session.append(keys.subList(0, before), model.plainViews(prompt, 4 * before));
      int[] left = {moment};
      Runnable look =
          () -> {
            if (--left[0] == 0) {
              lose(test, ns);
            }
          };
      SimulatedDirectory directory = test.directory();
      directory.setYieldPoints(
          kind -> {
            if (kind.equals("PUT") && !Thread.holdsLock(test.store().engine().segments)) {
              look.run();
            }
          });
      try {
        call.run(session, look);
        assertThat(left[0]).as("not told of a loss at moment " + moment).isPositive();
      } catch (StaleMatchException e) {
        assertThat(e.detail().remedy()).contains("match again");
      }
      directory.setYieldPoints(kind -> {});
      session.abort();
      lose(test, ns);
      test.store().flush();
      Leaks.check(test);
      test.reopen();
      return left[0] <= 0;
    }
  }

  private interface Call {
    void run(PrefillSession session, Runnable look);
  }

  @Test
  void duringAnAppend() {
    int moment = 1;
    while (loseDuring(
        moment,
        1,
        (session, look) ->
            session.append(watched(keys.subList(1, 4), look), model.plainViews(prompt, 16)))) {
      moment++;
    }
    assertThat(moment).as("moments tried").isGreaterThan(10);
  }

  @Test
  void beforeAPointIsKeptWhereAnAbortGotTo() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession session = start(ns, RestorePolicy.LAST);
      session.append(keys.subList(0, 1), model.plainViews(prompt, 4));
      lose(test, ns);
      assertThatThrownBy(() -> session.abortKeeping(model.plainViews(prompt, 4)))
          .isInstanceOf(StaleMatchException.class);
      Leaks.check(test);
    }
  }

  @Test
  void whileAPointIsKeptWhereAnAbortGotTo() {
    for (int moment = 1; moment < 8; moment++) {
      try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
        Namespace ns = test.namespace(LAYOUT);
        PrefillSession session = start(ns, RestorePolicy.LAST);
        session.append(keys.subList(0, 2), model.plainViews(prompt, 8));
        int[] left = {moment};
        test.directory()
            .setYieldPoints(
                kind -> {
                  if (kind.equals("PUT")
                      && !Thread.holdsLock(test.store().engine().segments)
                      && --left[0] == 0) {
                    lose(test, ns);
                  }
                });
        try {
          session.abortKeeping(model.plainViews(prompt, 8));
          assertThat(left[0]).as("not told of a loss at moment " + moment).isPositive();
        } catch (StaleMatchException e) {
          assertThat(left[0]).isNotPositive();
        }
        test.directory().setYieldPoints(kind -> {});
        lose(test, ns);
        test.store().flush();
        Leaks.check(test);
      }
    }
  }

  @Test
  void beforeWhatWasGeneratedIsWritten() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      PrefillSession session =
          ns.prefill(ns.match(new int[0]), PrefillPlan.tokens(9).policy(RestorePolicy.LAST));
      session.append(keys.subList(0, 2), model.plainViews(prompt, 8));
      session.promptComplete();
      session.append(keys.subList(2, 3), model.plainViews(prompt, 12));
      lose(test, ns);
      session.close();
      Leaks.check(test);
    }
  }

  @Test
  void aNamespaceThatIsDeletedWhileAPrefillInItStarts() {
    SimulatedDirectory disk = new SimulatedDirectory();
    Runnable[] atTheClock = {() -> {}};
    StoreOptions options = TestStore.options("64MiB").writeBudget(1L << 40).build();
    try (SnapshotStore store =
        SnapshotStore.open(
            disk,
            options,
            () -> {
              Runnable now = atTheClock[0];
              atTheClock[0] = () -> {};
              now.run();
              return 1_700_000_000_000L;
            },
            label -> {})) {
      Namespace ns = store.namespace(TestStore.identity("w"), LAYOUT);
      PrefixMatch match = ns.match(Prompt.ofKeys(keys, 41), 40);
      // The chain is held by then, and the write budget looks at the clock.
      atTheClock[0] = () -> store.maintenance().deleteNamespace(ns, false);
      try (PrefillSession session = ns.prefill(match, PrefillPlan.tokens(41))) {
        session.append(keys.subList(0, 10), model.plainViews(prompt, 40));
        session.promptComplete();
      } catch (StaleMatchException e) {
        assertThat(store.engine().forest.heldNodes()).isEmpty();
      }
      ForestChecker.check(store);
      assertThat(store.engine().space.gate().reservedBytes()).isZero();
    }
    try (SnapshotStore store =
        SnapshotStore.open(disk.another(), options, () -> 1_700_000_000_000L, label -> {})) {
      ForestChecker.check(store);
    }
  }
}
