package dev.waymark.internal.recover;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.RecordEvents;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.EditSink;
import dev.waymark.internal.manifest.ManifestEnd;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.ManifestReader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * What a manifest's edits add up to: the forest and the segments. Reads the manifest alone, so that
 * it costs as much as that, whatever the store holds.
 */
public final class LoadedStore {
  private final Forest forest;
  private final SegmentSet segments;
  private final Map<Long, Edit.SegmentSealed> sealed = new HashMap<>();
  private final Long2ObjectHashMap<SegmentKind> kinds = new Long2ObjectHashMap<>();
  private long leastSegmentId = 1;
  private final Set<Long> changedSinceCheckpoint = new TreeSet<>();
  private LongSupplier editNumber = () -> 0;
  private final RecentDrops drops = new RecentDrops();

  /** The segment of the record before: records come by the thousand that stand in the same one. */
  private long recentId;

  private SegmentKind recentKind;
  private boolean recentlyChanged;
  private long nextSequence;
  private boolean checkpointRead;
  private ManifestEnd end;

  private LoadedStore(SegmentSet segments) {
    this.segments = segments;
    this.forest =
        new Forest(
            new RecordEvents() {
              @Override
              public void check(RecordLocation location) {
                segments.check(location);
              }

              @Override
              public void born(RecordLocation location) {
                segments.born(location);
              }

              @Override
              public void died(RecordLocation location, BooleanSupplier isRead) {
                segments.died(location, editNumber.getAsLong(), isRead);
              }
            });
  }

  /**
   * Reads the manifest that CURRENT names.
   *
   * @param provenBytes how much of it is known to have been durable, or 0
   * @param segments filled with the segments that it names
   */
  public static LoadedStore read(
      StoreDirectory directory, Current current, long provenBytes, SegmentSet segments) {
    LoadedStore loaded = new LoadedStore(segments);
    String name = ManifestLog.fileName(current.manifestId());
    if (!directory.exists(name)) {
      throw new CorruptionException(
          ErrorDetail.of("the manifest that CURRENT names is missing")
              .in(name)
              .remedy("rebuild it from the records with segtool repair --rebuild-manifest"));
    }
    try (StoreFile file = directory.openReadOnly(name)) {
      loaded.end =
          ManifestReader.read(
              file, current.manifestId(), current.storeId(), provenBytes, loaded.sink());
    }
    segments.raiseCounters(0, loaded.nextSequence);
    return loaded;
  }

  /** Reads the first bytes of a manifest that another process writes. */
  public static LoadedStore readPrefix(
      StoreDirectory directory, Current current, long prefixBytes, SegmentSet segments) {
    LoadedStore loaded = new LoadedStore(segments);
    try (StoreFile file = directory.openReadOnly(ManifestLog.fileName(current.manifestId()))) {
      loaded.end =
          ManifestReader.readPrefix(
              file, current.manifestId(), current.storeId(), prefixBytes, loaded.sink());
    }
    segments.raiseCounters(0, loaded.nextSequence);
    return loaded;
  }

  /** An empty state, of a store that is being made. */
  public static LoadedStore empty(SegmentSet segments) {
    return new LoadedStore(segments);
  }

  private EditSink sink() {
    return new EditSink() {
      @Override
      public void foresee(List<Edit> coming) {
        forest.foresee(coming);
      }

      @Override
      public void take(Edit edit) {
        apply(edit);
      }
    };
  }

