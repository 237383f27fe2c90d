package dev.waymark.internal.log;

import dev.waymark.error.ClosedException;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.DurabilityLostException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.io.Closing;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.internal.wire.SegmentFooterEncoder;
import dev.waymark.layout.StateViews;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * All segments of a store: hands out runs in them, writes records, maps them for readers, seals
 * them, gives their dead bytes back, and keeps the account of their bytes.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>Space is charged at the gate and allocated before it is touched through a map.
 *   <li>A record is written only into a run of its writer; nobody else writes there.
 *   <li>A segment stays while a record in it was written and waits for its edit.
 *   <li>A record's bytes are in flight from when its space is claimed until a force has covered
 *       them, or its segment is given up. What a {@link Flight} took ahead counts as if they were.
 *   <li>A segment is sealed once, when no run of it is out; one of an earlier process is sealed.
 *   <li>A file that readers have mapped is unmapped before it is deleted, and not before the last
 *       of them let go.
 * </ul>
 */
public final class SegmentSet implements AutoCloseable {
  private final StoreDirectory directory;
  private final long storeIdHigh;
  private final long storeIdLow;
  private final SegmentSizing sizing;
  private final SpaceGate gate;
  private final YieldPoints yields;
  private final Helpers forcers;
  private final Map<Long, Segment> segments = new TreeMap<>();

  /** Looked up last: records come by the thousand that stand in the same one. */
  private Segment recent;

  private final Map<Stream, Segment> current = new HashMap<>();
  private final List<Segment> created = new ArrayList<>();
  private final List<PlacedDescriptor> placed = new ArrayList<>();
  private final Set<String> leftovers = new LinkedHashSet<>();
  private final InFlight inFlight = new InFlight(this);
  private final SegmentMaps maps;
  private final LongAdder chunksLeftRaw = new LongAdder();
  private long nextSegmentId = 1;
  private long nextSequence = 1;
  private volatile WaymarkException punchFailure;
  private boolean createdSinceDirectoryForce;
  private boolean closed;

  /** Records of one stream follow each other in one segment at a time. */
  record Stream(SegmentKind kind, Run.Heat heat) {}

  /** An empty set over a directory. */
  public SegmentSet(
      StoreDirectory directory,
      long storeIdHigh,
      long storeIdLow,
      SegmentSizing sizing,
      SpaceGate gate) {
    this(directory, storeIdHigh, storeIdLow, sizing, gate, YieldPoints.NONE, Helpers.NONE);
  }

  /**
   * An empty set that tells where it is while it writes.
   *
   * @param forcers who helps to force several files at once
   */
  public SegmentSet(
      StoreDirectory directory,
      long storeIdHigh,
      long storeIdLow,
      SegmentSizing sizing,
      SpaceGate gate,
      YieldPoints yields,
      Helpers forcers) {
    this.forcers = forcers;
    this.directory = directory;
    this.storeIdHigh = storeIdHigh;
    this.storeIdLow = storeIdLow;
    this.sizing = sizing;
    this.gate = gate;
    this.yields = yields;
    this.maps = new SegmentMaps(this, directory, storeIdHigh, storeIdLow, segments.values());
  }

  /** How large segments are. */
  public SegmentSizing sizing() {
    return sizing;
  }

  // Ids and sequences

  /** The next id to be given to a segment. */
  public synchronized long nextSegmentId() {
    return nextSegmentId;
  }

  /** The next sequence to be given to a record, a touch or an edit. */
  public synchronized long takeSequence() {
    return nextSequence++;
  }

  /** The next sequence, without taking it. */
  public synchronized long peekSequence() {
    return nextSequence;
  }

  /** Ids and sequences below these are never given out again. */
  public synchronized void raiseCounters(long segmentId, long sequence) {
    nextSegmentId = Math.max(nextSegmentId, segmentId);
    nextSequence = Math.max(nextSequence, sequence);
  }

  // Segments of the manifest, at open

