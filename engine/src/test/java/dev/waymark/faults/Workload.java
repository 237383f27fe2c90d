package dev.waymark.faults;

import dev.waymark.AppendReceipt;
import dev.waymark.Durability;
import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.SnapshotStore;
import dev.waymark.error.StaleMatchException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.Prompt;
import java.util.Random;
import java.util.function.BooleanSupplier;

/** What one thread asks of a store: sessions of every kind and end, restores and flushes. */
final class Workload {
  private final SnapshotStore store;
  private final Samples samples;
  private final Oracle oracle;
  private final Random random;
  private final BooleanSupplier stopped;

  Workload(
      SnapshotStore store, Samples samples, Oracle oracle, long seed, BooleanSupplier stopped) {
    this.store = store;
    this.samples = samples;
    this.oracle = oracle;
    this.random = new Random(seed);
    this.stopped = stopped;
  }

  /** Works until it is stopped or something fails. */
  void run() {
    while (!stopped.getAsBoolean()) {
      step();
    }
  }

  /** One session, or one restore. */
  void step() {
    Sample sample =
        samples.of(random.nextInt(Samples.families()), random.nextInt(Samples.BRANCHES));
    Namespace namespace = Samples.namespace(store, sample);
    if (random.nextInt(5) == 0) {
      restore(namespace, sample);
      return;
    }
    try {
      session(namespace, sample);
    } catch (StaleMatchException e) {
      // Another thread discarded what this one built on: it may, until it is told of it.
      return;
    }
  }

  private void restore(Namespace namespace, Sample sample) {
    PrefixMatch match = namespace.match(sample.tokens());
    int[] points = match.points();
    if (points.length > 0) {
      int at = points[random.nextInt(points.length)];
      try {
        String wrong = sample.compare(match, at);
        if (wrong != null) {
          throw new WrongBytesError(wrong);
        }
      } catch (StaleMatchException e) {
        return;
      }
    }
  }

  private void session(Namespace namespace, Sample sample) {
    PrefixMatch match = namespace.match(Prompt.ofTokens(sample.tokens()));
    int from = match.restorableTokens() / Sample.BLOCK;
    if (from == sample.blocks()) {
      return;
    }
    int blocks = Math.min(sample.blocks(), from + 1 + random.nextInt(8));
    boolean discards = random.nextInt(4) == 0;
    Durability durability = Durability.values()[random.nextInt(3)];
    PrefillPlan plan =
        PrefillPlan.tokens(blocks * Sample.BLOCK + 1 + random.nextInt(Sample.BLOCK - 1))
            .policy(Samples.policy(sample))
            .onAbort(discards ? AbortMode.DISCARD : AbortMode.KEEP)
            .durability(durability);
    long id = oracle.opening(sample, discards, Samples.keepsPoints(sample));
    boolean ended = false;
    PrefillSession session = namespace.prefill(match, plan);
    try {
      int at = session.tokens();
      boolean point = false;
      boolean whole = random.nextInt(3) > 0;
      while (at < blocks * Sample.BLOCK && !stopped.getAsBoolean()) {
        int to = Math.min(blocks * Sample.BLOCK, at + Sample.BLOCK * (1 + random.nextInt(3)));
        point = append(session, sample, id, at, to);
        at = to;
        if (random.nextInt(12) == 0) {
          store.flush();
          oracle.durable(id, at, false);
        }
        if (!whole && random.nextInt(4) == 0) {
          break;
        }
      }
      if (whole && at == blocks * Sample.BLOCK) {
        session.promptComplete();
        if (durability != Durability.NONE) {
          oracle.completed(id, at, point);
        }
        if (at + Sample.BLOCK <= sample.blocks() * Sample.BLOCK && random.nextBoolean()) {
          oracle.generating(id);
          append(session, sample, id, at, at + Sample.BLOCK);
        }
      }
      end(session, id, discards);
      ended = true;
    } finally {
      if (!ended && !stopped.getAsBoolean()) {
        oracle.discarding(id);
        session.close();
      }
      if (ended) {
        oracle.ended(id);
      }
    }
  }

  private boolean append(PrefillSession session, Sample sample, long id, int at, int to) {
    AppendReceipt receipt = session.append(sample.tokens(at, to), sample.views(to));
    receipt.durable().thenRun(() -> oracle.durable(id, to, receipt.pointAdded()));
    return receipt.pointAdded();
  }

  private void end(PrefillSession session, long id, boolean discards) {
    if (random.nextInt(8) == 0) {
      session.abort(AbortMode.KEEP);
      return;
    }
    if (discards || random.nextInt(8) == 0) {
      // Said before it is done: a session that was completed keeps its boundaries all the same.
      oracle.discarding(id);
      session.abort(AbortMode.DISCARD);
      return;
    }
    session.close();
  }
}