  /** Takes one edit; whatever contradicts those before is damage. */
  private void apply(Edit edit) {
    if (edit instanceof Edit.SegmentCreated e) {
      require(!segments.has(e.segmentId()), "a segment is created twice");
      require(e.segmentId() >= leastSegmentId, "a segment takes an id that was used before");
      segments.restore(e.segmentId(), e.kind(), e.creationSequence());
      kinds.put(e.segmentId(), e.kind());
      recentId = 0;
      changed(e.segmentId());
    } else if (edit instanceof Edit.DescriptorPlaced e) {
      segments.restoreDescriptor(e.namespaceId(), e.location());
      changed(e.location().segmentId());
    } else if (edit instanceof Edit.SegmentSealed e) {
      if (segments.has(e.segmentId())) {
        Edit.SegmentSealed before = sealed.put(e.segmentId(), e);
        require(before == null || before.equals(e), "a segment is sealed twice, and otherwise");
        changed(e.segmentId());
      }
    } else if (edit instanceof Edit.SegmentRemoved e) {
      require(segments.liveRecords(e.segmentId()) == 0, "a segment with live records is removed");
      segments.forget(e.segmentId());
      kinds.remove(e.segmentId());
      recentId = 0;
      sealed.remove(e.segmentId());
      changedSinceCheckpoint.remove(e.segmentId());
    } else {
      forest.apply(edit);
      drops.note(edit);
      note(edit);
    }
  }

  private void note(Edit edit) {
    if (edit instanceof Edit.CheckpointEnd e) {
      segments.raiseCounters(e.nextSegmentId(), e.nextSequence());
      leastSegmentId = e.nextSegmentId();
      checkpointRead = true;
    } else if (edit instanceof Edit.RowsAdded e) {
      changed(e.records(), SegmentKind.APPEND);
      sequenceRead(e.sequence());
    } else if (edit instanceof Edit.PointAdded e) {
      changed(e.deltas(), SegmentKind.DELTA);
      changed(e.states(), SegmentKind.DELTA);
      sequenceRead(e.sequence());
    } else if (edit instanceof Edit.RecordMoved e) {
      requireKind(e.toSegmentId(), e.kind().segmentKind());
      changed(e.toSegmentId());
    } else if (edit instanceof Edit.Touched e) {
      e.touches().forEach(touch -> sequenceRead(touch.sequence()));
    }
  }

  private void sequenceRead(long sequence) {
    nextSequence = Math.max(nextSequence, sequence + 1);
  }

  private void changed(List<RecordLocation> records, SegmentKind kind) {
    for (int i = 0; i < records.size(); i++) {
      long segmentId = records.get(i).segmentId();
      requireKind(segmentId, kind);
      changed(segmentId);
    }
  }

  private void requireKind(long segmentId, SegmentKind kind) {
    if (segmentId != recentId) {
      recentId = segmentId;
      recentKind = kinds.get(segmentId);
      recentlyChanged = false;
    }
    require(recentKind == kind, "a record is placed in a segment of another kind");
  }

  private static void require(boolean holds, String contradiction) {
    if (!holds) {
      throw new CorruptionException(
          ErrorDetail.of("the manifest contradicts itself: " + contradiction)
              .remedy("rebuild it from the records with segtool repair"));
    }
  }

  private void changed(long segmentId) {
    if (checkpointRead && !(recentlyChanged && segmentId == recentId)) {
      changedSinceCheckpoint.add(segmentId);
      recentlyChanged = segmentId == recentId;
    }
  }

  /** From now on records die by the edit of that number. */
  public void numberDeathsBy(LongSupplier number) {
    editNumber = number;
  }

  /** The boundaries. */
  public Forest forest() {
    return forest;
  }

  /** The segments. */
  public SegmentSet segments() {
    return segments;
  }

  /** What edits dropped since the checkpoint, which no longer says it. */
  public RecentDrops drops() {
    return drops;
  }

  /** Where the manifest's content ended; null for a store that is being made. */
  public ManifestEnd end() {
    return end;
  }

  /** What the manifest says of a segment's end, or null where it was not sealed. */
  public Edit.SegmentSealed sealed(long segmentId) {
    return sealed.get(segmentId);
  }

  /** Segments that edits after the checkpoint name: they may be only in the page cache. */
  public Set<Long> changedSinceCheckpoint() {
    return changedSinceCheckpoint;
  }
}
