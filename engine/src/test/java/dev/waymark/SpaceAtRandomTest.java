package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.QuotaException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.EvictionPolicy;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.sim.SimulatedDirectory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * An hour of a busy store at its quota, by an injected clock: after every call the quota holds, the
 * account adds up and agrees with the file system, and every restore is right. Run one seed again
 * with {@code -Dwaymark.seed=N}, with more calls in the hour by {@code -Dwaymark.space.steps=N},
 * and in a directory of the operating system by {@code -Dwaymark.space.directory=DIR}.
 */
class SpaceAtRandomTest {
  private static final long MIB = 1L << 20;
  private static final long HOUR_MILLIS = 3_600_000;
  private static final int STEPS = Integer.getInteger("waymark.space.steps", 500);

  private final SampleModel model = new SampleModel("one", 992, 96, 8_064);
  private final SampleModel other = new SampleModel("two", 1_984, 0, 0);
  private Disk disk = Disk.make();
  private long nowMillis = 1_700_000_000_000L;
  private SnapshotStore store;
  private Random random;
  private boolean punching;
  private EvictionPolicy eviction;
  private long quota = 24 * MIB;
  private final List<PrefillSession> sessions = new ArrayList<>();
  private final List<int[]> sessionPrompts = new ArrayList<>();
  private final List<SampleModel> sessionModels = new ArrayList<>();
  private final List<RestoredState> restores = new ArrayList<>();
  private final List<int[]> restorePrompts = new ArrayList<>();
  private final List<SampleModel> restoreModels = new ArrayList<>();
  private int refused;
  private int reopened;
  private long evicted;
  private long recordBytes;
  private long copiedBytes;

  /** Where the store is: simulated, or not. */
  private interface Disk {
    static Disk make() {
      String directory = System.getProperty("waymark.space.directory", "");
      return directory.isEmpty()
          ? new Simulated(new SimulatedDirectory())
          : new Real(Path.of(directory).resolve("store-" + System.nanoTime()));
    }

    StoreDirectory open();

    long allocatedBytes();

    /** What the next process finds after this one was killed; before it is abandoned. */
    Disk killed();

    /** What the next process finds after this one closed. */
    Disk closed();
  }

  private record Simulated(SimulatedDirectory directory) implements Disk {
    @Override
    public StoreDirectory open() {
      return directory;
    }

    @Override
    public long allocatedBytes() {
      return directory.allocatedBytes();
    }

    @Override
    public Disk killed() {
      return new Simulated(directory.killState());
    }

    @Override
    public Disk closed() {
      return new Simulated(directory.another());
    }
  }

  /** By the file system's own count. */
  private record Real(Path path) implements Disk {
    @Override
    public StoreDirectory open() {
      return RealDirectory.openForWriting(path, true);
    }

    @Override
    public long allocatedBytes() {
      try (RealDirectory looked = RealDirectory.openReadOnly(path)) {
        return looked.allocatedBytes();
      }
    }

    @Override
    public Disk killed() {
      return this;
    }

    @Override
    public Disk closed() {
      return this;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1,true,LRU",
    "2,false,LRU",
    "3,true,RECOMPUTE_PER_BYTE",
    "4,false,RECOMPUTE_PER_BYTE"
  })
  void anHourAtTheQuota(long seed, boolean punches, EvictionPolicy policy) {
    String asked = System.getProperty("waymark.seed", "");
    long used = asked.isEmpty() ? seed : Long.parseLong(asked);
    random = new Random(used);
    punching = punches;
    eviction = policy;
    open();
    try {
      for (int step = 0; step < STEPS; step++) {
        nowMillis += HOUR_MILLIS / STEPS;
        step();
        within();
      }
      endAll();
      within();
      StoreStats stats = store.stats();
      System.out.println("seed " + used + ": refused " + refused + ", " + stats);
      count();
      assertThat(evicted).isPositive();
      // Each time that it is opened, a segment's worth may be copied before anything is written.
      long allowance = (reopened + 1) * (512 << 10);
      assertThat((double) copiedBytes)
          .isLessThanOrEqualTo(allowance + (punching ? 0.1 : 0.5) * recordBytes);
      store.close();
    } catch (Throwable e) {
      throw new AssertionError("seed " + used + ", punching " + punches + ", " + policy, e);
    }
  }

  private void open() {
    StoreOptions options =
        StoreOptions.builder()
            .quota(quota)
            .backgroundThread(false)
            .punchHoles(punching)
            .eviction(eviction)
            .group(1 << 20, 200)
            .build();
    store = SnapshotStore.open(disk.open(), options, () -> nowMillis, YieldPoints.NONE);
  }

  private void within() {
    StoreStats stats = store.stats();
    assertThat(disk.allocatedBytes()).isLessThanOrEqualTo(stats.quotaBytes());
    assertThat(stats.allocatedBytes()).isLessThanOrEqualTo(stats.quotaBytes());
    assertThat(stats.allocatedBytes())
        .isEqualTo(
            stats.liveBytes() + stats.deadBytes() + stats.framingBytes() + stats.reservedBytes());
    assertThat((double) Math.abs(stats.allocatedBytes() - disk.allocatedBytes()))
        .isLessThanOrEqualTo(disk.allocatedBytes() * 0.01 + MIB);
    assertThat(stats.reservedBytes()).isGreaterThanOrEqualTo(0);
  }