  /** A segment that the manifest names; it is sealed as far as this process is concerned. */
  public synchronized void restore(long id, SegmentKind kind, long creationSequence) {
    Segment segment = new Segment(id, new Stream(kind, Run.Heat.NEW), creationSequence);
    segment.sealed = true;
    segment.announced = true;
    segment.full = true;
    segment.framingBytes = Alignment.PAGE_BYTES;
    segments.put(id, segment);
    raiseCounters(id + 1, creationSequence + 1);
  }

  /**
   * A segment is gone, says the manifest.
   *
   * @throws CorruptionException if records in it live; nothing was changed then
   */
  public synchronized void forget(long id) {
    Segment segment = segments.get(id);
    if (segment != null) {
      if (segment.liveRecords > 0) {
        throw new CorruptionException(
            ErrorDetail.of("a segment is removed in which records live")
                .in(segment.fileName)
                .remedy("rebuild the manifest from the records with segtool repair"));
      }
      remove(segment);
      maps.unmap(segment);
      closeFile(segment);
    }
  }

  /** A segment holds the description of a namespace there, says the manifest. */
  public synchronized void restoreDescriptor(int namespaceId, RecordLocation location) {
    Segment segment = require(location.segmentId());
    segment.framingBytes += Alignment.toPage(location.lengthBytes());
    segment.descriptors.add(new PlacedDescriptor(namespaceId, location));
  }

  /**
   * Completes the account of a segment, once all edits were applied and recovery has cut the file.
   *
   * @param lengthBytes of the file now
   * @param gaps ranges that nothing names
   * @param punched whether they were given back; else they count as dead
   */
  public synchronized void settle(
      long id, long lengthBytes, long footerOffsetBytes, List<long[]> gaps, boolean punched) {
    Segment segment = require(id);
    segment.settle(lengthBytes, footerOffsetBytes, gaps, punched);
    gate.charge(segment.allocatedBytes(), SpaceGate.ADOPTED);
  }

  // Births and deaths of records

  /**
   * Before an edit that names the record is applied.
   *
   * @throws CorruptionException if there is no such segment
   */
  public synchronized void check(RecordLocation location) {
    require(location.segmentId());
  }

  /** A record became live: an edit names it. */
  public synchronized void born(RecordLocation location) {
    require(location.segmentId()).born(location);
  }

  /**
   * A record is named no more, by the edit of that number.
   *
   * @param isRead whether someone in this process still looks at it, who began before
   */
  public synchronized void died(RecordLocation location, long diedAt, BooleanSupplier isRead) {
    require(location.segmentId()).died(location, diedAt, isRead);
  }

  /**
   * A record whose death is not durable is about to be named again.
   *
   * @return whether its bytes are still there
   */
  public synchronized boolean revive(RecordLocation location) {
    Segment segment = segments.get(location.segmentId());
    return segment != null && segment.revive(location);
  }

  /** A record that was written, and that no edit will name. */
  public synchronized void stillborn(RecordLocation location, long diedAt) {
    require(location.segmentId()).stillborn(location, diedAt);
  }

  // Writing

  /**
   * Writes a record, claiming space for it where the run has none left. The pieces of one
   * contribution are written through one run, one after the other from the first on, and share its
   * sequence.
   *
   * @param verifyLossy whether what a lossy codec made is held against its stated error
   * @param flight what its bytes go with
   * @return where it stands; readable at once, durable after the next force of its segment; null
   *     where nothing was written, since a force has to come first
   */
  public RecordLocation write(
      RecordPlan plan,
      StateViews views,
      Run run,
      NamespaceDescriptor namespace,
      Scratch scratch,
      boolean verifyLossy,
      Flight flight) {
    long most = plan.maxBytes();
    requireFits(most);
    if (!claim(run, namespace, most, flight)) {
      return null;
    }
    if (plan.pieceIndex() == 0) {
      run.sequence = takeSequence();
    }
    Segment segment = run.segment;
    long offset = run.position;
    long length;
    try {
      yields.reached("space claimed");
      RecordWriter writer =
          new RecordWriter(plan, segment.region, offset, run.behind, scratch, verifyLossy);
      length = writer.write(views, segment.id, run.sequence, yields);
      chunksLeftRaw.add(writer.chunksLeftRaw());
      run.behind.reached(offset + Alignment.toPage(length));
    } finally {
      letGo(segment, most);
    }
    return written(run, segment, offset, length);
  }

