package dev.waymark.internal.publish;

import dev.waymark.error.ClosedException;
import dev.waymark.error.DiskFullException;
import dev.waymark.error.DurabilityLostException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Drops;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.ForestState;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.EditCodec;
import dev.waymark.internal.manifest.ManifestCheckpoint;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.NextIds;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.internal.watch.Watch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NoSuchElementException;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.agrona.ExpandableArrayBuffer;

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
 *   <li>Where a segment failed, what was not durable in it is moved or dropped, and the whole state
 *       is written anew: edits that were queued before may name what is not there any more. What
 *       was dropped is never acknowledged, and whoever waits for it is told.
 *   <li>Commits exclude each other; publishing goes on beside them.
 *   <li>Whoever waits for an edit is told by whoever committed it, before that call returns and
 *       outside of this class's locks: in the order of edits, and of asking where several wait for
 *       one. Nobody waits longer than there is someone to commit.
 * </ul>
 */
public final class Publisher implements AutoCloseable {
  private static final long MIN_CHECKPOINT_BYTES = 256L << 10;
  private static final long MAX_FIRST_CHECKPOINT_BYTES = 4L << 20;
  private static final int SALVAGE_ROUNDS = 3;

  /**
   * With so many waiting, the next one commits first: where nothing is written, nobody else may.
   */
  private static final int MOST_WAITERS = 1 << 14;

  /** An edit about a boundary takes less, but for the places of its records. */
  private static final int MOST_EDIT_BYTES = 512;

  private static final int MOST_RECORD_BYTES = 32;

  private final StoreDirectory directory;
  private final StoreId storeId;
  private final Forest forest;
  private final SegmentSet segments;
  private final LongSupplier clockMillis;
  private final YieldPoints yields;
  private final ReentrantReadWriteLock state = new ReentrantReadWriteLock();
  private final ReentrantLock committing = new ReentrantLock();
  private final Salvage salvage;
  private final Watch watch;

  private final Deque<Edit> queue = new ArrayDeque<>();
  private final PriorityQueue<Waiter> waiters = new PriorityQueue<>();
  private long asked;
  private boolean abandoned;

  /** Waiters that are to be told, each done or failed. */
  private final Queue<Runnable> news = new ConcurrentLinkedQueue<>();

  private final ReentrantLock telling = new ReentrantLock();

  /** What edits that are queued, or being written, take in the manifest; it has room for them. */
  private long claimedBytes;

  private final EditCodec measuring = new EditCodec();
  private final ExpandableArrayBuffer measured = new ExpandableArrayBuffer();

  /** What to say first of all, after a checkpoint that did not come to be. */
  private final List<Edit> unsaidHeads = new ArrayList<>();

  private long published;
  private volatile long durable;

  /** Points that are not known to be durable, by their nodes. */
  private final Map<Integer, UndurablePoint> undurablePoints = new HashMap<>();

  /** Ranges of edits of which some were lost, by their first; all of a range count as lost. */
  private final NavigableMap<Long, Long> lostRanges = new ConcurrentSkipListMap<>();

  private boolean lossUnreported;

  private long unforcedBytes;

  /** Of the force that is under way; whoever commits has it. */
  private long forcedBytes;

  private volatile ManifestLog log;
  private volatile LongConsumer manifestListener = allocatedBytes -> {};
  private volatile Consumer<Edit> lossListener = drop -> {};
  private volatile long earlierManifestsBytes;
  private final Set<String> superseded = new LinkedHashSet<>();
  private long nextManifestId;
  private long nextCheckpointBytes;
  private volatile boolean manifestFailed;

  /**
   * A point.
   *
   * @param number of the edit that added it
   * @param older would add the delta again that its own took the place of; or null
   * @param before the boundary's point before, if its delta was still there; or null
   */
  private record UndurablePoint(long number, Edit.PointAdded older, UndurablePoint before) {}

