package dev.waymark;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.DiskFullException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.NotAStoreException;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.ForestState;
import dev.waymark.internal.io.NoPunching;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.internal.log.FormatVersions;
import dev.waymark.internal.log.Helpers;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.log.SpaceGate;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.ManifestCheckpoint;
import dev.waymark.internal.manifest.ManifestEnd;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.NextIds;
import dev.waymark.internal.manifest.StatusFile;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.internal.publish.Publisher;
import dev.waymark.internal.publish.Salvage;
import dev.waymark.internal.recover.FileOnDisk;
import dev.waymark.internal.recover.Finding;
import dev.waymark.internal.recover.LoadedStore;
import dev.waymark.internal.recover.Recovery;
import dev.waymark.internal.recover.RecoveryPlan;
import dev.waymark.internal.recover.RecoveryPlanner;
import dev.waymark.internal.watch.Watch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens a store: lock, read, plan, force, a manifest to go on with, clean; only then writes. */
final class StoreOpener {
  /** Beside the thread that commits: there are two streams, and what was sealed of each. */
  private static final int FORCERS = 3;

  /**
   * A crash may leave records whose sequences no edit has said: fewer than this, and none of them
   * is given out again.
   */
  private static final long MOST_UNNAMED = 1L << 20;

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotStore.class);

  /** Of what is free, an automatic quota leaves that part to others. */
  private static final int AUTO_LEAVES_PERCENT = 20;

  private final StoreDirectory directory;
  private final StoreOptions options;
  private final LongSupplier clockMillis;
  private final YieldPoints yields;
  private final Watch watch;
  private RecoveryReport report;
  private long readBytes;

  StoreOpener(
      StoreDirectory directory,
      StoreOptions options,
      LongSupplier clockMillis,
      LongSupplier clockNanos,
      YieldPoints yields) {
    this.directory = options.punchHoles() ? directory : new NoPunching(directory);
    this.options = options;
    this.clockMillis = clockMillis;
    this.yields = yields;
    this.watch = new Watch(directory.label(), clockNanos);
  }

  RecoveryReport report() {
    return report;
  }

  StoreEngine open() {
    Watch.Span span = watch.begin(Watch.Kind.RECOVER);
    StoreEngine engine = openTimed();
    span.end(readBytes);
    return engine;
  }

  private StoreEngine openTimed() {
    try {
      if (!options.createIfMissing() && !directory.exists(CurrentFile.NAME)) {
        // Before the lock, whose file would be left in a directory that is no store.
        requireEmpty(Recovery.files(directory));
      }
      if (!directory.exists(CurrentFile.NAME)) {
        // Likewise, and nothing is to be left where there is no room.
        quota();
      }
      directory.lock();
      return openLocked();
    } catch (Throwable e) {
      directory.close();
      throw e;
    }
  }

  private StoreEngine openLocked() {
    long quota = quota();
    List<FileOnDisk> files = Recovery.files(directory);
    boolean create = !directory.exists(CurrentFile.NAME);
    if (create) {
      requireEmpty(files);
    }
    Current current = create ? new Current(StoreId.random(), 0, null) : CurrentFile.read(directory);
    if (!create) {
      requireWritable(current.versions(), CurrentFile.NAME);
    }
    QuotaGate gate = new QuotaGate(quota, SegmentSizing.ofQuota(quota).segmentBytes());
    SegmentSet segments = segments(current.storeId(), gate, quota);
    try {
      return open(gate, files, create, current, segments);
    } catch (Throwable e) {
      segments.close();
      throw e;
    }
  }

  private SegmentSet segments(StoreId storeId, SpaceGate gate, long quotaBytes) {
    return new SegmentSet(
        directory,
        storeId.high(),
        storeId.low(),
        SegmentSizing.ofQuota(quotaBytes),
        gate,
        yields,
        forcers());
  }

  private StoreEngine open(
      QuotaGate gate,
      List<FileOnDisk> files,
      boolean create,
      Current current,
      SegmentSet segments) {
    StoreId storeId = current.storeId();
    LoadedStore loaded =
        create
            ? LoadedStore.empty(segments)
            : LoadedStore.read(
                directory, current, StatusFile.provenBytes(directory, current), segments);
    if (!create) {
      readBytes = loaded.end().validLengthBytes();
      requireWritable(loaded.end().header().versions(), ManifestLog.fileName(current.manifestId()));
    }
    Recovery.requireOwnNames(loaded, current, directory);
    int named = segments.infos().size();
    RecoveryPlan plan =
        RecoveryPlanner.plan(
            loaded,
            files,
            ManifestLog.fileName(current.manifestId()),
            clockMillis.getAsLong(),
            Thinning::recovered);
    yields.reached("recovery planned");
    Recovery.force(plan, directory, yields);
    ManifestLog log = null;
    if (!create && isWhole(current, loaded, plan, named)) {
      log = resumedManifest(loaded);
    }
    if (log == null) {
      long manifestId = nextManifestId(files, current);
      log = freshManifest(manifestId, files, create, current, loaded, plan);
      ManifestCheckpoint.putInForce(directory, storeId, log);
    }
    try {
      return open(gate, create, current, loaded, plan, log);
    } catch (Throwable e) {
      log.close();
      throw e;
    }
  }

  /**
   * Whether the manifest in force, as it is, says all that a fresh one would: then it is gone on
   * with.
   *
   * @param named segments that it names
   */
  private static boolean isWhole(
      Current current, LoadedStore loaded, RecoveryPlan plan, int named) {
    ManifestEnd end = loaded.end();
    return end.closedAtBytes() > 0
        && isClean(loaded, plan)
        && plan.droppedBoundaries() + plan.droppedPoints() == 0
        && loaded.segments().infos().size() == named
        && plan.cuts().stream().allMatch(cut -> isAsSealed(loaded.sealed(cut.segmentId()), cut))
        && !Publisher.isCheckpointDue(
            end.validLengthBytes(), end.checkpointBytes(), loaded.segments().sizing())
        && end.header().versions().equals(FormatVersions.OWN)
        && current.versions().equals(FormatVersions.OWN);
  }

  private static boolean isAsSealed(Edit.SegmentSealed sealed, RecoveryPlan.Cut cut) {
    return sealed != null
        && !cut.shorten()
        && sealed.lengthBytes() == cut.lengthBytes()
        && sealed.footerOffsetBytes() == cut.footerOffsetBytes();
  }

  /** The manifest in force, or null where there is no room to go on with it. */
  private ManifestLog resumedManifest(LoadedStore loaded) {
    try {
      CurrentFile.force(directory);
      return ManifestLog.resume(directory, loaded.end());
    } catch (DiskFullException e) {
      // A fresh one takes less.
      return null;
    }
  }

  private ManifestLog freshManifest(
      long manifestId,
      List<FileOnDisk> files,
      boolean create,
      Current current,
      LoadedStore loaded,
      RecoveryPlan plan) {
    SegmentSet segments = loaded.segments();
    if (!create && !isClean(loaded, plan)) {
      segments.raiseCounters(0, segments.peekSequence() + MOST_UNNAMED);
    }
    NextIds nextIds =
        new NextIds(
            segments.nextSegmentId(),
            loaded.forest().nextSessionId(),
            segments.peekSequence(),
            loaded.forest().nextNamespaceId());
    try {
      return begin(manifestId, current, loaded, plan, nextIds);
    } catch (DiskFullException e) {
      if (create || !trim(current, files)) {
        throw e;
      }
      return begin(manifestId, current, loaded, plan, nextIds);
    }
  }

  private ManifestLog begin(
      long manifestId, Current current, LoadedStore loaded, RecoveryPlan plan, NextIds nextIds) {
    return ManifestCheckpoint.begin(
        directory,
        manifestId,
        current.storeId(),
        clockMillis.getAsLong(),
        state(loaded, plan),
        nextIds);
  }

  /**
   * A process that was killed leaves allocated what its segments would have grown into. The
   * manifest is read once more, since the plan that is being carried out has dropped what it still
   * names.
   */
  private boolean trim(Current current, List<FileOnDisk> files) {
    try (SegmentSet segments = segments(current.storeId(), SpaceGate.OPEN, quota())) {
      LoadedStore loaded =
          LoadedStore.read(
              directory, current, StatusFile.provenBytes(directory, current), segments);
      return Recovery.trim(
          RecoveryPlanner.planTrim(loaded, files, ManifestLog.fileName(current.manifestId())),
          files,
          directory,
          yields);
    }
  }

  private static void requireWritable(FormatVersions versions, String file) {
    if (versions.isReadOnly()) {
      throw new UnsupportedFormatException(
          ErrorDetail.of("the store may only be read by this version")
              .in(file)
              .expected("format version " + FormatVersions.WRITE + " or lower")
              .found(versions.writeVersion())
              .remedy("open it for writing with the version that wrote it"));
    }
  }

  /** What comes after the manifest that is gone on with is in force, and durable. */
  private StoreEngine open(
      QuotaGate gate,
      boolean create,
      Current current,
      LoadedStore loaded,
      RecoveryPlan plan,
      ManifestLog log) {
    StoreId storeId = current.storeId();
    SegmentSet segments = loaded.segments();
    yields.reached("manifest in force");
    Recovery.clean(plan, directory, loaded, yields);
    if (!create && log.manifestId() != current.manifestId()) {
      directory.delete(ManifestLog.fileName(current.manifestId()));
    }
    Scratch.Pool scratches =
        new Scratch.Pool(options.restoreThreads() + Runtime.getRuntime().availableProcessors() + 2);
    Publisher publisher =
        new Publisher(
            directory,
            storeId,
            loaded.forest(),
            segments,
            log,
            log.manifestId() + 1,
            clockMillis,
            yields,
            new Salvage(loaded.forest(), segments, QuotaGate.COPYING),
            watch);
    loaded.numberDeathsBy(publisher::published);
    StoreEngine engine =
        new StoreEngine(
            directory,
            storeId,
            options,
            gate,
            loaded.forest(),
            segments,
            publisher,
            scratches,
            clockMillis,
            Helpers.threads("waymark-restore", options.restoreThreads() - 1),
            StatusFile.open(directory),
            watch);
    try {
      EvictionReport evicted = engine.space.enforceAtOpen();
      report = report(create, loaded, plan, evicted);
      log(report);
      engine.publishStatus();
      return engine;
    } catch (Throwable e) {
      engine.abandon();
      throw e;
    }
  }

  /** A store without a thread of its own is driven step by step: its forces have an order. */
  private Helpers forcers() {
    return options.backgroundThread() ? Helpers.threads("waymark-force", FORCERS) : Helpers.NONE;
  }

  private long quota() {
    if (options.quotaBytes() != StoreOptions.AUTO_QUOTA) {
      return options.quotaBytes();
    }
    long mine = directory.allocatedBytes();
    long free = directory.usableBytes();
    long quota = mine + free / 100 * (100 - AUTO_LEAVES_PERCENT);
    if (quota < StoreOptions.MIN_QUOTA_BYTES) {
      throw new DiskFullException(
          ErrorDetail.of("the file system has too little free space for a store")
              .expected(StoreOptions.MIN_QUOTA_BYTES + " bytes or more")
              .found(quota)
              .remedy("free some space, or name another directory"));
    }
    return quota;
  }

  /** Only what a creation that was cut short leaves may be there. */
  private void requireEmpty(List<FileOnDisk> files) {
    boolean segments =
        files.stream()
            .map(FileOnDisk::name)
            .anyMatch(name -> name.endsWith(".seg") && !name.startsWith("quarantine/"));
    if (segments) {
      throw new CorruptionException(
          ErrorDetail.of("CURRENT is missing, though there are segments")
              .remedy("rebuild the manifest with segtool repair --rebuild-manifest"));
    }
    if (!options.createIfMissing()) {
      throw new NotAStoreException(
          ErrorDetail.of("there is no store in " + directory.label())
              .expected("a directory with CURRENT in it")
              .remedy("check the path"));
    }
  }

  private static long nextManifestId(List<FileOnDisk> files, Current current) {
    long highest = current.manifestId();
    for (FileOnDisk file : files) {
      String name = file.name();
      if (name.startsWith("manifest-") && name.endsWith(".log")) {
        try {
          highest =
              Math.max(
                  highest,
                  Long.parseLong(name, "manifest-".length(), name.length() - ".log".length(), 10));
        } catch (NumberFormatException e) {
          // Not a name that this store gives; the plan leaves it or deletes it.
          continue;
        }
      }
    }
    return highest + 1;
  }

  private static java.util.Iterator<Edit> state(LoadedStore loaded, RecoveryPlan plan) {
    Forest forest = loaded.forest();
    SegmentSet segments = loaded.segments();
    List<Edit> first = new ArrayList<>(ForestState.heads(forest));
    for (SegmentInfo info : segments.infos()) {
      first.add(new Edit.SegmentCreated(info.segmentId(), info.kind(), info.creationSequence()));
      for (SegmentSet.PlacedDescriptor placed : segments.descriptors(info.segmentId())) {
        first.add(new Edit.DescriptorPlaced(placed.namespaceId(), placed.location()));
      }
    }
    for (RecoveryPlan.Cut cut : plan.cuts()) {
      first.add(
          new Edit.SegmentSealed(cut.segmentId(), cut.lengthBytes(), cut.footerOffsetBytes()));
    }
    return Publisher.concat(
        first.iterator(), ForestState.boundaries(forest), ForestState.tails(forest).iterator());
  }

  /** Whether nothing had to be cut, dropped or closed. */
  private static boolean isClean(LoadedStore loaded, RecoveryPlan plan) {
    return tornBytes(loaded) == 0
        && plan.sessionsKept() + plan.sessionsDiscarded() == 0
        && plan.findings().isEmpty()
        && plan.deletes().isEmpty();
  }

  private static long tornBytes(LoadedStore loaded) {
    return loaded.end() == null ? 0 : loaded.end().tailBytes();
  }

  private static RecoveryReport report(
      boolean created, LoadedStore loaded, RecoveryPlan plan, EvictionReport evicted) {
    return new RecoveryReport(
        created,
        isClean(loaded, plan),
        loaded.forest().boundaryCount(),
        loaded.forest().pointCount(),
        tornBytes(loaded),
        plan.sessionsKept(),
        plan.sessionsDiscarded(),
        plan.droppedBoundaries(),
        plan.droppedPoints(),
        plan.deletes(),
        evicted,
        plan.findings().stream().map(Finding::text).toList());
  }

  private void log(RecoveryReport r) {
    if (r.evicted().boundaries() > 0) {
      LOG.info(
          "Brought {} below its quota: {} boundaries and {} points went, {} bytes",
          directory.label(),
          r.evicted().boundaries(),
          r.evicted().points(),
          r.evicted().freedBytes());
    }
    if (r.created()) {
      LOG.info("Made a store in {}", directory.label());
    } else if (!r.cleanlyClosed()) {
      LOG.info(
          "Recovered {}: {} boundaries and {} points are there; {} bytes of unacknowledged edits"
              + " cut, {} sessions kept, {} discarded, {} boundaries and {} points dropped, {}"
              + " files deleted",
          directory.label(),
          r.boundaries(),
          r.points(),
          r.tornManifestBytes(),
          r.sessionsKept(),
          r.sessionsDiscarded(),
          r.droppedBoundaries(),
          r.droppedPoints(),
          r.deletedFiles().size());
      r.findings().forEach(finding -> LOG.warn("Recovered {}: {}", directory.label(), finding));
    }
  }
}
