package dev.waymark.internal.publish;

import dev.waymark.error.DurabilityLostException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Drops;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.ForestState;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.ManifestCheckpoint;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.NextIds;
import dev.waymark.internal.manifest.StoreId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The one way by which anything becomes true: edits are applied to the forest and queued under the
 * write lock, and committed in that order.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>An edit is written to the manifest only after the force of every record that it names, and
 *       of the directory entry of its segment, returned.
 *   <li>An edit is acknowledged only after the force of the manifest that holds it returned.
 *   <li>Where the manifest failed, nothing is acknowledged until a new one, which holds the whole
 *       state, was forced and CURRENT names it.
 *   <li>Commits exclude each other; publishing goes on beside them.
 * </ul>
 */
public final class Publisher implements AutoCloseable {
  private static final long MIN_CHECKPOINT_BYTES = 4L << 20;
  private static final int SALVAGE_ROUNDS = 3;

  private final StoreDirectory directory;
  private final StoreId storeId;
  private final Forest forest;
  private final SegmentSet segments;
  private final LongSupplier clockMillis;
  private final YieldPoints yields;
  private final ReentrantReadWriteLock state = new ReentrantReadWriteLock();
  private final ReentrantLock committing = new ReentrantLock();
  private final Salvage salvage;

  private final Deque<Edit> queue = new ArrayDeque<>();
  private final Deque<Waiter> waiters = new ArrayDeque<>();
  private long published;
  private volatile long durable;
  private long unforcedBytes;

  private ManifestLog log;
  private long nextManifestId;
  private long checkpointBytes;
  private long earlierManifestBytes;
  private volatile boolean manifestFailed;

  private record Waiter(long number, CompletableFuture<Void> done) {}

  /**
   * A publisher over the state that was read.
   *
   * @param log the manifest in force, to which it appends
   */
  public Publisher(
      StoreDirectory directory,
      StoreId storeId,
      Forest forest,
      SegmentSet segments,
      ManifestLog log,
      long nextManifestId,
      LongSupplier clockMillis,
      YieldPoints yields,
      Salvage salvage) {
    this.directory = directory;
    this.storeId = storeId;
    this.forest = forest;
    this.segments = segments;
    this.log = log;
    this.nextManifestId = nextManifestId;
    this.clockMillis = clockMillis;
    this.yields = yields;
    this.salvage = salvage;
    this.checkpointBytes = log.lengthBytes();
  }

  // Publishing

  /** Runs with the forest to itself. */
  public <T> T write(Supplier<T> action) {
    state.writeLock().lock();
    try {
      return action.get();
    } finally {
      state.writeLock().unlock();
    }
  }

  /** Runs while the forest does not change. */
  public <T> T read(Supplier<T> action) {
    state.readLock().lock();
    try {
      return action.get();
    } finally {
      state.readLock().unlock();
    }
  }

  /** Applies an edit and queues it; the caller is inside {@link #write}. Returns its number. */
  public long publish(Edit edit) {
    requireWriter();
    published++;
    try {
      forest.apply(edit);
    } catch (RuntimeException e) {
      published--;
      throw e;
    }
    queue.add(edit);
    return published;
  }

  /** Counts payload that was written and is not yet forced; the caller is inside {@link #write}. */
  public void addUnforced(long bytes) {
    requireWriter();
    unforcedBytes += bytes;
  }

  /** Payload that was written and is not yet forced. */
  public long unforcedBytes() {
    return read(() -> unforcedBytes);
  }

  /** Whether anything waits for a commit. */
  public boolean hasPending() {
    return read(() -> !queue.isEmpty() || manifestFailed) || segments.isDirty();
  }

  /** The number of the last edit; the caller is inside {@link #read} or {@link #write}. */
  public long published() {
    return published;
  }

  /** Edits up to this number are durable. */
  public long durable() {
    return durable;
  }

  /** Completes once the edit of that number is durable, or fails once it is lost. */
  public CompletableFuture<Void> whenDurable(long number) {
    return write(
        () -> {
          if (number <= durable) {
            return CompletableFuture.completedFuture(null);
          }
          CompletableFuture<Void> done = new CompletableFuture<>();
          waiters.add(new Waiter(number, done));
          return done;
        });
  }

  // Committing

  /**
   * Makes everything that was published before this call durable.
   *
   * @throws WaymarkException if that failed; what was not acknowledged waits for the next commit
   */
  public void commit() {
    committing.lock();
    try {
      commitLocked();
    } finally {
      committing.unlock();
    }
  }

  /** Makes everything up to an edit durable, unless it is already. */
  public void commit(long number) {
    if (number > durable) {
      committing.lock();
      try {
        if (number > durable) {
          commitLocked();
        }
      } finally {
        committing.unlock();
      }
    }
  }

