package dev.waymark;

import dev.waymark.error.DiskFullException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.error.QuotaException;
import dev.waymark.error.QuotaPinnedException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.StatusFile;
import dev.waymark.internal.reclaim.SegmentEmptier;
import dev.waymark.internal.retain.EvictionPlanner;
import dev.waymark.internal.retain.PinnedBytes;
import dev.waymark.internal.retain.Victim;
import dev.waymark.internal.watch.Watch;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * Makes room: gives back what is dead, and evicts where that is not enough, until what is asked for
 * fits the quota.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>What cannot fit, whatever was evicted, is refused before anything is evicted for it.
 *   <li>Room that was made for one is reserved for that one before another can take it.
 *   <li>One at a time makes room, and holds no lock of publishing or segments while it waits.
 * </ul>
 */
final class SpaceKeeper {
  /** LOCK, CURRENT while its successor stands beside it, STATUS. */
  private static final long SMALL_FILES_BYTES = 4 * 4_096L;

  /**
   * Boundaries that go before the edits that say so are committed, and the manifest is counted
   * again: fewer than fill the growth that is set apart for it.
   */
  static final int STEP_BOUNDARIES = 1_024;

  private final StoreEngine engine;
  private final QuotaGate gate;
  private Compaction compaction;
  private final ReentrantLock making = new ReentrantLock();
  private final Set<Integer> usedNamespaces = ConcurrentHashMap.newKeySet();
  private final Map<Integer, Long> namespaceQuotas = new ConcurrentHashMap<>();
  private final NamespacePromises promises = new NamespacePromises();
  private final Map<Integer, EvictionPlanner> planners = new ConcurrentHashMap<>();

  SpaceKeeper(StoreEngine engine, QuotaGate gate) {
    this.engine = engine;
    this.gate = gate;
  }

  QuotaGate gate() {
    return gate;
  }

  /** Something of a namespace was asked for: from now on others go before it. */
  void used(int namespaceId) {
    usedNamespaces.add(namespaceId);
  }

  // Settings

  /** Changes the quota; what is above a lower one goes before this returns. */
  EvictionReport setQuota(long bytes) {
    long least = StoreOptions.MIN_QUOTA_BYTES;
    for (long quota : namespaceQuotas.values()) {
      least = Math.max(least, quota);
    }
    if (bytes < least) {
      throw new InvalidSettingException(
          ErrorDetail.of("the store's quota is below its minimum, or below a namespace's")
              .expected(least + " bytes or more")
              .found(bytes));
    }
    SegmentSizing sizing = engine.segments.sizing();
    if (bytes < sizing.segmentBytes() * 8) {
      throw new InvalidSettingException(
          ErrorDetail.of("the quota is too low for segments of the size that the store opened with")
              .expected(sizing.segmentBytes() * 8 + " bytes or more")
              .found(bytes)
              .remedy("close the store and open it with that quota"));
    }
    making.lock();
    try {
      long before = gate.quotaBytes();
      gate.setQuotaBytes(bytes);
      try {
        return enforce();
      } catch (RuntimeException | Error e) {
        // A quota that was not met is not one.
        gate.setQuotaBytes(before);
        throw e;
      }
    } finally {
      making.unlock();
    }
  }

  /** Limits a namespace; where it cannot be brought below that, the limit before stays. */
  void setNamespaceQuota(NamespaceState namespace, long bytes) {
    making.lock();
    try {
      if (bytes > gate.quotaBytes() || bytes < StoreOptions.MIN_QUOTA_BYTES / 16) {
        throw new InvalidSettingException(
            ErrorDetail.of("a namespace's quota is out of range")
                .expected(
                    StoreOptions.MIN_QUOTA_BYTES / 16
                        + " bytes or more, and no more than the store's "
                        + gate.quotaBytes())
                .found(bytes));
      }
      Long before = namespaceQuotas.get(namespace.id());
      if (!limit(namespace, bytes)) {
        throw new InvalidArgumentException(
            ErrorDetail.of("the namespace was deleted").remedy("ask the store for it again"));
      }
      try {
        fitNamespace(namespace, promise(namespace), 0);
      } catch (RuntimeException | Error e) {
        limit(namespace, before);
        throw e;
      }
    } finally {
      making.unlock();
    }
  }