  /** Chunks that the codec asked for left as they were, or could not take, since open. */
  public long chunksLeftRaw() {
    return chunksLeftRaw.sum();
  }

  /** Copies a record's bytes as they are into a run; the caller has verified them. */
  public RecordLocation copy(
      MappedRegion source,
      RecordHeader record,
      Run run,
      NamespaceDescriptor namespace,
      Scratch scratch) {
    RecordLocation from = record.location();
    long most = Alignment.toPage(from.lengthBytes());
    claim(run, namespace, most, flight(Long.MAX_VALUE));
    Segment segment = run.segment;
    long offset = run.position;
    int front = record.frontBytes();
    try {
      for (long done = front; done < from.lengthBytes(); ) {
        int step = (int) Math.min(Scratch.CHUNK_BYTES, from.lengthBytes() - done);
        source.get(from.offsetBytes() + done, scratch.raw(), 0, step);
        segment.region.put(offset + done, scratch.raw(), 0, step);
        done += step;
      }
      UnsafeBuffer bytes = new UnsafeBuffer(new byte[front]);
      source.get(from.offsetBytes(), bytes, 0, front);
      RecordHeader.retag(bytes, segment.id);
      segment.region.put(offset, bytes, 0, front);
    } finally {
      letGo(segment, most);
    }
    return written(run, segment, offset, from.lengthBytes());
  }

  /** The write into a segment that {@link #claim} began is over. */
  private synchronized void letGo(Segment segment, long bytes) {
    segment.dirty = true;
    if (segment.poisoned || segment.removed) {
      inFlight.landed(bytes);
    } else {
      segment.unforcedBytes += bytes;
      notifyAll();
    }
    maps.endUse(segment);
  }

  // In flight

  /** Bytes of records that are being written, or that no force has covered yet. */
  public synchronized long inFlightBytes() {
    return inFlight.bytes();
  }