  private void commitLocked() {
    if (manifestFailed || log.isPoisoned()) {
      checkpointLocked();
      return;
    }
    sealFull(false);
    List<Edit> batch = new ArrayList<>();
    List<Edit> heads = new ArrayList<>();
    long number = take(batch, heads);
    yields.reached("batch taken");
    Set<Edit> lost = forceSegments(batch, heads);
    yields.reached("data forced");
    try {
      for (Edit edit : heads) {
        log.append(edit, true);
      }
      for (Edit edit : batch) {
        if (!lost.contains(edit)) {
          log.append(edit, true);
        }
      }
      log.flushBatch();
      yields.reached("edits written");
      log.force();
      yields.reached("edits forced");
    } catch (WaymarkException e) {
      manifestFailed = true;
      checkpointLocked();
      return;
    }
    acknowledge(number);
    if (log.lengthBytes() > Math.max(MIN_CHECKPOINT_BYTES, 3 * checkpointBytes)) {
      checkpointLocked();
    }
  }

  /** Seals what is full; what cannot be sealed now is left for the next time. */
  private void sealFull(boolean all) {
    try {
      List<SegmentInfo> sealed = segments.sealFull(all);
      if (!sealed.isEmpty()) {
        write(
            () -> {
              for (SegmentInfo info : sealed) {
                publish(
                    new Edit.SegmentSealed(
                        info.segmentId(), info.lengthBytes(), info.footerOffsetBytes()));
              }
              return null;
            });
      }
    } catch (WaymarkException e) {
      // A full disk: the footer waits. What is named in the segment is safe without it.
      return;
    }
  }

  private long take(List<Edit> batch, List<Edit> heads) {
    return write(
        () -> {
          batch.addAll(queue);
          queue.clear();
          unforcedBytes = 0;
          announce(heads);
          return published;
        });
  }

  /** Segments and descriptions that no edit has named yet; they come before what is in them. */
  private void announce(List<Edit> heads) {
    for (SegmentInfo info : segments.takeCreated()) {
      heads.add(new Edit.SegmentCreated(info.segmentId(), info.kind(), info.creationSequence()));
    }
    for (SegmentSet.PlacedDescriptor placed : segments.takePlaced()) {
      heads.add(new Edit.DescriptorPlaced(placed.namespaceId(), placed.location()));
    }
  }

  /** Forces data and directory; returns the edits whose records could not be saved. */
  private Set<Edit> forceSegments(List<Edit> batch, List<Edit> heads) {
    Set<Edit> lost = new HashSet<>();
    Set<Long> failed = new HashSet<>();
    segments.forceDirty(failed::add);
    for (int round = 0; !failed.isEmpty() && round < SALVAGE_ROUNDS; round++) {
      Set<Long> bad = Set.copyOf(failed);
      boolean mayMove = round < SALVAGE_ROUNDS - 1;
      write(
          () -> {
            batch.addAll(queue);
            queue.clear();
            rescue(batch, bad, mayMove, lost);
            announce(heads);
            return null;
          });
      failed.clear();
      segments.forceDirty(failed::add);
    }
    if (segments.takeCreatedSinceDirectoryForce()) {
      try {
        directory.force();
      } catch (WaymarkException e) {
        segments.keepCreatedSinceDirectoryForce();
        manifestFailed = true;
        write(
            () -> {
              requeue(batch, heads, lost);
              return null;
            });
        throw e;
      }
    }
    return lost;
  }

  private void requeue(List<Edit> batch, List<Edit> heads, Set<Edit> lost) {
    List<Edit> all = new ArrayList<>(heads);
    batch.stream().filter(edit -> !lost.contains(edit)).forEach(all::add);
    for (int i = all.size() - 1; i >= 0; i--) {
      queue.addFirst(all.get(i));
    }
  }

  /**
   * Moves what is in segments that could not be forced into others, where memory still holds what
   * was written; drops the rest.
   */
  private void rescue(List<Edit> batch, Set<Long> bad, boolean mayMove, Set<Edit> lost) {
    Set<Integer> lostNodes = new HashSet<>();
    for (int i = 0; i < batch.size(); i++) {
      Edit edit = batch.get(i);
      if (lost.contains(edit) || !salvage.concerns(edit, bad)) {
        continue;
      }
      Edit moved = mayMove ? salvage.move(edit, bad, this::applyOnly) : null;
      if (moved != null) {
        batch.set(i, moved);
        continue;
      }
      lost.add(edit);
      int node = salvage.nodeOf(edit);
      if (node != Forest.NONE) {
        lostNodes.add(node);
        drop(edit, node);
      }
    }
    if (!lostNodes.isEmpty()) {
      // What stood on a lost boundary went with it: its edits may not be written either.
      for (Edit edit : batch) {
        if (salvage.namesMissing(edit)) {
          lost.add(edit);
        }
      }
      failWaiters();
    }
  }

  private void drop(Edit edit, int node) {
    Drops drops = new Drops(forest);
    List<Edit> edits =
        edit instanceof Edit.RowsAdded
            ? drops.subtree(node, DropReason.UNPROVEN)
            : drops.lostPoint(node, DropReason.UNPROVEN);
    edits.forEach(this::applyOnly);
  }

  private void applyOnly(Edit edit) {
    forest.apply(edit);
  }