  /** Sets a namespace's limit, or takes it away, unless the namespace was deleted. */
  private boolean limit(NamespaceState namespace, Long bytes) {
    return engine.publisher.write(
        () -> {
          if (engine.forest.namespace(namespace.id()) == null) {
            return false;
          }
          namespaceQuotas.compute(namespace.id(), (id, had) -> bytes);
          return true;
        });
  }

  /** The namespace was deleted; said inside the write of publishing that does so. */
  void forget(int namespaceId) {
    namespaceQuotas.remove(namespaceId);
  }

  /**
   * Counts what is no segment and no manifest: small files, which come and go, the quarantine, and
   * what others put there. Any of them may be gone once it is asked for.
   */
  private void countOtherFiles() {
    long bytes = SMALL_FILES_BYTES;
    for (String name : engine.directory.list()) {
      boolean counted =
          name.endsWith(".seg")
              || name.startsWith("manifest-")
              || name.equals("LOCK")
              || name.equals(CurrentFile.NAME)
              || name.equals(CurrentFile.TEMPORARY_NAME)
              || name.equals(StatusFile.NAME);
      if (!counted || name.startsWith("quarantine/")) {
        bytes += engine.directory.allocatedBytes(name);
      }
    }
    gate.setOtherFilesBytes(bytes);
  }

  // Making room

  /** Brings a store that is above its quota below it. */
  EvictionReport enforce() {
    making.lock();
    try {
      countOtherFiles();
      Tally tally = new Tally(engine.forest);
      makeRoom(0, gate.reservation(), tally);
      return tally.report();
    } finally {
      making.unlock();
    }
  }

  /** A promise of nothing in a namespace. */
  NamespacePromises.Promise promise(NamespaceState namespace) {
    return promises.promise(namespace.id());
  }

  /**
   * Takes what a record may need out of a promise, which grows where that is not left.
   *
   * @throws QuotaPinnedException if the namespace's quota has no room for it
   */
  void take(NamespaceState namespace, NamespacePromises.Promise promise, long bytes) {
    while (!engine.publisher.write(() -> promise.take(bytes))) {
      grow(namespace, promise, bytes);
    }
  }

  /** Promises more, making the room that it takes in the namespace's quota. */
  void grow(NamespaceState namespace, NamespacePromises.Promise promise, long bytes) {
    if (missing(namespace, promise, bytes) <= 0) {
      return;
    }
    making.lock();
    try {
      fitNamespace(namespace, promise, bytes);
    } finally {
      making.unlock();
    }
  }

  /**
   * Adds to a reservation, making the room that it takes.
   *
   * @throws QuotaExceededException if so much does not fit an empty store
   * @throws QuotaPinnedException if what is in the way is pinned, kept, or reserved
   */
  void reserve(QuotaGate.Reservation reservation, long bytes) {
    if (gate.tryReserve(reservation, bytes)) {
      return;
    }
    making.lock();
    try {
      makeRoom(bytes, reservation, new Tally(engine.forest));
    } finally {
      making.unlock();
    }
  }

  /** Takes a claim back, and makes the room in its stead. */
  void reserve(QuotaGate.Claim claim, QuotaGate.Reservation reservation, long bytes) {
    making.lock();
    try {
      claim.withdraw();
      reserve(reservation, bytes);
    } finally {
      making.unlock();
    }
  }

