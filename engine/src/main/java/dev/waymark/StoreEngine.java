package dev.waymark;

import dev.waymark.error.BackPressureException;
import dev.waymark.error.ClosedException;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.error.QuotaPinnedException;
import dev.waymark.error.RejectedException;
import dev.waymark.error.WaymarkException;
import dev.waymark.error.WriteBudgetExhaustedException;
import dev.waymark.internal.admit.Budget;
import dev.waymark.internal.forest.Drops;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.io.Closing;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.log.Helpers;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.Status;
import dev.waymark.internal.manifest.StatusFile;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.internal.publish.Publisher;
import dev.waymark.internal.reclaim.SegmentEmptier;
import dev.waymark.internal.recover.RecentDrops;
import dev.waymark.internal.retain.PinnedBytes;
import dev.waymark.internal.retain.Tails;
import dev.waymark.internal.retain.Victim;
import dev.waymark.internal.watch.Watch;
import dev.waymark.layout.BoundaryKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The parts of one open store, wired to each other. */
final class StoreEngine {
  static final Logger LOG = LoggerFactory.getLogger(SnapshotStore.class);

  final StoreDirectory directory;
  final StoreId storeId;
  final StoreOptions options;
  final Forest forest;
  final SegmentSet segments;
  final Publisher publisher;
  final Scratch.Pool scratches;
  final LongSupplier clockMillis;
  final Helpers restorers;
  final Counters counters = new Counters();
  final Watch watch;
  final SpaceKeeper space;
  final WriteBudget budget;
  final Budget memory;
  private final ReentrantLock reclaiming = new ReentrantLock();
  private final StatusFile statusFile;
  private boolean statusFailing;
  private final BoundaryAges ages = new BoundaryAges(this);

  /** Edits up to this number are within what STATUS says of the manifest. */
  private volatile long statusDurable = -1;

  private final RecentDrops dropped = new RecentDrops();

  final Set<PrefillSession> sessions = ConcurrentHashMap.newKeySet();

  /** Of sessions that ended when there was no room to write it. */
  final Set<SessionEnd> unwrittenEnds = ConcurrentHashMap.newKeySet();

  private final AtomicLong heldBytes = new AtomicLong();

  /** Shared by calls that use files outside of a session, while closing waits for them. */
  final ReentrantReadWriteLock uses = new ReentrantReadWriteLock();

  private final Object closing = new Object();
  private volatile boolean closed;

  StoreEngine(
      StoreDirectory directory,
      StoreId storeId,
      StoreOptions options,
      QuotaGate gate,
      Forest forest,
      SegmentSet segments,
      Publisher publisher,
      Scratch.Pool scratches,
      LongSupplier clockMillis,
      Helpers restorers,
      StatusFile statusFile,
      Watch watch) {
    this.watch = watch;
    this.directory = directory;
    this.storeId = storeId;
    this.options = options;
    this.memory = new Budget(options.memoryBudgetBytes());
    this.space = new SpaceKeeper(this, gate);
    this.forest = forest;
    this.segments = segments;
    this.publisher = publisher;
    this.scratches = scratches;
    this.clockMillis = clockMillis;
    this.restorers = restorers;
    this.statusFile = statusFile;
    publisher.onManifest(gate::setManifestBytes);
    publisher.onLoss(dropped::note);
    this.budget = new WriteBudget(this);
  }

  void requireOpen() {
    if (closed) {
      throw closed();
    }
  }

  private static ClosedException closed() {
    return new ClosedException(ErrorDetail.of("the store was closed").remedy("open it again"));
  }

  boolean isClosed() {
    return closed;
  }

  /** Runs what uses files: closing waits until it has ended. */
  <T> T using(Supplier<T> action) {
    // Only closing takes the other lock. What depends on a receipt must not wait for that, since
    // closing may wait for the call that told it.
    if (!uses.readLock().tryLock()) {
      throw closed();
    }
    try {
      requireOpen();
      return action.get();
    } finally {
      uses.readLock().unlock();
    }
  }

  /** Writes how sessions ended, where that failed before; what fails again waits on. */
  void endSessions() {
    for (SessionEnd end : unwrittenEnds) {
      try {
        end.run();
      } catch (WaymarkException e) {
        LOG.debug("The end of a session could not be written yet: {}", e.getMessage());
      }
    }
    unwrittenEnds.removeIf(SessionEnd::isDone);
  }

  /** Runs what may refuse, and takes note where it does. */
  <T> T refusing(Supplier<T> action) {
    Watch.Span span = watch.begin(Watch.Kind.REJECT);
    try {
      return action.get();
    } catch (RejectedException e) {
      span.refuse(e.predictedBytes(), e.rejection().name());
      throw e;
    } catch (BackPressureException e) {
      span.refuse(e.askedBytes(), e.code().name());
      throw e;
    } catch (QuotaExceededException e) {
      span.refuse(e.predictedBytes(), e.code().name());
      throw e;
    } catch (QuotaPinnedException e) {
      span.refuse(e.predictedBytes(), e.code().name());
      throw e;
    } catch (WriteBudgetExhaustedException e) {
      span.refuse(0, e.code().name());
      throw e;
    }
  }

