package dev.waymark.tools.replay;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.RestoredState;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreStats;
import dev.waymark.error.QuotaException;
import dev.waymark.error.RestoreMissException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;

/**
 * Does to a store what a server would have done: for each request of a trace it matches, restores
 * at the deepest point that can be given back, checks what came back, and stores what is new from
 * there. One request at a time.
 */
final class Replayer {
  /** Says what the made-up bytes depend on; raised whenever they change. */
  private static final ModelIdentity IDENTITY =
      ModelIdentity.builder().weights("synthetic-1").engine("segtool replay").build();

  private final StoreOptions storeOptions;
  private final Layout layout;
  private final RestorePolicy policy;
  private final Verification verification;
  private final long limitRequests;
  private final Watcher watcher;
  private final StateBuffers buffers;
  private final TraceKeys traceKeys = new TraceKeys();
  private final DistinctBlocks distinct = new DistinctBlocks();
  private final BundleCosts bundles;
  private long requests;
  private long blocksTotal;
  private long blocksHit;
  private long blocksRestored;
  private long restores;
  private long restoresMissed;
  private long restoresVerified;
  private long mismatches;
  private long requestsRefused;

  Replayer(
      StoreOptions storeOptions,
      Layout layout,
      RestorePolicy policy,
      Verification verification,
      long limitRequests,
      Watcher watcher) {
    this.storeOptions = storeOptions;
    this.layout = layout;
    this.policy = policy;
    this.verification = verification;
    this.limitRequests = limitRequests;
    this.watcher = watcher;
    this.buffers = new StateBuffers(layout);
    this.bundles = new BundleCosts(layout);
  }

  /** Is told how a replay goes, on the replay's thread. */
  interface Watcher {
    /** So many blocks more are done with. */
    default void replayed(int blocks) {}

    /** A restore gave wrong bytes. */
    default void mismatch(TraceRequest request, int tokens, StateBuffers.Mismatch mismatch) {}

    /** State is about to be stored, out of {@code state}. */
    default void storing(long request, StateBuffers state, int toTokens) {}

    /** Whether to stop before the end. */
    default boolean stops() {
      return false;
    }
  }

  /**
   * Replays a trace.
   *
   * @param directory of the store, which is made if it is not there
   * @return the report, its time apart
   * @throws CancellationException if the watcher stopped it; the store is closed then, and usable
   */
  ReplayReport.Builder run(TraceReader trace, Path directory) throws IOException {
    StoreStats stats;
    try (SnapshotStore store = SnapshotStore.open(directory, storeOptions)) {
      Namespace namespace = store.namespace(IDENTITY, layout);
      for (TraceRequest request = trace.next();
          request != null && requests < limitRequests;
          request = trace.next()) {
        replay(namespace, request);
        requests++;
        watcher.replayed(request.blocks());
      }
      stats = store.stats();
    }
    ClosedStore closed = ClosedStore.look(directory);
    return ReplayReport.builder()
        .requests(requests)
        .blocksTotal(blocksTotal)
        .blocksUnique(distinct.count())
        .blocksHit(blocksHit)
        .blocksRestored(blocksRestored)
        .bundles(bundles)
        .appendedBytes(stats.appendedBytes())
        .writtenBytes(stats.writtenBytes() + closed.manifestBytes() - stats.manifestBytes())
        .allocatedBytes(closed.allocatedBytes())
        .restorePoints(stats.points())
        .restores(restores)
        .restoresMissed(restoresMissed)
        .restoresVerified(restoresVerified)
        .mismatches(mismatches)
        .requestsRefused(requestsRefused)
        .evictedBlocks(stats.evictedBoundaries())
        .recordBytes(stats.recordBytes())
        .writeAmplification(stats.writeAmplification());
  }

  private void replay(Namespace namespace, TraceRequest request) {
    List<BoundaryKey> keys = traceKeys.keysOf(request);
    int tokens = Math.multiplyExact(keys.size(), layout.blockTokens());
    blocksTotal += keys.size();
    distinct.addAll(keys);
    bundles.add(keys.size());
    if (keys.isEmpty()) {
      return;
    }
    Prompt prompt = Prompt.ofKeys(keys, tokens);
    PrefixMatch match = namespace.match(prompt, tokens - 1);
    blocksHit += match.storedTokens() / layout.blockTokens();
    match = restore(namespace, prompt, match, request, BlockSeeds.of(keys));
    blocksRestored += match.restorableTokens() / layout.blockTokens();
    try {
      prefill(namespace, match, keys, tokens);
    } catch (StaleMatchException e) {
      // What it was to build on went since the match; the state that was restored is as good.
      restoresMissed++;
    } catch (QuotaException e) {
      // What does not fit is computed and not stored, as a server would.
      requestsRefused++;
    }
  }

  /** Restores as deep as it can, and returns the match that says where that was. */
  private PrefixMatch restore(
      Namespace namespace,
      Prompt prompt,
      PrefixMatch found,
      TraceRequest request,
      BlockSeeds seeds) {
    PrefixMatch match = found;
    buffers.begin(seeds);
    while (match.restorableTokens() > 0) {
      int at = match.restorableTokens();
      try {
        restore(match, request);
        return match;
      } catch (RestoreMissException | StaleMatchException e) {
        // The next shallower one, of what is there now.
        restoresMissed++;
        match = namespace.match(prompt, at - 1);
        // Nothing that was read counts.
        buffers.begin(seeds);
      }
    }
    return match;
  }

  private void restore(PrefixMatch match, TraceRequest request) {
    boolean verified = verification.includes(restores);
    if (verified) {
      buffers.scrub();
    }
    try (RestoredState state = match.restore()) {
      state.read(buffers.restoring(state.tokens()));
      state.finish();
    }
    restores++;
    if (verified) {
      restoresVerified++;
      Optional<StateBuffers.Mismatch> mismatch = buffers.firstMismatch();
      if (mismatch.isPresent()) {
        mismatches++;
        watcher.mismatch(request, match.restorableTokens(), mismatch.get());
      }
    }
  }

  private void prefill(Namespace namespace, PrefixMatch match, List<BoundaryKey> keys, int tokens) {
    int block = layout.blockTokens();
    PrefillPlan plan = PrefillPlan.tokens(tokens).policy(policy);
    try (PrefillSession session = namespace.prefill(match, plan)) {
      while (session.tokens() < tokens) {
        if (watcher.stops()) {
          throw new CancellationException("the replay was stopped");
        }
        int from = session.tokens();
        int point = session.nextPointTokens();
        // Behind the last point that is asked for, some policies still take one at the very end.
        int to = point == 0 ? tokens : point;
        StateViews views = buffers.advance(match.storedTokens(), to);
        watcher.storing(requests, buffers, to);
        session.append(keys.subList(from / block, to / block), views);
      }
      session.promptComplete();
    }
  }
}