  /**
   * Lays a claim to room for a prefill, without making it.
   *
   * @throws QuotaExceededException if so much does not fit an empty store
   * @throws QuotaPinnedException if what is in the way is pinned, kept, reserved or claimed
   */
  QuotaGate.Claim claim(NamespaceState namespace, Estimate estimate) {
    Long limit = namespaceQuotas.get(namespace.id());
    if (limit != null && estimate.mostWrittenBytes() > limit) {
      throw exceeded(
          "the prefill does not fit its namespace's quota", estimate.mostWrittenBytes(), limit);
    }
    long bytes = estimate.allocatedBytes();
    QuotaGate.Claim claim = gate.tryClaim(bytes, gate.freeBytes());
    if (claim != null) {
      return claim;
    }
    long held = heldBytes();
    refuseWhatCannotFit(bytes, held);
    claim = gate.tryClaim(bytes, roomBytes(held));
    if (claim == null) {
      throw pinned(bytes, held);
    }
    return claim;
  }

  /** The most that a claim would be given now. */
  long claimableBytes() {
    return Math.max(gate.freeBytes(), roomBytes(heldBytes())) - gate.claimedBytes();
  }

  /** The most that a prefill may write into a namespace. */
  long namespaceLimitBytes(NamespaceState namespace) {
    return namespaceQuotas.getOrDefault(namespace.id(), Long.MAX_VALUE);
  }

  private void makeRoom(long bytes, QuotaGate.Reservation reservation, Tally tally) {
    if (gate.tryReserve(reservation, bytes)) {
      return;
    }
    engine.reclaim();
    if (gate.tryReserve(reservation, bytes)) {
      return;
    }
    giveBack();
    if (gate.tryReserve(reservation, bytes)) {
      return;
    }
    requireReclaim();
    refuseWhatCannotFit(bytes, heldBytes());
    // Without evictions in between, each segment is emptied once: this ends.
    long firstNew = engine.segments.nextSegmentId();
    while (true) {
      // Others give back and take meanwhile: however it looks now, there was too little.
      long claimed = bytes > 0 ? gate.claimedBytes() : 0;
      long missing = Math.max(1, bytes + claimed - gate.freeBytes());
      long evictedBefore = tally.evicted();
      boolean changed =
          compaction().punches()
              ? evict(missing, EvictionPlanner.ANY_NAMESPACE, tally) > 0
              : emptySegments(missing, tally, firstNew);
      if (tally.evicted() > evictedBefore) {
        firstNew = engine.segments.nextSegmentId();
      }
      long before = gate.freeBytes();
      giveBack();
      if (gate.tryReserve(reservation, bytes)) {
        return;
      }
      requireReclaim();
      if (!changed && gate.freeBytes() <= before) {
        throw pinned(bytes, heldBytes());
      }
    }
  }

  /** Where dead bytes do not come back, evicting more would lose chains and gain nothing. */
  private void requireReclaim() {
    WaymarkException failure = engine.segments.punchFailure();
    if (failure != null) {
      throw failure;
    }
  }

  /** Without punching only whole segments come back: eviction goes on until one is worth it. */
  private boolean emptySegments(long missing, Tally tally, long beforeSegmentId) {
    if (engine.segments.waitingBytes() >= missing) {
      // Enough is empty, and comes back once the restores that look at it have ended.
      return false;
    }
    if (compaction.emptyBest(false, beforeSegmentId)) {
      return true;
    }
    long step = Math.max(missing, engine.segments.sizing().segmentBytes() / 2);
    return evict(step, EvictionPlanner.ANY_NAMESPACE, tally) > 0
        || compaction.emptyBest(true, beforeSegmentId);
  }

  /** Gives buffers back, once nothing is under way any more. */
  void close() {
    making.lock();
    try {
      if (compaction != null) {
        compaction.close();
      }
    } finally {
      making.unlock();
    }
  }

  private Compaction compaction() {
    if (compaction == null) {
      compaction = new Compaction(engine);
    }
    return compaction;
  }

  /** What is dead comes back once the edits that say so are durable. */
  void giveBack() {
    engine.publisher.commit();
    engine.reclaim();
  }