  /** Takes memory for a held point, if there is any left of it. */
  boolean takeHeld(long bytes) {
    if (heldBytes.addAndGet(bytes) <= options.heldStateBytes()) {
      return true;
    }
    heldBytes.addAndGet(-bytes);
    return false;
  }

  void giveHeld(long bytes) {
    heldBytes.addAndGet(-bytes);
  }

  /** Publishes a drop and remembers why; the caller is inside {@link Publisher#write}. */
  void publishDrop(Edit edit) {
    dropped.note(edit);
    publisher.publish(edit);
  }

  /** Why a boundary is not there, if it went not long ago; the caller is inside a read or write. */
  DropReason droppedWhy(BoundaryKey key) {
    return dropped.rows(key);
  }

  /** A boundary is used: it and its ancestors are younger now, on a full disk for this process. */
  void touch(int node) {
    publisher.publishIfRoom(
        new Edit.Touched(
            List.of(
                new Edit.Touch(
                    forest.namespaceOf(node).id(), forest.key(node), segments.takeSequence()))));
  }

  /** Bytes of a record were written that wait for a force; forces when too many do. */
  void afterAppend(Durability durability, long number) {
    if (durability == Durability.COMMIT) {
      publisher.commit(number);
      return;
    }
    long bound =
        durability == Durability.GROUP && !options.backgroundThread()
            ? options.groupBytes()
            : options.maxInFlightBytes();
    if (publisher.unforcedBytes() >= bound) {
      publisher.commit(number);
    }
  }

  /** Drops a victim of eviction; the caller is inside {@link Publisher#write}. */
  void drop(Victim victim) {
    evicting(() -> drop(victim, DropReason.EVICTED));
  }

  /** Drops a leaf and its tail, leaf first; the caller is inside {@link Publisher#write}. */
  void drop(Victim victim, DropReason reason) {
    dropNodes(victim.nodes(), reason);
  }

  /** Counts what goes. */
  private void evicting(Runnable drop) {
    long boundaries = forest.boundaryCount();
    long points = forest.pointCount();
    try {
      drop.run();
    } finally {
      counters.evictedBoundaries.add(boundaries - forest.boundaryCount());
      counters.evictedPoints.add(points - forest.pointCount());
    }
  }

  private void dropNodes(List<Integer> nodes, DropReason reason) {
    Drops drops = new Drops(forest);
    for (int node : nodes) {
      if (forest.isPoint(node) || forest.hasDelta(node)) {
        publishDrop(drops.point(node, reason));
        drops.staleDeltas(node, reason).forEach(this::publishDrop);
      }
      publishDrop(drops.rows(node, reason));
    }
  }

  /** How compaction drops what it does not copy. */
  SegmentEmptier.Dropper drops() {
    return new SegmentEmptier.Dropper() {
      @Override
      public void dropRows(int node) {
        evicting(() -> dropSubtree(node));
      }

      @Override
      public void dropPoint(int node) {
        evicting(
            () ->
                new Drops(forest)
                    .lostPoint(node, DropReason.EVICTED, StoreEngine.this::publishDrop));
      }
    };
  }

  private void dropSubtree(int node) {
    int above = forest.parent(node);
    new Drops(forest).subtree(node, DropReason.EVICTED).forEach(this::publishDrop);
    if (forest.isThere(above)) {
      dropNodes(new Tails(forest, any -> false).stranded(above), DropReason.EVICTED);
    }
  }

  /** Gives back what is dead, as far as no reader may still look at it. */
  long reclaim() {
    // Two at once would both say of a segment that it is removed.
    reclaiming.lock();
    try {
      Watch.Span span = watch.begin(Watch.Kind.RECLAIM);
      long bytes = reclaimLocked();
      if (bytes > 0) {
        span.end(bytes);
      }
      return bytes;
    } finally {
      reclaiming.unlock();
    }
  }

  private long reclaimLocked() {
    long durable = publisher.durable();
    if (durable > statusDurable && segments.hasReclaimable(durable)) {
      // A reader in another process that finds bytes gone must find the drops that explain it.
      publishStatus();
    }
    long bytes = publisher.unlinkDead(durable);
    return bytes + segments.punchDead(durable);
  }

