package dev.waymark.internal.reclaim;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.DiskFullException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.Run;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.log.SpaceGate;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.publish.Publisher;
import dev.waymark.internal.publish.RecordCopier;
import dev.waymark.layout.BoundaryKey;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * Takes everything that lives out of a segment, so that its file can go: copies what is wanted, and
 * drops what is cold.
 *
 * <p>Invariants: a record is copied only after every chunk matched its checksum; its boundary is
 * held meanwhile; the old place stays as it is until the edit that moved it is durable. What is
 * held is never dropped. Stopped half way, everything is where an edit says.
 */
public final class SegmentEmptier implements AutoCloseable {
  /** Records between two commits, so that the manifest does not grow by much uncounted. */
  private static final int STEP_RECORDS = 1_024;

  private final Publisher publisher;
  private final Forest forest;
  private final SegmentSet segments;
  private final RecordCopier copier;
  private final Dropper dropper;
  private final DamageReport damage;
  private final LongConsumer copies;

  /** Drops what is cold, so that nothing is left that no point can resume from. */
  public interface Dropper {
    /** Drops a boundary with all that stands on it, inside {@link Publisher#write}. */
    void dropRows(int node);

    /** Drops the point of a boundary that others stand on, inside {@link Publisher#write}. */
    void dropPoint(int node);
  }

  /** Told of records that are not what was written. */
  public interface DamageReport {
    /** A record cannot be copied, and so not be read. */
    void damaged(
        int namespaceId,
        BoundaryKey key,
        RecordKind kind,
        RecordLocation location,
        CorruptionException cause);
  }

  /** Decides what is worth a copy; asked while the forest does not change. */
  public interface Worth {
    /**
     * Whether a record is copied rather than dropped.
     *
     * @param newestUse when its boundary, or anything that stands on it, was used last
     * @param bytes of the copy
     */
    boolean isCopied(long newestUse, long bytes);
  }

  /**
   * An emptier.
   *
   * @param copies told of whole pages that were copied
   */
  public SegmentEmptier(
      Publisher publisher,
      Forest forest,
      SegmentSet segments,
      Dropper dropper,
      DamageReport damage,
      LongConsumer copies) {
    this.publisher = publisher;
    this.forest = forest;
    this.segments = segments;
    this.copier = new RecordCopier(segments);
    this.dropper = dropper;
    this.damage = damage;
    this.copies = copies;
  }

  /** What lived in a segment when this was asked, to be taken out of it. */
  public Emptying begin(long segmentId, SpaceGate.Payer payer) {
    return new Emptying(publisher.read(() -> SegmentContents.of(forest, segmentId)), payer);
  }

  /** One segment that is being emptied. Between two steps nothing of it is held. */
  public final class Emptying {
    private final List<SegmentContents.Live> contents;
    private final SpaceGate.Payer payer;
    private int done;
    private long copiedBytes;

    private Emptying(List<SegmentContents.Live> contents, SpaceGate.Payer payer) {
      this.contents = contents;
      this.payer = payer;
    }

    /** Whole pages that were copied so far. */
    public long copiedBytes() {
      return copiedBytes;
    }

    /** Whether all that lived there was looked at. */
    public boolean isDone() {
      return done == contents.size();
    }

    /**
     * Goes on.
     *
     * @param stop asked before every record
     */
    public void proceed(Worth worth, BooleanSupplier stop) {
      Run rows = new Run(SegmentKind.APPEND, Run.Heat.SURVIVED, payer);
      Run points = new Run(SegmentKind.DELTA, Run.Heat.SURVIVED, payer);
      try {
        while (!isDone() && !stop.getAsBoolean()) {
          SegmentContents.Live live = contents.get(done);
          Wanted wanted = publisher.write(() -> dropOrHold(live, worth));
          if (wanted != null) {
            copiedBytes += move(wanted, live.kind() == RecordKind.APPEND ? rows : points);
          }
          if (++done % STEP_RECORDS == 0) {
            publisher.commit();
          }
        }
      } finally {
        segments.release(rows);
        segments.release(points);
      }
    }
  }

  /** Gives its buffers back. */
  @Override
  public void close() {
    copier.close();
  }

  /** A record that is to be copied, its boundary held. */
  private record Wanted(SegmentContents.Live live, NamespaceState namespace, Forest.Hold hold) {}

  /**
   * Drops what is not worth a copy; holds the boundary of what is; null where nothing is to be
   * copied.
   */
  private Wanted dropOrHold(SegmentContents.Live live, Worth worth) {
    int node = nodeOf(live);
    if (node == Forest.NONE) {
      return null;
    }
    boolean mayDrop = !forest.isHeldOrKeptAtOrBelow(node);
    if (mayDrop && !worth.isCopied(newestUse(live, node), live.location().lengthBytes())) {
      if (live.kind() == RecordKind.APPEND || forest.firstChild(node) == Forest.NONE) {
        dropper.dropRows(node);
        return null;
      }
      dropper.dropPoint(node);
      if (nodeOf(live) == Forest.NONE) {
        return null;
      }
    }
    return new Wanted(live, forest.namespaceOf(node), forest.hold(node));
  }

  /** As it was when all were looked at, or later where the boundary itself was used since. */
  private long newestUse(SegmentContents.Live live, int node) {
    return Math.max(live.newestUse(), forest.recency(node));
  }

  /** The boundary of a record, if it still stands where it was seen. */
  private int nodeOf(SegmentContents.Live live) {
    int node = forest.find(live.namespaceId(), live.key());
    RecordLocation at = live.location();
    return forest.recordAt(node, live.kind(), at.segmentId(), at.offsetBytes()) == null
        ? Forest.NONE
        : node;
  }

  /** Copies one record; returns what that wrote. */
  private long move(Wanted wanted, Run run) {
    SegmentContents.Live live = wanted.live();
    Forest.Hold hold = wanted.hold();
    try {
      RecordLocation to = copier.copy(live.location(), wanted.namespace(), run);
      copies.accept(Alignment.toPage(to.lengthBytes()));
      publisher.write(
          () -> {
            if (!hold.isValid() || nodeOf(live) == Forest.NONE) {
              segments.stillborn(to, publisher.published());
              return null;
            }
            try {
              publisher.publish(
                  new Edit.RecordMoved(
                      live.namespaceId(),
                      live.key(),
                      live.kind(),
                      live.location().segmentId(),
                      live.location().offsetBytes(),
                      to.segmentId(),
                      to.offsetBytes()));
            } catch (DiskFullException e) {
              segments.stillborn(to, publisher.published());
              throw e;
            }
            publisher.addUnforced(to.lengthBytes());
            return null;
          });
      return Alignment.toPage(to.lengthBytes());
    } catch (CorruptionException e) {
      damage.damaged(live.namespaceId(), live.key(), live.kind(), live.location(), e);
      return 0;
    } finally {
      publisher.write(
          () -> {
            forest.release(hold);
            return null;
          });
    }
  }
}