  /**
   * Waits until so many bytes more leave no more in flight than there may be. One record goes ahead
   * alone, whatever its size.
   *
   * @return false if a force has to come first
   */
  private boolean awaitFlight(long bytes, long mostBytes) {
    boolean interrupted = false;
    try {
      while (true) {
        requireOpen();
        if (inFlight.allows(bytes, mostBytes)) {
          return true;
        }
        if (segments.values().stream().anyMatch(segment -> segment.unforcedBytes > 0)) {
          return false;
        }
        try {
          // Others are just writing all of it, or forcing it.
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Takes nothing ahead: each record waits where it has to.
   *
   * @param mostBytes no more may be in flight with a record, unless it is alone
   */
  public Flight flight(long mostBytes) {
    return new Flight(inFlight, 0, mostBytes);
  }

  /**
   * Takes bytes ahead. Where they are more than there may ever be, nothing is taken, and the
   * records wait for each other once nobody else's are in flight.
   *
   * @return null where what is in flight leaves no room for them
   */
  public synchronized Flight tryTakeOff(long bytes, long mostBytes) {
    requireOpen();
    if (!inFlight.allows(bytes, mostBytes)) {
      return null;
    }
    return inFlight.ahead(bytes <= mostBytes ? bytes : 0, mostBytes);
  }

  private void landAll(Segment segment) {
    inFlight.landed(segment.unforcedBytes);
    segment.unforcedBytes = 0;
  }

  private synchronized RecordLocation written(Run run, Segment segment, long offset, long length) {
    run.position = offset + Alignment.toPage(length);
    segment.written.addLong(offset);
    segment.written.addLong(length);
    if (segment.poisoned) {
      throw poisoned(segment);
    }
    segment.undecidedRecords++;
    return new RecordLocation(segment.id, offset, length);
  }

  /** Gives what is left of a run back. */
  public synchronized void release(Run run) {
    Segment segment = run.segment;
    if (segment == null) {
      return;
    }
    run.segment = null;
    segment.openRuns--;
    if (run.end == segment.claimedEnd && segment.isWritable()) {
      segment.claimedEnd = run.position;
      Extents.Extent last = segment.free.takeLast(segment.claimedEnd);
      if (last != null) {
        segment.claimedEnd = last.start();
      }
    } else {
      segment.free.add(run.position, run.end);
    }
  }

  private void requireFits(long recordBytes) {
    if (recordBytes > sizing.maxRecordBytes() + Alignment.PAGE_BYTES) {
      throw new InvalidSettingException(
          ErrorDetail.of("a record does not fit a segment")
              .expected("at most " + sizing.maxRecordBytes() + " bytes")
              .found(recordBytes)
              .remedy("raise the quota, which the size of segments follows"));
    }
  }

  /** False if a force has to come first. */
  private synchronized boolean claim(
      Run run, NamespaceDescriptor namespace, long most, Flight flight) {
    requireOpen();
    if (flight.aheadBytes() < most) {
      // It waits as others do, and not for what it has itself taken ahead.
      flight.use(Long.MAX_VALUE);
      if (!awaitFlight(most, flight.mostBytes())) {
        return false;
      }
    }
    Segment had = run.segment;
    if (had == null || had.poisoned || run.left() < most) {
      release(run);
      openRun(run, namespace, most);
    }
    maps.beginUse(run.segment);
    inFlight.tookOff(most, flight);
    return true;
  }

  private void openRun(Run run, NamespaceDescriptor namespace, long most) {
    Stream stream = new Stream(run.kind, run.heat);
    long alone = most + namespace.pageBytes();
    Segment segment = current.get(stream);
    if (alone > roomInNew()) {
      // Written under a higher quota: it gets a segment of its own, of its size.
      segment = create(stream, run.payer, Alignment.PAGE_BYTES + alone + footerPages(1));
      segment.full = true;
    } else if (segment == null || !hasRoom(segment, need(segment, namespace, most))) {
      if (segment != null) {
        segment.full = true;
      }
      segment = create(stream, run.payer, sizing.segmentBytes());
      current.put(stream, segment);
    }
    long need = need(segment, namespace, most);
    Extents.Extent extent = segment.free.takeSmallest(need, Math.max(need, sizing.runBytes()));
    if (extent == null) {
      long length = Math.max(need, Math.min(sizing.runBytes(), room(segment)));
      allocate(segment, segment.claimedEnd + length, run.payer);
      extent = new Extents.Extent(segment.claimedEnd, segment.claimedEnd + length);
      segment.claimedEnd += length;
    }
    long position = extent.start();
    try {
      if (!segment.namespaces.contains(namespace.namespaceId())) {
        UnsafeBuffer frame = namespace.encode(segment.id, nextSequence++);
        segment.region.put(position, frame, 0, frame.capacity());
        segment.dirty = true;
        segment.namespaces.add(namespace.namespaceId());
        PlacedDescriptor here =
            new PlacedDescriptor(
                namespace.namespaceId(),
                new RecordLocation(segment.id, position, frame.capacity()));
        placed.add(here);
        segment.descriptors.add(here);
        segment.framingBytes += namespace.pageBytes();
        position += namespace.pageBytes();
      }
    } catch (WaymarkException e) {
      segment.free.add(extent.start(), extent.end());
      throw e;
    }
    segment.openRuns++;
    run.segment = segment;
    run.behind = new WriteBehind(segment.file, position);
    run.position = position;
    run.end = extent.end();
  }

  private static long need(Segment segment, NamespaceDescriptor namespace, long most) {
    return segment.namespaces.contains(namespace.namespaceId())
        ? most
        : most + namespace.pageBytes();
  }

  private boolean hasRoom(Segment segment, long need) {
    return segment.isWritable()
        && (room(segment) >= need
            || segment.free.list().stream().anyMatch(extent -> extent.lengthBytes() >= need));
  }

  private long room(Segment segment) {
    return roomInNew() + Alignment.PAGE_BYTES - segment.claimedEnd;
  }

  /** Without that for the footer of a segment full of the smallest records: none must lack it. */
  private long roomInNew() {
    return sizing.segmentBytes()
        - Alignment.PAGE_BYTES
        - footerPages(sizing.segmentBytes() / Alignment.PAGE_BYTES);
  }

  private static long footerPages(long records) {
    return Alignment.toPage(
        Frame.HEADER_BYTES
            + SegmentFooterEncoder.BLOCK_LENGTH
            + 4
            + records * SegmentFooterEncoder.RecordsEncoder.sbeBlockLength());
  }

  private void allocate(Segment segment, long end, SpaceGate.Payer payer) {
    if (end <= segment.allocatedEnd) {
      return;
    }
    long bytes = end - segment.allocatedEnd;
    gate.charge(bytes, payer);
    try {
      segment.file.allocate(segment.allocatedEnd, bytes);
    } catch (WaymarkException e) {
      gate.refund(bytes, payer);
      throw e;
    }
    segment.allocatedEnd = end;
  }

  /** Files of creations that failed, which the next creation must not stumble over. */
  private void removeLeftovers() {
    for (Iterator<String> names = leftovers.iterator(); names.hasNext(); ) {
      String name = names.next();
      try {
        if (directory.exists(name)) {
          directory.delete(name);
        }
        names.remove();
      } catch (WaymarkException e) {
        // It has its turn again; opening the store deletes it at the latest.
        return;
      }
    }
  }

  private Segment create(Stream stream, SpaceGate.Payer payer, long mostBytes) {
    removeLeftovers();
    Segment segment = new Segment(nextSegmentId, stream, nextSequence);
    gate.charge(Alignment.PAGE_BYTES, payer);
    try {
      segment.file = directory.create(segment.fileName);
      segment.file.allocate(0, Alignment.PAGE_BYTES);
      maps.mapForWriting(segment, mostBytes);
      UnsafeBuffer header = header(segment).encode();
      segment.region.put(0, header, 0, header.capacity());
    } catch (WaymarkException e) {
      gate.refund(Alignment.PAGE_BYTES, payer);
      maps.unmap(segment);
      closeFile(segment);
      leftovers.add(segment.fileName);
      removeLeftovers();
      throw e;
    }
    nextSegmentId++;
    nextSequence++;
    segment.claimedEnd = Alignment.PAGE_BYTES;
    segment.allocatedEnd = Alignment.PAGE_BYTES;
    segment.framingBytes = Alignment.PAGE_BYTES;
    segment.dirty = true;
    createdSinceDirectoryForce = true;
    segments.put(segment.id, segment);
    created.add(segment);
    return segment;
  }

  private SegmentHeader header(Segment segment) {
    return new SegmentHeader(
        storeIdHigh, storeIdLow, segment.id, segment.kind, segment.creationSequence);
  }

  // What the publisher does, one thread at a time

  /** Segments created since the last call, to be announced before any record in them is. */
  public synchronized List<SegmentInfo> takeCreated() {
    List<SegmentInfo> infos = new ArrayList<>();
    for (Segment segment : created) {
      segment.announced = true;
      infos.add(segment.info());
    }
    created.clear();
    return infos;
  }

  /** A description of a namespace that was written into a segment. */
  public record PlacedDescriptor(int namespaceId, RecordLocation location) {}

  /** Descriptions written since the last call, to be announced after their segments. */
  public synchronized List<PlacedDescriptor> takePlaced() {
    List<PlacedDescriptor> taken = List.copyOf(placed);
    placed.clear();
    return taken;
  }

  /** Descriptions that a segment holds. */
  public synchronized List<PlacedDescriptor> descriptors(long segmentId) {
    return List.copyOf(require(segmentId).descriptors);
  }

  /** Whether a segment's file was created since this last said so. */
  public synchronized boolean takeCreatedSinceDirectoryForce() {
    boolean was = createdSinceDirectoryForce;
    createdSinceDirectoryForce = false;
    return was;
  }

  /** The directory could not be forced: what was created since is still not durable. */
  public synchronized void keepCreatedSinceDirectoryForce() {
    createdSinceDirectoryForce = true;
  }

  /**
   * Forces every segment that was written to. One that could not be forced is poisoned: it takes no
   * more writes, and nothing in it that was not durable before may be acknowledged.
   *
   * @return bytes of records that were in flight until then
   */
  public long forceDirty() {
    List<Runnable> forces = new ArrayList<>();
    long all = 0;
    synchronized (this) {
      requireOpen();
      for (Segment segment : segments.values()) {
        if (segment.dirty && !segment.poisoned) {
          segment.dirty = false;
          long bytes = segment.unforcedBytes;
          segment.unforcedBytes = 0;
          all += bytes;
          int descriptors = segment.descriptors.size();
          forces.add(() -> force(segment, bytes, descriptors));
        }
      }
    }
    AtomicInteger next = new AtomicInteger();
    Runnable each =
        () -> {
          for (int i = next.getAndIncrement(); i < forces.size(); i = next.getAndIncrement()) {
            forces.get(i).run();
          }
        };
    forcers.run(forces.size() - 1, each, each);
    return all;
  }

  private void force(Segment segment, long bytes, int descriptors) {
    try {
      segment.file.force();
      synchronized (this) {
        segment.forcedDescriptors = descriptors;
        if (segment.sealed && !segment.dirty) {
          closeFile(segment);
        }
      }
    } catch (WaymarkException e) {
      synchronized (this) {
        segment.poisoned = true;
        segment.full = true;
        current.remove(segment.stream, segment);
        placed.removeAll(segment.forgetUnforcedDescriptors());
        landAll(segment);
      }
    } finally {
      synchronized (this) {
        inFlight.landed(bytes);
      }
    }
  }

  /** Whether a segment holds that description, as far as can be known. */
  public synchronized boolean describes(PlacedDescriptor descriptor) {
    Segment segment = segments.get(descriptor.location().segmentId());
    return segment != null && segment.descriptors.contains(descriptor);
  }

  /** Segments that could not be forced. */
  public synchronized Set<Long> poisoned() {
    Set<Long> ids = new HashSet<>();
    for (Segment segment : segments.values()) {
      if (segment.poisoned) {
        ids.add(segment.id);
      }
    }
    return ids;
  }

  /** Whether anything was written that is not yet forced. */
  public synchronized boolean isDirty() {
    return segments.values().stream().anyMatch(segment -> segment.dirty && !segment.poisoned);
  }

  /**
   * Seals every segment that is full and that no run is out of: writes its footer and trims it.
   * Also one in which everything died, where only whole segments come back.
   *
   * @param all also those that are not full, at close
   * @return what was sealed, to be said in the manifest after the next force
   */
  public List<SegmentInfo> sealFull(boolean all) {
    List<SegmentInfo> done = new ArrayList<>();
    synchronized (this) {
      for (Segment segment : segments.values()) {
        if (!segment.sealed
            && !segment.poisoned
            && segment.openRuns == 0
            && (segment.full || all || comesBackOnlyWhole(segment))) {
          try {
            seal(segment);
            done.add(segment.info());
          } catch (WaymarkException e) {
            // No room for its footer now. The others are none the worse for it; it has its turn
            // again at the next commit, and nothing in it rests on the footer.
            continue;
          }
        }
      }
    }
    return done;
  }

  private boolean comesBackOnlyWhole(Segment segment) {
    return !directory.traits().canPunch() && !segment.isNeeded() && segment.deadBytes > 0;
  }

  private void seal(Segment segment) {
    segment.full = true;
    current.remove(segment.stream, segment);
    int records = segment.written.size() / 2;
    for (Extents.Extent last = segment.free.takeLast(segment.claimedEnd);
        last != null;
        last = segment.free.takeLast(segment.claimedEnd)) {
      segment.claimedEnd = last.start();
    }
    long end = segment.claimedEnd;
    long footerEnd = end + footerPages(records);
    allocate(segment, footerEnd, SpaceGate.SEALING);
    UnsafeBuffer footer =
        SegmentFooter.encode(segment.id, segment.claimedEnd, segment.written, records);
    segment.region.put(end, footer, 0, footer.capacity());
    segment.file.setLength(footerEnd);
    gate.refund(segment.allocatedEnd - footerEnd, SpaceGate.ANYONE);
    segment.allocatedEnd = footerEnd;
    segment.claimedEnd = footerEnd;
    segment.framingBytes += footerEnd - end;
    segment.footerOffsetBytes = end;
    segment.freeIsDead();
    segment.sealed = true;
    segment.dirty = true;
    segment.written.clear();
    segment.written.trimToSize();
  }

  // Reading

  /**
   * Maps a segment for reading.
   *
   * @throws CorruptionException if its file is missing or shorter than the manifest says
   */
  public synchronized Lease lease(long segmentId) {
    requireOpen();
    return maps.lease(require(segmentId));
  }

  private static void closeFile(Segment segment) {
    if (segment.file != null) {
      segment.file.close();
      segment.file = null;
    }
  }

  // Reclaim

  /**
   * Punches dead extents out of segments where their death is durable and nobody reads them. The
   * system does so while others write, read and seal; one thread at a time, and not beside {@link
   * #remove}. What cannot be punched stays dead until the next call, and keeps no other from it:
   * {@link #punchFailure} says so.
   *
   * @param durable edits up to this number are durable
   * @return bytes given back
   */
  public long punchDead(long durable) {
    if (!directory.traits().canPunch()) {
      return 0;
    }
    long bytes = 0;
    WaymarkException failure = null;
    for (Segment segment : all()) {
      Extents ready = takeDead(segment, durable);
      if (!ready.isEmpty()) {
        Punched punched = punch(segment, ready);
        bytes += punched.bytes();
        failure = failure == null ? punched.failure() : failure;
      }
    }
    punchFailure = failure;
    return bytes;
  }

  /** Why bytes that may go did not come back when this was tried last; null where all did. */
  public WaymarkException punchFailure() {
    return punchFailure;
  }

  /** What came back of one segment, and why not the rest. */
  private record Punched(long bytes, WaymarkException failure) {}

  private synchronized List<Segment> all() {
    return List.copyOf(segments.values());
  }

  private synchronized Extents takeDead(Segment segment, long durable) {
    return segment.takeDead(durable);
  }

  /** Punches one segment; what could not be punched is dead as before. */
  private Punched punch(Segment segment, Extents ready) {
    long bytes = 0;
    WaymarkException failure = null;
    Deque<Extents.Extent> left = new ArrayDeque<>(ready.list());
    // A descriptor of its own: the segment's may be closed meanwhile, once it is forced.
    try (StoreFile file = directory.open(segment.fileName)) {
      while (!left.isEmpty() && file.punch(left.peek().start(), left.peek().lengthBytes())) {
        bytes += left.poll().lengthBytes();
      }
    } catch (WaymarkException e) {
      failure = e;
    } finally {
      punched(segment, bytes, left);
    }
    return new Punched(bytes, failure);
  }

  private synchronized void punched(Segment segment, long bytes, Collection<Extents.Extent> left) {
    segment.punched(bytes, left);
    gate.refund(bytes, SpaceGate.ANYONE);
  }

  /**
   * Whether any bytes come back as soon as nobody reads them.
   *
   * @param durable edits up to this number are durable
   */
  public synchronized boolean hasReclaimable(long durable) {
    boolean punches = directory.traits().canPunch();
    return segments.values().stream()
        .anyMatch(
            s ->
                punches && s.dead.stream().anyMatch(extent -> extent.diedAt() <= durable)
                    || (s.sealed || s.poisoned) && s.liveRecords == 0);
  }

  /** Segments in which nothing is alive, and whose last death is durable and seen by no reader. */
  public synchronized List<SegmentInfo> unlinkable(long durable) {
    return segments.values().stream()
        .filter(segment -> segment.isUnlinkable(durable))
        .map(Segment::info)
        .toList();
  }

  /** Deletes a segment's file, after the edit that says so is durable. */
  public synchronized void remove(long segmentId) {
    Segment segment = require(segmentId);
    segment.removed = true;
    landAll(segment);
    maps.unmapIfUnwanted(segment);
    closeFile(segment);
    if (directory.exists(segment.fileName)) {
      directory.delete(segment.fileName);
    }
    gate.refund(segment.allocatedBytes(), SpaceGate.ANYONE);
    remove(segment);
    current.remove(segment.stream, segment);
  }

  // Accounts

  /** All segments, in order of id. */
  public synchronized List<SegmentInfo> infos() {
    return segments.values().stream().map(Segment::info).toList();
  }

  /** No record that an edit named ends behind this; records that died since may have. */
  public synchronized long namedEnd(long segmentId) {
    return require(segmentId).namedEnd;
  }

  /** Bytes of segments in which nothing lives, and that are there still. */
  public synchronized long waitingBytes() {
    return segments.values().stream()
        .filter(s -> s.sealed && s.liveRecords == 0)
        .mapToLong(Segment::allocatedBytes)
        .sum();
  }

  /** Whether someone reads through a segment's mapping now. */
  public synchronized boolean isRead(long segmentId) {
    Segment segment = segments.get(segmentId);
    return segment != null && segment.regionUsers > 0;
  }

  /** How many there are. */
  public synchronized int count() {
    return segments.size();
  }

  /** Records that live in a segment; 0 where it is not known. */
  public synchronized long liveRecords(long segmentId) {
    Segment segment = segments.get(segmentId);
    return segment == null ? 0 : segment.liveRecords;
  }

  /** Whether a segment is known. */
  public synchronized boolean has(long segmentId) {
    return segments.containsKey(segmentId);
  }

  /** Files mapped now. */
  public synchronized int mappedCount() {
    return maps.count();
  }

  private void requireOpen() {
    if (closed) {
      throw new ClosedException(ErrorDetail.of("the store was closed").remedy("open it again"));
    }
  }

  private void remove(Segment segment) {
    segments.remove(segment.id);
    recent = null;
  }

  private Segment require(long segmentId) {
    if (recent == null || recent.id != segmentId) {
      recent = segments.get(segmentId);
    }
    if (recent == null) {
      throw new CorruptionException(
          ErrorDetail.of("a segment is named that does not exist").found("id " + segmentId));
    }
    return recent;
  }

  private static DurabilityLostException poisoned(Segment segment) {
    return new DurabilityLostException(
        ErrorDetail.of("a segment could not be forced while a record was written into it")
            .in(segment.fileName)
            .remedy("append the block again; it goes into another segment"));
  }

  /** Closes every file, and unmaps each as soon as nobody uses its map. */
  @Override
  public synchronized void close() {
    closed = true;
    maps.close();
    forcers.close();
    notifyAll();
    List<Runnable> steps = new ArrayList<>();
    for (Segment segment : segments.values()) {
      steps.add(() -> maps.unmapIfUnwanted(segment));
      steps.add(() -> closeFile(segment));
    }
    Closing.all(steps);
  }
}