  /**
   * Takes out of the forest what damage makes unusable, if the damaged record still stands there:
   * its boundary may have been stored anew since it was looked at.
   *
   * @param kind of the record that is damaged
   */
  void dropDamaged(
      int namespaceId,
      BoundaryKey key,
      RecordKind kind,
      RecordLocation location,
      CorruptionException cause) {
    publisher.write(
        () -> {
          int node = forest.find(namespaceId, key);
          if (node == Forest.NONE || !forest.records(node, kind).contains(location)) {
            return null;
          }
          LOG.warn(
              "Damage: {} at {} tokens is set aside: {}",
              kind,
              forest.tokens(node),
              cause.getMessage());
          Drops drops = new Drops(forest);
          if (kind == RecordKind.APPEND) {
            drops.subtree(node, DropReason.DAMAGED).forEach(this::publishDrop);
          } else if (kind == RecordKind.STATE) {
            drops.lostState(node, DropReason.DAMAGED, this::publishDrop);
          } else {
            drops.lostPoint(node, DropReason.DAMAGED, this::publishDrop);
          }
          return null;
        });
  }

  /** Whole records, every copy, and manifests, since open. */
  long writtenBytes() {
    return counters.recordBytes.sum()
        + counters.copiedBytes.sum()
        + publisher.manifestWrittenBytes();
  }

  StoreStats stats() {
    long live = 0;
    long dead = 0;
    long framing = 0;
    long reserved = 0;
    long allocated = 0;
    List<SegmentInfo> infos = segments.infos();
    for (SegmentInfo info : infos) {
      live += info.liveBytes();
      dead += info.deadBytes();
      framing += info.framingBytes();
      reserved += info.reservedBytes();
      allocated += info.allocatedBytes();
    }
    long manifestAllocated = publisher.manifestAllocatedBytes();
    long manifestLength = publisher.manifestLengthBytes();
    long otherFiles = space.gate().otherFilesBytes();
    framing += manifestLength + otherFiles;
    reserved += manifestAllocated - manifestLength;
    allocated += manifestAllocated + otherFiles;
    long liveBytes = live;
    long deadBytes = dead;
    long framingBytes = framing;
    long reservedBytes = reserved;
    long allocatedBytes = allocated;
    return publisher.read(
        () ->
            new StoreStats(
                space.gate().quotaBytes(),
                allocatedBytes,
                liveBytes,
                deadBytes,
                framingBytes,
                reservedBytes,
                infos.size(),
                forest.boundaryCount(),
                forest.pointCount(),
                sessions.size(),
                counters.appendedBytes.sum(),
                writtenBytes(),
                counters.recordBytes.sum(),
                counters.copiedBytes.sum(),
                counters.evictedBoundaries.sum(),
                counters.evictedPoints.sum(),
                counters.skippedPoints.sum(),
                forest.kept().size(),
                PinnedBytes.of(
                    forest, forest.kept().stream().mapToInt(Forest.Kept::node).toArray()),
                counters.matches.sum(),
                counters.matchHits.sum(),
                counters.restores.sum(),
                counters.restoreMisses.sum(),
                counters.restoredBytes.sum(),
                segments.inFlightBytes(),
                memory.takenBytes(),
                manifestLength,
                segments.mappedCount(),
                segments.chunksLeftRaw(),
                StoreTimings.of(watch)));
  }

  /**
   * Tells readers in other processes how far the manifest is durable, and what was counted. One at
   * a time: two would mix the number of one manifest with the length of another.
   */
  void publishStatus() {
    publishStatus(ProcessHandle.current().pid());
  }

  private synchronized void publishStatus(long processId) {
    long durable = publisher.durable();
    String json =
        StatusCounters.json(stats(), ages.get(processId == Status.CLOSED || statusDurable < 0));
    try {
      statusFile.publish(
          new Status(
              storeId,
              publisher.manifestId(),
              publisher.manifestDurableBytes(),
              clockMillis.getAsLong(),
              processId,
              json));
      statusDurable = durable;
      statusFailing = false;
    } catch (WaymarkException e) {
      if (!statusFailing) {
        LOG.warn("STATUS could not be published yet: {}", e.getMessage());
      }
      statusFailing = true;
    }
  }

  /** Waits for calls that are under way; those that come later find it closed. */
  void close() {
    synchronized (closing) {
      boolean wasOpen =
          publisher.write(
              () -> {
                boolean before = !closed;
                closed = true;
                return before;
              });
      if (wasOpen) {
        uses.writeLock().lock();
        try {
          closeFiles();
        } finally {
          uses.writeLock().unlock();
        }
      }
    }
  }

  private void closeFiles() {
    List<Runnable> steps = new ArrayList<>();
    for (PrefillSession session : List.copyOf(sessions)) {
      // The others, and what is durable so far, are no worse for one that fails.
      steps.add(session::close);
    }
    steps.add(this::endSessions);
    steps.add(this::finish);
    steps.addAll(releases());
    Closing.all(steps);
  }

  private void finish() {
    budget.save(true);
    publisher.sealAll();
    reclaim();
    publisher.close();
    publishStatus(Status.CLOSED);
  }

  /** Lets go of every file without another write, as a process that dies would. */
  void abandon() {
    closed = true;
    Closing.all(releases());
  }

  private List<Runnable> releases() {
    return List.of(
        restorers::close,
        scratches::close,
        space::close,
        statusFile::close,
        segments::close,
        publisher::abandon,
        directory::close);
  }
}