  private void failWaiters() {
    DurabilityLostException failure =
        new DurabilityLostException(
            ErrorDetail.of("a segment could not be forced, and what was in it not be saved")
                .remedy("append the blocks again"));
    List<Waiter> failing = new ArrayList<>(waiters);
    waiters.clear();
    failing.forEach(waiter -> waiter.done().completeExceptionally(failure));
  }

  private void acknowledge(long number) {
    List<Waiter> done = new ArrayList<>();
    write(
        () -> {
          durable = Math.max(durable, number);
          while (!waiters.isEmpty() && waiters.peek().number() <= durable) {
            done.add(waiters.poll());
          }
          return null;
        });
    done.forEach(waiter -> waiter.done().complete(null));
  }

  // Checkpoints

  /** Writes the whole state into a new manifest, and makes that the one in force. */
  public void checkpoint() {
    committing.lock();
    try {
      checkpointLocked();
    } finally {
      committing.unlock();
    }
  }

  private void checkpointLocked() {
    manifestFailed = true;
    ManifestLog before = log;
    long number =
        write(
            () -> {
              List<Edit> batch = new ArrayList<>(queue);
              List<Edit> heads = new ArrayList<>();
              queue.clear();
              unforcedBytes = 0;
              announce(heads);
              forceSegments(batch, heads);
              List<Edit> first = new ArrayList<>(ForestState.heads(forest));
              first.addAll(segmentEdits());
              log =
                  ManifestCheckpoint.write(
                      directory,
                      nextManifestId++,
                      storeId,
                      clockMillis.getAsLong(),
                      concat(
                          first.iterator(),
                          ForestState.boundaries(forest),
                          ForestState.tails(forest).iterator()),
                      new NextIds(
                          segments.nextSegmentId(),
                          forest.nextSessionId(),
                          segments.peekSequence(),
                          forest.nextNamespaceId()));
              checkpointBytes = log.lengthBytes();
              earlierManifestBytes += before.lengthBytes();
              return published;
            });
    manifestFailed = false;
    before.close();
    acknowledge(number);
    String old = ManifestLog.fileName(before.manifestId());
    if (directory.exists(old)) {
      directory.delete(old);
    }
    yields.reached("checkpoint written");
  }

  private List<Edit> segmentEdits() {
    List<Edit> edits = new ArrayList<>();
    for (SegmentInfo info : segments.infos()) {
      edits.add(new Edit.SegmentCreated(info.segmentId(), info.kind(), info.creationSequence()));
      for (SegmentSet.PlacedDescriptor placed : segments.descriptors(info.segmentId())) {
        edits.add(new Edit.DescriptorPlaced(placed.namespaceId(), placed.location()));
      }
      if (info.sealed()) {
        edits.add(
            new Edit.SegmentSealed(info.segmentId(), info.lengthBytes(), info.footerOffsetBytes()));
      }
    }
    return edits;
  }

  /** Several runs of edits as one. */
  @SafeVarargs
  public static Iterator<Edit> concat(Iterator<? extends Edit>... parts) {
    return new Iterator<>() {
      private int part;

      @Override
      public boolean hasNext() {
        while (part < parts.length && !parts[part].hasNext()) {
          part++;
        }
        return part < parts.length;
      }

      @Override
      public Edit next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return parts[part].next();
      }
    };
  }

  // Reclaim

  /** Unlinks segments in which nothing lives, after the edits that say so are durable. */
  public long unlinkDead(long oldestReader) {
    List<SegmentInfo> dead = segments.unlinkable(durable, oldestReader);
    if (dead.isEmpty()) {
      return 0;
    }
    write(
        () -> {
          dead.forEach(info -> publish(new Edit.SegmentRemoved(info.segmentId())));
          return null;
        });
    commit();
    long bytes = 0;
    for (SegmentInfo info : dead) {
      bytes += info.allocatedBytes();
      segments.remove(info.segmentId());
    }
    return bytes;
  }

  // Accounts

  /** The manifest in force. */
  public long manifestId() {
    return log.manifestId();
  }

  /** Its length up to which it is known to be durable. */
  public long manifestDurableBytes() {
    return log.durableLengthBytes();
  }

  /** Its length. */
  public long manifestLengthBytes() {
    return log.lengthBytes();
  }

  /** Bytes written to it and to those before it, since the store was opened. */
  public long manifestWrittenBytes() {
    return read(() -> earlierManifestBytes + log.lengthBytes());
  }

  /** Bytes allocated for it. */
  public long manifestAllocatedBytes() {
    return log.allocatedBytes();
  }

  /** Seals every segment that no run is out of, and commits. */
  public void sealAll() {
    committing.lock();
    try {
      sealFull(true);
      commitLocked();
    } finally {
      committing.unlock();
    }
  }

  /** Commits, and says in the manifest that all of it is durable. */
  @Override
  public void close() {
    committing.lock();
    try {
      commitLocked();
      log.proveDurable();
      log.close();
    } finally {
      committing.unlock();
    }
  }

  /** Closes the files without another write: after a failure, or when power is off. */
  public void abandon() {
    log.close();
  }

  private void requireWriter() {
    if (!state.isWriteLockedByCurrentThread()) {
      throw new IllegalStateException("publishing needs the write lock");
    }
  }
}