  private void fitNamespace(
      NamespaceState namespace, NamespacePromises.Promise promise, long bytes) {
    Tally tally = new Tally(engine.forest);
    while (true) {
      long missing = missing(namespace, promise, bytes);
      if (missing <= 0) {
        return;
      }
      Long limit = namespaceQuotas.get(namespace.id());
      if (limit == null) {
        // It was deleted just now: nothing is missing any more.
        continue;
      }
      if (bytes > limit) {
        throw exceeded("the prefill does not fit its namespace's quota", bytes, limit);
      }
      long freed = evict(missing, namespace.id(), tally);
      if (freed > 0 && freed < missing) {
        giveBack();
      }
      if (freed == 0) {
        throw new QuotaPinnedException(
            ErrorDetail.of("what fills the namespace's quota is pinned, kept or reserved")
                .expected("at most " + limit + " bytes")
                .found(bytes + " asked for, " + missing + " more than are left")
                .remedy("close restores and prefills, or release what is kept"),
            bytes,
            limit,
            missing);
      }
    }
  }

  /** Promises so much in one step if it fits; otherwise says how much is missing. */
  private long missing(NamespaceState namespace, NamespacePromises.Promise promise, long bytes) {
    return engine.publisher.write(
        () -> {
          Long limit = namespaceQuotas.get(namespace.id());
          long missing =
              limit == null
                  ? 0
                  : namespace.recordPageBytes() + promises.bytes(namespace.id()) + bytes - limit;
          if (missing <= 0) {
            promise.grow(bytes);
          }
          return missing;
        });
  }

  private void refuseWhatCannotFit(long bytes, long heldBytes) {
    long most = gate.segmentsMostBytes();
    if (bytes > most) {
      throw exceeded("what is asked for does not fit the quota", bytes, most);
    }
    if (bytes > roomBytes(heldBytes) - gate.claimedBytes()) {
      throw pinned(bytes, heldBytes);
    }
  }

  /** What nobody can evict now: this walks every chain that is held. */
  private long heldBytes() {
    return engine.publisher.read(() -> PinnedBytes.of(engine.forest));
  }

  /** What others leave of the quota, if all that nobody holds was evicted. */
  private long roomBytes(long heldBytes) {
    return gate.segmentsMostBytes() - heldBytes - gate.reservedBytes();
  }

  private static QuotaExceededException exceeded(String what, long predicted, long limit) {
    return new QuotaExceededException(
        ErrorDetail.of(what)
            .expected("at most " + limit + " bytes")
            .found(predicted + " predicted")
            .remedy("raise the quota, or store the prompt with fewer restore points"),
        predicted,
        limit,
        predicted - limit);
  }

  private QuotaPinnedException pinned(long bytes, long heldBytes) {
    long most = gate.segmentsMostBytes();
    return new QuotaPinnedException(
        ErrorDetail.of("what fills the quota is pinned, kept or reserved")
            .expected(bytes + " of " + most + " bytes")
            .found(
                heldBytes
                    + " pinned or kept, and "
                    + (gate.reservedBytes() + gate.claimedBytes())
                    + " reserved or claimed by other prefills")
            .remedy("close restores and prefills, or release what is kept"),
        bytes,
        most,
        Math.max(0, bytes - roomBytes(heldBytes) + gate.claimedBytes()));
  }

  // Evicting

  /**
   * Drops victims until so many bytes of records are dead, or as many went as go in one step;
   * returns how many are.
   */
  private long evict(long bytes, int onlyNamespace, Tally tally) {
    EvictionPlanner planner =
        planners.computeIfAbsent(
            onlyNamespace,
            id ->
                new EvictionPlanner(
                    engine.forest, engine.options.eviction(), usedNamespaces::contains, id));
    Watch.Span span = engine.watch.begin(Watch.Kind.EVICT);
    long all = engine.publisher.write(() -> evict(planner, bytes, onlyNamespace, tally));
    if (all > 0) {
      span.end(all);
    }
    return all;
  }