  private void step() {
    try {
      int what = random.nextInt(100);
      if (what < 35) {
        begin();
      } else if (what < 60) {
        advance();
      } else if (what < 70) {
        finish();
      } else if (what < 80) {
        read();
      } else if (what < 85) {
        endRestore();
      } else if (what < 92) {
        store.runOnce();
      } else if (what < 94) {
        keepOrRelease();
      } else if (what < 96) {
        delete();
      } else if (what < 98) {
        store
            .maintenance()
            .compact(0.5, 256 << 10, random.nextBoolean(), (done, of, bytes) -> true);
      } else if (what < 99) {
        changeQuota();
      } else {
        reopen();
      }
    } catch (QuotaException e) {
      refused++;
    } catch (StaleMatchException e) {
      // A prompt whose chain went between two calls: the caller matches again.
      refused++;
    }
  }

  private int[] prompt() {
    int tree = random.nextInt(30);
    int branch = random.nextInt(4);
    int[] tokens = QuotaTest.prompt(tree, 16 * (10 + random.nextInt(30)) + 1);
    int from = Math.min(tokens.length, 16 * (3 + branch * 3));
    int[] other = QuotaTest.prompt(1_000 + tree * 4 + branch, tokens.length);
    System.arraycopy(other, from, tokens, from, tokens.length - from);
    return tokens;
  }

  private Namespace namespace(SampleModel of) {
    return store.namespace(of.identity, of.layout);
  }

  private void begin() {
    if (sessions.size() > 4) {
      finish();
      return;
    }
    SampleModel of = random.nextInt(3) == 0 ? other : model;
    int[] tokens = prompt();
    RestorePolicy[] policies = {
      RestorePolicy.DEFAULT, RestorePolicy.EVERY, RestorePolicy.LAST, RestorePolicy.stride(3)
    };
    PrefixMatch match = namespace(of).match(tokens);
    PrefillPlan plan =
        PrefillPlan.tokens(tokens.length)
            .policy(policies[random.nextInt(4)])
            .onAbort(random.nextBoolean() ? AbortMode.KEEP : AbortMode.DISCARD);
    sessions.add(namespace(of).prefill(match, plan));
    sessionPrompts.add(tokens);
    sessionModels.add(of);
  }

  private void advance() {
    if (sessions.isEmpty()) {
      return;
    }
    int i = random.nextInt(sessions.size());
    PrefillSession session = sessions.get(i);
    int[] tokens = sessionPrompts.get(i);
    int to = Math.min(tokens.length, session.tokens() + 16 * (1 + random.nextInt(10)));
    sessionModels.get(i).appendRest(session, tokens, to);
  }

  private void finish() {
    if (sessions.isEmpty()) {
      return;
    }
    int i = random.nextInt(sessions.size());
    PrefillSession session = sessions.remove(i);
    int[] tokens = sessionPrompts.remove(i);
    SampleModel of = sessionModels.remove(i);
    try {
      if (random.nextInt(4) > 0) {
        of.appendRest(session, tokens, tokens.length);
        session.promptComplete();
        PrefixMatch match = namespace(of).match(tokens);
        assertThat(match.restorableTokens()).isEqualTo((tokens.length - 1) / 16 * 16);
      }
    } finally {
      session.close();
    }
  }

  private void read() {
    SampleModel of = random.nextInt(3) == 0 ? other : model;
    int[] tokens = prompt();
    PrefixMatch match = namespace(of).match(tokens);
    if (match.restorableTokens() == 0) {
      return;
    }
    int[] points = match.points();
    RestoredState state = match.restore(points[random.nextInt(points.length)]);
    if (restores.size() < 2 && random.nextBoolean()) {
      restores.add(state);
      restorePrompts.add(tokens);
      restoreModels.add(of);
      return;
    }
    try (state) {
      of.check(state, tokens);
    }
  }

  private void endRestore() {
    if (!restores.isEmpty()) {
      try (RestoredState state = restores.remove(0)) {
        restoreModels.remove(0).check(state, restorePrompts.remove(0));
      }
    }
  }

  private void keepOrRelease() {
    String name = "chain " + random.nextInt(3);
    int[] tokens = prompt();
    PrefixMatch match = namespace(model).match(tokens);
    if (match.restorableTokens() > 0 && random.nextBoolean()) {
      namespace(model).keep(match, name);
    } else {
      namespace(model).release(name);
    }
  }

  private void delete() {
    boolean dry = random.nextBoolean();
    switch (random.nextInt(3)) {
      case 0 -> store.maintenance().deleteOlderThan(Duration.ofMinutes(20), dry);
      case 1 -> store.maintenance().deleteUsedBefore(store.maintenance().sequence() - 800, dry);
      default -> {
        PrefixMatch match = namespace(other).match(prompt());
        if (match.storedTokens() > 0) {
          store.maintenance().deleteChain(match, dry);
        }
      }
    }
  }

  private void changeQuota() {
    quota = (18 + random.nextInt(10)) * MIB;
    store.setQuota(quota);
  }

  private void count() {
    StoreStats stats = store.stats();
    evicted += stats.evictedBoundaries();
    recordBytes += stats.recordBytes();
    copiedBytes += stats.copiedBytes();
  }

  private void reopen() {
    count();
    reopened++;
    boolean die = random.nextBoolean();
    if (die) {
      Disk after = disk.killed();
      sessions.clear();
      sessionPrompts.clear();
      sessionModels.clear();
      restores.clear();
      restorePrompts.clear();
      restoreModels.clear();
      store.abandon();
      disk = after;
    } else {
      endAll();
      store.close();
      disk = disk.closed();
    }
    open();
  }

  private void endAll() {
    while (!restores.isEmpty()) {
      endRestore();
    }
    sessions.forEach(PrefillSession::close);
    sessions.clear();
    sessionPrompts.clear();
    sessionModels.clear();
  }
}
