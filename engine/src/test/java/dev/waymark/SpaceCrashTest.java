package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.io.YieldPoints;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.sim.SimulatedDirectory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The process dies at each call in turn that changes something, while space is given back: deletes,
 * evictions, copies and aborts. The disk is forked before the call, and looked at there and then.
 */
class SpaceCrashTest {
  private static final long MIB = 1L << 20;
  private static final long SLACK_BYTES = 32 << 10;

  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);
  private final SampleModel other = new SampleModel("two", 992, 96, 8_064);
  private final SimulatedDirectory disk = new SimulatedDirectory();
  private long nowMillis = 1_700_000_000_000L;

  private SnapshotStore open(SimulatedDirectory directory, boolean punching) {
    StoreOptions options =
        StoreOptions.builder()
            .quota(64 * MIB)
            .backgroundThread(false)
            .restoreThreads(1)
            .punchHoles(punching)
            .build();
    return SnapshotStore.open(directory, options, () -> nowMillis++, YieldPoints.NONE);
  }

  private Namespace namespace(SnapshotStore store, SampleModel of) {
    return store.namespace(of.identity, of.layout);
  }

  /** Forks the disk before each call of an action, by a kill and by a power loss. */
  private void atEachCall(int oneIn, Runnable action, BiConsumer<SimulatedDirectory, String> look) {
    int[] calls = {0};
    List<Throwable> wrong = new ArrayList<>();
    disk.setYieldPoints(
        call -> {
          if (!wrong.isEmpty() || List.of("OPEN", "READ", "MAP", "GET", "LOCK").contains(call)) {
            return;
          }
          int number = calls[0]++;
          if (number % oneIn == 0) {
            try {
              look.accept(disk.killState(), "killed before call " + number + ", " + call);
              look.accept(
                  disk.crashState(number), "power lost before call " + number + ", " + call);
            } catch (RuntimeException | AssertionError e) {
              wrong.add(new AssertionError("before call " + number + ", " + call, e));
            }
          }
        });
    action.run();
    disk.setYieldPoints(YieldPoints.NONE);
    wrong.forEach(
        e -> {
          throw new AssertionError(e);
        });
    assertThat(calls[0]).isGreaterThanOrEqualTo(oneIn * 3);
  }

  /** What is there is whole, nothing is unaccounted for, and nothing dead is left. */
  private static void checkAccount(SnapshotStore store, SimulatedDirectory directory) {
    ForestChecker.check(store);
    store.flush();
    store.runOnce();
    StoreStats stats = store.stats();
    assertThat(stats.allocatedBytes())
        .isEqualTo(
            stats.liveBytes() + stats.deadBytes() + stats.framingBytes() + stats.reservedBytes());
    assertThat(stats.deadBytes()).isZero();
    assertThat(Math.abs(stats.allocatedBytes() - directory.allocatedBytes()))
        .isLessThan(SLACK_BYTES);
    assertThat(directory.allocatedBytes()).isLessThanOrEqualTo(stats.quotaBytes());
  }

  private static int[] prompt(int seed) {
    return QuotaTest.prompt(seed, 161);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aNamespaceKilledWhileItIsDeletedIsGoneAfterTheNextCall(boolean punching) {
    try (SnapshotStore store = open(disk, punching)) {
      for (int i = 0; i < 12; i++) {
        model.store(namespace(store, model), prompt(i), PrefillPlan.tokens(161));
        other.store(namespace(store, other), prompt(i), PrefillPlan.tokens(161));
      }
      store.flush();
      EvictionReport planned = store.maintenance().deleteNamespace(namespace(store, model), true);
      assertThat(planned.boundaries()).isEqualTo(120);
      atEachCall(
          1,
          () -> store.maintenance().deleteNamespace(namespace(store, model), false),
          (directory, how) -> {
            try (SnapshotStore after = open(directory, true)) {
              assertThat(after.stats().boundaries())
                  .as("all of it or nothing, " + how)
                  .isIn(120L, 240L);
              Namespace there = namespace(after, other);
              assertThat(other.restoreAndCheck(there.match(prompt(3)), prompt(3))).isEqualTo(160);
              after.maintenance().deleteNamespace(namespace(after, model), false);
              assertThat(after.stats().boundaries()).isEqualTo(120);
              after.maintenance().deleteNamespace(there, false);
              checkAccount(after, directory);
              assertThat(after.stats().liveBytes()).isZero();
              assertThat(after.stats().segments()).isLessThanOrEqualTo(2);
            }
            assertThat(directory.another().allocatedBytes()).isLessThan(300 << 10);
          });
      store.maintenance().deleteNamespace(namespace(store, other), false);
    }
    assertThat(disk.another().allocatedBytes()).isLessThan(300 << 10);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void nothingIsLostOrLeftOverWhileSegmentsAreEmptiedAndPrefillsAborted(boolean punching) {
    try (SnapshotStore store = open(disk, punching)) {
      Namespace ns = namespace(store, model);
      for (int i = 0; i < 48; i++) {
        model.store(ns, prompt(i), PrefillPlan.tokens(161));
      }
      for (int i = 0; i < 48; i++) {
        if (i % 4 != 0) {
          store.maintenance().deleteChain(ns.match(prompt(i)), false);
        }
      }
      store.flush();
      int[] discarded = prompt(-1);
      int[] kept = prompt(-2);
      long copiedBefore = store.stats().copiedBytes();
      atEachCall(
          3,
          () -> {
            PrefillSession keeps = prefill(ns, kept, AbortMode.KEEP);
            PrefillSession discards = prefill(ns, discarded, AbortMode.DISCARD);
            model.appendRest(discards, discarded, 48);
            model.appendRest(keeps, kept, 32);
            store.maintenance().compact(0.7, 64 * MIB, false, (done, of, bytes) -> done < 2);
            model.appendRest(discards, discarded, 96);
            discards.close();
            model.appendRest(keeps, kept, 80);
            store.maintenance().compact(0.7, 64 * MIB, false, (done, of, bytes) -> done < 2);
            keeps.close();
          },
          (directory, how) -> {
            try (SnapshotStore after = open(directory, true)) {
              Namespace there = namespace(after, model);
              for (int i = 0; i < 48; i += 4) {
                assertThat(model.restoreAndCheck(there.match(prompt(i)), prompt(i)))
                    .as(how)
                    .isEqualTo(160);
              }
              assertThat(there.match(discarded).storedTokens()).as(how).isZero();
              PrefixMatch match = there.match(kept);
              if (match.restorableTokens() > 0) {
                model.restoreAndCheck(match, kept);
              }
              assertThat(match.storedTokens()).as(how).isEqualTo(match.restorableTokens());
              checkAccount(after, directory);
            }
          });
      assertThat(store.stats().copiedBytes()).isGreaterThan(copiedBefore);
    }
  }

  private static PrefillSession prefill(Namespace ns, int[] tokens, AbortMode mode) {
    return ns.prefill(
        ns.match(tokens),
        PrefillPlan.tokens(tokens.length).policy(RestorePolicy.EVERY).onAbort(mode));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void evictionThatIsCutShortLeavesWholeChains(boolean punching) {
    try (SnapshotStore store = open(disk, punching)) {
      Namespace ns = namespace(store, model);
      for (int i = 0; i < 190; i++) {
        model.store(ns, prompt(i), PrefillPlan.tokens(161));
      }
      store.flush();
      atEachCall(
          punching ? 4 : 2,
          () -> store.setQuota(16 * MIB + (16 * MIB >> 1)),
          (directory, how) -> {
            try (SnapshotStore after = open(directory, true)) {
              Namespace there = namespace(after, model);
              for (int i = 0; i < 190; i += 7) {
                PrefixMatch match = there.match(prompt(i));
                assertThat(match.storedTokens()).as(how).isEqualTo(match.restorableTokens());
              }
              assertThat(model.restoreAndCheck(there.match(prompt(189)), prompt(189)))
                  .as(how)
                  .isEqualTo(160);
              checkAccount(after, directory);
            }
          });
    }
  }

  /** 79 blocks of a hybrid of recurrent layers, its state made small; it dies in the 80th. */
  @ParameterizedTest
  @CsvSource({"DISCARD,GROUP", "DISCARD,COMMIT", "KEEP,GROUP", "KEEP,COMMIT"})
  void aLongPrefillKilledWithAWriteUnderWay(AbortMode mode, Durability durability) {
    Layout layout = FieldLayouts.tinyHybrid(2_048);
    int[] tokens = QuotaTest.prompt(1, 203_000);
    List<CompletableFuture<Void>> durable = new ArrayList<>();
    try (SnapshotStore store = open(disk, true)) {
      Namespace ns = store.namespace(TestStore.identity("w"), layout);
      PrefillPlan plan =
          PrefillPlan.tokens(tokens.length)
              .policy(RestorePolicy.EVERY)
              .durability(durability)
              .onAbort(mode);
      PrefillSession session = ns.prefill(ns.match(tokens), plan);
      for (int to = 2_048; to <= 161_792; to += 2_048) {
        durable.add(append(session, layout, tokens, to));
        if (durability == Durability.GROUP && to == 81_920) {
          store.flush();
        }
      }
      int acknowledged = (int) durable.stream().filter(CompletableFuture::isDone).count();
      assertThat(acknowledged).isEqualTo(durability == Durability.COMMIT ? 79 : 40);
      // The 80th is written, and its edit is not: until the manifest takes it, it is not there.
      int most = durability == Durability.COMMIT ? 79 : 80;
      atEachCall(
          1,
          () -> append(session, layout, tokens, 163_840),
          (directory, how) -> {
            boolean written = how.endsWith(" WRITE") || how.endsWith(" FORCE");
            for (int opened = 0; opened < 2; opened++) {
              SimulatedDirectory seen = opened == 0 ? directory : directory.another();
              try (SnapshotStore after = open(seen, true)) {
                PrefixMatch match = after.namespace(TestStore.identity("w"), layout).match(tokens);
                int blocks = match.points().length;
                assertThat(match.storedTokens()).as(how).isEqualTo(blocks * 2_048);
                if (mode == AbortMode.DISCARD) {
                  assertThat(after.stats().boundaries()).as(how).isZero();
                  assertThat(after.stats().liveBytes()).as(how).isZero();
                } else {
                  assertThat(blocks).as(how).isBetween(acknowledged, written ? 80 : most);
                }
                checkAccount(after, seen);
              }
            }
          });
    }
  }

  private static CompletableFuture<Void> append(
      PrefillSession session, Layout layout, int[] tokens, int to) {
    int[] block = Arrays.copyOfRange(tokens, to - 2_048, to);
    return session.append(block, FieldLayouts.zeros(layout, to - 2_048, to)).durable();
  }
}