  private long evict(EvictionPlanner planner, long bytes, int onlyNamespace, Tally tally) {
    long freed = 0;
    int boundaries = 0;
    while (freed < bytes && boundaries < STEP_BOUNDARIES) {
      Victim victim = planner.next(engine.segments.peekSequence());
      if (victim == null) {
        break;
      }
      tally.add(victim);
      if (victim.reason() == Victim.Reason.SCORE) {
        compaction().evicted(engine.forest.recency(victim.leaf()));
      }
      try {
        engine.drop(victim);
      } catch (DiskFullException e) {
        // What went so far has to come back before the manifest has room for more.
        planners.remove(onlyNamespace);
        if (freed > 0) {
          break;
        }
        throw e;
      }
      planner.settle();
      freed += victim.freedBytes();
      boundaries += victim.nodes().size();
    }
    return freed;
  }

  /**
   * What is kept leaves some room for what is not.
   *
   * @throws QuotaPinnedException if it would not
   */
  void requireRoomBesideKept(int tip) {
    int[] tips =
        IntStream.concat(
                IntStream.of(tip), engine.forest.kept().stream().mapToInt(Forest.Kept::node))
            .toArray();
    long kept = PinnedBytes.of(engine.forest, tips);
    long most = gate.segmentsMostBytes() / 10 * 9;
    if (kept > most) {
      throw new QuotaPinnedException(
          ErrorDetail.of("kept chains would fill the quota")
              .expected("at most " + most + " bytes kept")
              .found(kept)
              .remedy("release another chain, or raise the quota"),
          kept,
          most,
          kept - most);
    }
  }

  /** The victims that making so much room would take, without taking them. */
  EvictionReport preview(long bytes) {
    return engine.publisher.read(
        () -> {
          EvictionPlanner planner =
              new EvictionPlanner(
                  engine.forest,
                  engine.options.eviction(),
                  usedNamespaces::contains,
                  EvictionPlanner.ANY_NAMESPACE);
          Tally tally = new Tally(engine.forest);
          long freed = 0;
          while (freed < bytes) {
            Victim victim = planner.next(engine.segments.peekSequence());
            if (victim == null) {
              break;
            }
            tally.add(victim);
            freed += victim.freedBytes();
          }
          return tally.report();
        });
  }

  /** What compaction on request would take on. */
  List<SegmentInfo> candidates(double targetLiveRatio) {
    making.lock();
    try {
      return compaction().candidates(targetLiveRatio);
    } finally {
      making.unlock();
    }
  }

  /** What lives in a segment, to be copied out of it on request. */
  SegmentEmptier.Emptying begin(long segmentId) {
    making.lock();
    try {
      return compaction().begin(segmentId);
    } finally {
      making.unlock();
    }
  }

  /**
   * Copies what lives out of a segment, dropping nothing, and gives back what that allows. Others
   * make room between two such calls.
   *
   * @param stop asked before every record
   */
  void copyOut(SegmentEmptier.Emptying emptying, BooleanSupplier stop) {
    making.lock();
    try {
      compaction().copyOut(emptying, stop);
      giveBack();
    } finally {
      making.unlock();
    }
  }

  /** Opening a store does not fail because what is above its quota cannot go: it says so. */
  EvictionReport enforceAtOpen() {
    try {
      return enforce();
    } catch (QuotaException | DiskFullException e) {
      StoreEngine.LOG.warn("The store is above its quota: {}", e.getMessage());
      return EvictionReport.NOTHING;
    }
  }

  /** In the background: a manifest that grew may have left too little, or files become too many. */
  void keepWithin() {
    if (!making.tryLock()) {
      return;
    }
    try {
      compaction().boundFiles();
      if (gate.freeBytes() < 0) {
        enforce();
      }
    } finally {
      making.unlock();
    }
  }
}