  private record Waiter(long number, long turn, CompletableFuture<Void> done)
      implements Comparable<Waiter> {
    @Override
    public int compareTo(Waiter other) {
      int order = Long.compare(number, other.number);
      return order != 0 ? order : Long.compare(turn, other.turn);
    }
  }

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
      Salvage salvage,
      Watch watch) {
    this.watch = watch;
    this.directory = directory;
    this.storeId = storeId;
    this.forest = forest;
    this.segments = segments;
    this.log = log;
    this.nextManifestId = nextManifestId;
    this.clockMillis = clockMillis;
    this.yields = yields;
    this.salvage = salvage;
    this.nextCheckpointBytes = nextCheckpointBytes(log.checkpointBytes(), segments.sizing());
    this.earlierManifestsBytes = -log.lengthBytes();
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

  /**
   * Applies an edit and queues it; the caller is inside {@link #write}. Returns its number.
   *
   * @throws dev.waymark.error.DiskFullException if the manifest has no room for it, which what
   *     frees space has for longer than the rest; nothing was changed then
   */
  public long publish(Edit edit) {
    requireWriter();
    long bytes = EditCodec.paddedBytes(measuring.encode(edit, measured, 0, 0));
    log.makeRoom(claimedBytes + bytes, edit.freesSpace());
    long number = publishInRoom(edit);
    claimedBytes += bytes;
    return number;
  }

  /**
   * Applies an edit that may be lost; it is queued only where the manifest has room for it without
   * touching its reserve, and otherwise waits for the next checkpoint. The caller is inside {@link
   * #write}.
   */
  public void publishIfRoom(Edit edit) {
    requireWriter();
    try {
      publish(edit);
    } catch (DiskFullException e) {
      forest.apply(edit);
    }
  }

  /**
   * Before several edits that become true together: all of them have room, or none is published.
   * The caller is inside {@link #write}.
   *
   * @param records that they name
   * @throws dev.waymark.error.DiskFullException if there is no room
   */
  public void requireRoom(int edits, int records) {
    requireWriter();
    log.makeRoom(
        claimedBytes + (long) edits * MOST_EDIT_BYTES + (long) records * MOST_RECORD_BYTES, false);
  }

  private long publishInRoom(Edit edit) {
    published++;
    int node = Forest.NONE;
    UndurablePoint point = null;
    if (edit instanceof Edit.PointAdded added) {
      node = forest.find(added.namespaceId(), added.key());
      point = undurable(added, node);
    }
    try {
      forest.apply(edit);
    } catch (RuntimeException e) {
      published--;
      throw e;
    }
    queue.add(edit);
    if (point != null) {
      undurablePoints.put(node, point);
    }
    return published;
  }

  /** What has to be known of a point that is about to be added, until it is durable. */
  private UndurablePoint undurable(Edit.PointAdded added, int node) {
    if (node == Forest.NONE || !forest.hasDelta(node)) {
      return new UndurablePoint(published, null, null);
    }
    Edit.PointAdded older =
        added.deltas().isEmpty()
            ? null
            : new Edit.PointAdded(
                added.namespaceId(),
                added.key(),
                0,
                forest.coveredFrom(node),
                forest.recency(node),
                added.addedMillis(),
                0,
                0,
                forest.deltaRecords(node),
                List.of());
    return new UndurablePoint(published, older, undurablePoints.get(node));
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

  /** Whether the point at a node is durable; the caller is inside {@link #read} or write. */
  public boolean isPointDurable(int node) {
    return !undurablePoints.containsKey(node);
  }

  /**
   * Completes once the edit of that number is durable, or fails once it is lost, or once nobody
   * will ever know: in the order of numbers, whatever was asked for first. What depends on it runs
   * on the thread that committed, or closed.
   *
   * @throws WaymarkException if too many wait already, and could not be helped
   */
  public CompletableFuture<Void> whenDurable(long number) {
    if (read(() -> waiters.size() >= MOST_WAITERS)) {
      commit(number);
    }
    return write(
        () -> {
          if (isLost(number)) {
            return CompletableFuture.failedFuture(durabilityLost());
          }
          if (number <= durable) {
            return CompletableFuture.completedFuture(null);
          }
          if (abandoned) {
            return CompletableFuture.failedFuture(closed());
          }
          CompletableFuture<Void> done = new CompletableFuture<>();
          waiters.add(new Waiter(number, asked++, done));
          return done;
        });
  }

  // Committing

  /** Whether the edit of that number is lost, or one that was to become durable with it. */
  public boolean isLost(long number) {
    Map.Entry<Long, Long> range = lostRanges.floorEntry(number);
    return range != null && number <= range.getValue();
  }

  /** Whether anything with a higher number is lost. */
  public boolean hasLostSince(long number) {
    Map.Entry<Long, Long> last = lostRanges.lastEntry();
    return last != null && last.getValue() > number;
  }

  /**
   * Makes everything that was published before this call durable.
   *
   * @throws WaymarkException if that failed; what was not acknowledged waits for the next commit
   * @throws DurabilityLostException if something was lost by this commit
   */
  public void commit() {
    committing(this::commitLocked);
  }

  private void committing(Runnable action) {
    committing.lock();
    try {
      action.run();
    } finally {
      committing.unlock();
      if (!committing.isHeldByCurrentThread()) {
        tell();
      }
    }
  }

  /** In the order in which it became known, whoever tells it. */
  private void tell() {
    telling.lock();
    try {
      for (Runnable each = news.poll(); each != null; each = news.poll()) {
        each.run();
      }
    } finally {
      telling.unlock();
    }
  }

  /** Forces what was written so far, ahead of the edits that will name it. */
  public void forceData() {
    committing(() -> timed(this::forceDirty));
  }

  /**
   * Makes everything that was published before this call durable.
   *
   * @throws DurabilityLostException if something was lost since this was asked the last time
   */
  public void flush() {
    committing(
        () -> {
          try {
            commitLocked();
          } catch (DurabilityLostException e) {
            lossUnreported = false;
            throw e;
          }
          if (lossUnreported) {
            lossUnreported = false;
            throw durabilityLost();
          }
        });
  }

  /** Makes everything up to an edit durable, unless it is already. */
  public void commit(long number) {
    if (number > durable) {
      committing(
          () -> {
            if (number > durable) {
              commitLocked();
            }
          });
    }
    if (isLost(number)) {
      throw durabilityLost();
    }
  }

  private void forceDirty() {
    forcedBytes += segments.forceDirty();
  }

  /** Where it fails it is not counted: what follows is. */
  private void timed(Runnable force) {
    Watch.Span span = watch.begin(Watch.Kind.FORCE);
    forcedBytes = 0;
    force.run();
    span.end(forcedBytes);
  }

  private void commitLocked() {
    timed(this::commitQueued);
  }

  private void commitQueued() {
    if (manifestFailed || log.isPoisoned()) {
      checkpointLocked();
      return;
    }
    sealFull(false);
    List<Edit> batch = new ArrayList<>();
    List<Edit> heads = new ArrayList<>();
    // Until it is written, whatever happens: what was taken is known to the forest alone.
    manifestFailed = true;
    long[] claimed = new long[1];
    long number = take(batch, heads, claimed);
    yields.reached("batch taken");
    Forced forced = forceSegments(batch);
    yields.reached("data forced");
    if (forced != Forced.ALL) {
      checkpointLocked();
      if (forced == Forced.SOME_LOST) {
        throw durabilityLost();
      }
      return;
    }
    try {
      heads.removeIf(this::describesUnforced);
      batch.removeIf(this::sealsUnforced);
      for (Edit edit : heads) {
        log.append(edit, true);
      }
      // Each has room: its own, or what is held back where it frees space; and what names a segment
      // goes with what was moved there.
      for (Edit edit : batch) {
        log.append(edit, true);
      }
      log.flushBatch();
      write(
          () -> {
            claimedBytes -= claimed[0];
            return null;
          });
      yields.reached("edits written");
      log.force();
      yields.reached("edits forced");
      manifestFailed = false;
    } catch (WaymarkException e) {
      checkpointLocked();
      return;
    }
    acknowledge(number);
    deleteSuperseded();
    if (log.lengthBytes() > nextCheckpointBytes) {
      checkpointIfPossible();
    }
    manifestListener.accept(log.allocatedBytes());
  }

  /** Whether a manifest of that length, with a checkpoint of that length, is to be written anew. */
  public static boolean isCheckpointDue(
      long lengthBytes, long checkpointBytes, SegmentSizing sizing) {
    return lengthBytes > nextCheckpointBytes(checkpointBytes, sizing);
  }

  private static long nextCheckpointBytes(long checkpointBytes, SegmentSizing sizing) {
    return Math.max(leastCheckpointBytes(sizing), 3 * checkpointBytes);
  }

  /** A small store has a small manifest: it counts twice in the quota. */
  private static long leastCheckpointBytes(SegmentSizing sizing) {
    return Math.max(
        MIN_CHECKPOINT_BYTES, Math.min(MAX_FIRST_CHECKPOINT_BYTES, sizing.segmentBytes()));
  }

  /** Told what the manifest occupies, after every commit. */
  public void onManifest(LongConsumer listener) {
    manifestListener = listener;
    listener.accept(log.allocatedBytes());
  }

  /** Told of every drop of what a failed force lost, inside {@link #write}. */
  public void onLoss(Consumer<Edit> listener) {
    lossListener = listener;
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

  private long take(List<Edit> batch, List<Edit> heads, long[] claimed) {
    return write(
        () -> {
          batch.addAll(queue);
          queue.clear();
          claimed[0] = claimedBytes;
          unforcedBytes = 0;
          heads.addAll(unsaidHeads);
          unsaidHeads.clear();
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

  private boolean describesUnforced(Edit head) {
    return head instanceof Edit.DescriptorPlaced placed
        && !segments.describes(
            new SegmentSet.PlacedDescriptor(placed.namespaceId(), placed.location()));
  }

  /** The footer of a segment that could not be forced is not proven: no manifest may name it. */
  private boolean sealsUnforced(Edit edit) {
    return edit instanceof Edit.SegmentSealed sealed
        && segments.poisoned().contains(sealed.segmentId());
  }

  /** What became of the records that a batch names. */
  private enum Forced {
    /** All are durable where they were written. */
    ALL,
    /** All are durable, some elsewhere. */
    SOME_MOVED,
    /** Some are lost, and what stood on them. */
    SOME_LOST
  }

  /**
   * Forces data and directory. Unless all is well the state is not what the batch says any more,
   * and has to be written as a whole.
   */
  private Forced forceSegments(List<Edit> batch) {
    Forced forced = Forced.ALL;
    forceDirty();
    for (int round = 0; round < SALVAGE_ROUNDS; round++) {
      boolean mayMove = round < SALVAGE_ROUNDS - 1;
      Forced rescued = write(() -> rescue(batch, mayMove));
      if (rescued == Forced.ALL) {
        break;
      }
      manifestFailed = true;
      forced = rescued.compareTo(forced) > 0 ? rescued : forced;
      forceDirty();
    }
    if (segments.takeCreatedSinceDirectoryForce()) {
      try {
        directory.force();
      } catch (WaymarkException e) {
        segments.keepCreatedSinceDirectoryForce();
        manifestFailed = true;
        throw e;
      }
    }
    return forced;
  }

  /**
   * Moves what is in segments that could not be forced into others, where memory still holds what
   * was written; drops the rest. What was published meanwhile joins the batch: it may stand in one
   * of them too.
   */
  private Forced rescue(List<Edit> batch, boolean mayMove) {
    Set<Long> bad = segments.poisoned();
    if (bad.isEmpty()) {
      return Forced.ALL;
    }
    if (batch.stream().noneMatch(edit -> salvage.standsIn(edit, bad))
        && queue.stream().noneMatch(edit -> salvage.standsIn(edit, bad))) {
      return Forced.ALL;
    }
    batch.addAll(queue);
    queue.clear();
    Forced forced = Forced.SOME_MOVED;
    // The last first: a record may have been moved twice.
    for (int i = batch.size() - 1; i >= 0; i--) {
      if (batch.get(i) instanceof Edit.RecordMoved moved) {
        salvage.moveBack(moved, bad, forest::apply);
      }
    }
    // Where a copy went may fail too: the next round has to know of it.
    List<Edit> copies = new ArrayList<>();
    Consumer<Edit> copied =
        edit -> {
          forest.apply(edit);
          copies.add(edit);
        };
    for (Edit edit : batch) {
      if (!salvage.standsIn(edit, bad) || mayMove && salvage.move(edit, bad, copied)) {
        continue;
      }
      forced = Forced.SOME_LOST;
      lose(edit, batch, bad);
    }
    batch.addAll(copies);
    if (forced == Forced.SOME_LOST) {
      lostRanges.put(durable + 1, published);
      lossUnreported = true;
      failWaiters(durabilityLost());
    }
    return forced;
  }

  /** Drops what an edit made live in bad segments, and what stands on it. */
  private void lose(Edit edit, List<Edit> batch, Set<Long> bad) {
    Drops drops = new Drops(forest);
    int node = salvage.nodeOf(edit);
    if (edit instanceof Edit.RowsAdded
        || (edit instanceof Edit.RecordMoved moved && moved.kind() == RecordKind.APPEND)) {
      drops.subtree(node, DropReason.UNPROVEN).forEach(this::applyLoss);
      return;
    }
    if (!salvage.isDeltaIn(edit, bad)) {
      drops.lostState(node, DropReason.UNPROVEN, this::applyLoss);
      return;
    }
    for (UndurablePoint at = undurablePoints.get(node); at != null; at = at.before()) {
      if (at.older() != null && salvage.bringBack(at.older(), batch, bad)) {
        drops.lostPoint(node, at.older(), DropReason.UNPROVEN, this::applyLoss);
        return;
      }
    }
    drops.lostPoint(node, DropReason.UNPROVEN, this::applyLoss);
  }

  private void applyLoss(Edit drop) {
    forest.apply(drop);
    lossListener.accept(drop);
  }

  private void failWaiters(WaymarkException failure) {
    while (!waiters.isEmpty()) {
      Waiter waiter = waiters.poll();
      news.add(() -> waiter.done().completeExceptionally(failure));
    }
  }

  private static DurabilityLostException durabilityLost() {
    return new DurabilityLostException(
        ErrorDetail.of("a segment could not be forced, and what was in it not be saved")
            .remedy("append the blocks again"));
  }

  private static ClosedException closed() {
    return new ClosedException(
        ErrorDetail.of("the store was closed before this was known to be durable")
            .remedy("open it again and match: what is found there is durable"));
  }

  private void acknowledge(long number) {
    write(
        () -> {
          durable = Math.max(durable, number);
          undurablePoints.values().removeIf(point -> point.number() <= durable);
          while (!waiters.isEmpty() && waiters.peek().number() <= durable) {
            Waiter waiter = waiters.poll();
            news.add(() -> waiter.done().complete(null));
          }
          return null;
        });
  }

  // Checkpoints

  /** Writes the whole state into a new manifest, and makes that the one in force. */
  public void checkpoint() {
    committing(() -> timed(this::checkpointLocked));
  }

  /**
   * A manifest that grew is written anew. Where that fails before CURRENT was touched, a full disk
   * for one, the one in force goes on.
   */
  private void checkpointIfPossible() {
    try {
      checkpointLocked();
    } catch (DurabilityLostException e) {
      throw e;
    } catch (WaymarkException e) {
      nextCheckpointBytes = log.lengthBytes() + leastCheckpointBytes(segments.sizing());
    }
  }

  private void checkpointLocked() {
    ManifestLog before = log;
    boolean[] lost = new boolean[1];
    long number =
        write(
            () -> {
              List<Edit> batch = new ArrayList<>(queue);
              queue.clear();
              announce(unsaidHeads);
              ManifestLog next;
              try {
                lost[0] = forceSegments(batch) == Forced.SOME_LOST;
                announce(unsaidHeads);
                next = beginManifest();
              } catch (RuntimeException e) {
                queue.addAll(batch);
                throw e;
              }
              // Which of the two is in force nobody knows, until the new one is: both stay till
              // then.
              manifestFailed = true;
              superseded.add(ManifestLog.fileName(before.manifestId()));
              ManifestCheckpoint.putInForce(directory, storeId, next);
              log = next;
              unsaidHeads.clear();
              claimedBytes = 0;
              unforcedBytes = 0;
              nextCheckpointBytes = nextCheckpointBytes(log.checkpointBytes(), segments.sizing());
              return published;
            });
    manifestFailed = false;
    earlierManifestsBytes += before.lengthBytes();
    before.close();
    acknowledge(number);
    superseded.remove(ManifestLog.fileName(log.manifestId()));
    deleteSuperseded();
    manifestListener.accept(log.allocatedBytes());
    yields.reached("checkpoint written");
    if (lost[0]) {
      throw durabilityLost();
    }
  }

  /** The whole state in a new manifest, which is not in force yet. */
  private ManifestLog beginManifest() {
    List<Edit> first = new ArrayList<>(ForestState.heads(forest));
    first.addAll(segmentEdits());
    long id = nextManifestId++;
    // One that could not be written, nor deleted again, is deleted with the others.
    superseded.add(ManifestLog.fileName(id));
    return ManifestCheckpoint.begin(
        directory,
        id,
        storeId,
        clockMillis.getAsLong(),
        concat(
            first.iterator(), ForestState.boundaries(forest), ForestState.tails(forest).iterator()),
        new NextIds(
            segments.nextSegmentId(),
            forest.nextSessionId(),
            segments.peekSequence(),
            forest.nextNamespaceId()));
  }

  /** What cannot be deleted now is left for the next time: all that counts is durable. */
  private void deleteSuperseded() {
    for (Iterator<String> names = superseded.iterator(); names.hasNext(); ) {
      String name = names.next();
      try {
        if (directory.exists(name)) {
          directory.delete(name);
        }
        names.remove();
      } catch (WaymarkException e) {
        return;
      }
    }
  }

  private List<Edit> segmentEdits() {
    List<Edit> edits = new ArrayList<>();
    for (SegmentInfo info : segments.infos()) {
      edits.add(new Edit.SegmentCreated(info.segmentId(), info.kind(), info.creationSequence()));
      for (SegmentSet.PlacedDescriptor placed : segments.descriptors(info.segmentId())) {
        edits.add(new Edit.DescriptorPlaced(placed.namespaceId(), placed.location()));
      }
      // The footer of a segment that could not be forced is not proven.
      if (info.sealed() && !info.poisoned()) {
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

  /**
   * Unlinks segments in which nothing lives, after the edits that say so are durable. Excludes
   * commits, which force the files that this closes, and others that would unlink the same.
   */
  public long unlinkDead(long durableThen) {
    long[] bytes = new long[1];
    committing(() -> bytes[0] = unlinkLocked(durableThen));
    return bytes[0];
  }

  private long unlinkLocked(long durableThen) {
    List<SegmentInfo> dead = segments.unlinkable(durableThen);
    if (dead.isEmpty()) {
      return 0;
    }
    write(
        () -> {
          dead.forEach(info -> publish(new Edit.SegmentRemoved(info.segmentId())));
          return null;
        });
    commitLocked();
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

  /** Bytes written into this manifest and those before it, since open. */
  public long manifestWrittenBytes() {
    return earlierManifestsBytes + log.lengthBytes();
  }

  /** Bytes allocated for it. */
  public long manifestAllocatedBytes() {
    return log.allocatedBytes();
  }

  /** Seals every segment that no run is out of, and commits. */
  public void sealAll() {
    committing(
        () -> {
          sealFull(true);
          commitLocked();
        });
  }

  /** Commits, and says in the manifest that all of it is durable. */
  @Override
  public void close() {
    committing(
        () -> {
          commitLocked();
          log.proveDurable();
          log.close();
        });
  }

  /**
   * Closes the files without another write: after a failure, or when power is off. Whoever waits
   * still is told that.
   */
  public void abandon() {
    write(
        () -> {
          abandoned = true;
          failWaiters(closed());
          return null;
        });
    tell();
    log.close();
    salvage.close();
  }

  private void requireWriter() {
    if (!state.isWriteLockedByCurrentThread()) {
      throw new IllegalStateException("publishing needs the write lock");
    }
  }
}
