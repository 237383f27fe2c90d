package dev.waymark.internal.recover;

import dev.waymark.internal.forest.Drops;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.OpenSession;
import dev.waymark.internal.forest.RecordVisitor;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.SessionOutcome;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.BoundaryKey;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.agrona.collections.Long2LongHashMap;

/**
 * Decides what opening a store does. Looks at nothing but the loaded state and the list of files;
 * the same input gives the same plan, and what is left after its execution gives an empty one.
 */
public final class RecoveryPlanner {
  private final LoadedStore loaded;
  private final Forest forest;
  private final Map<String, FileOnDisk> files = new HashMap<>();
  private final long nowMillis;
  private final Thinner thinner;
  private final List<Finding> findings = new ArrayList<>();
  private int droppedBoundaries;
  private int droppedPoints;

  /** Thins a chain to its policy; given by who knows the policies. */
  public interface Thinner {
    /** Thins the chain of a session's deepest boundary, edit by edit. */
    void thin(Forest forest, int tip, OpenSession session, Consumer<Edit> apply);
  }

  private RecoveryPlanner(
      LoadedStore loaded, List<FileOnDisk> files, long nowMillis, Thinner thinner) {
    this.loaded = loaded;
    this.forest = loaded.forest();
    this.nowMillis = nowMillis;
    this.thinner = thinner;
    files.forEach(file -> this.files.put(file.name(), file));
  }

  /**
   * Plans.
   *
   * @param manifestName the manifest in force, which is replaced
   */
  public static RecoveryPlan plan(
      LoadedStore loaded,
      List<FileOnDisk> files,
      String manifestName,
      long nowMillis,
      Thinner thinner) {
    return new RecoveryPlanner(loaded, files, nowMillis, thinner).plan(manifestName);
  }

  private RecoveryPlan plan(String manifestName) {
    dropDamaged();
    int kept = 0;
    int discarded = 0;
    // The newest first: it may stand on what an older one takes back.
    List<OpenSession> sessions = new ArrayList<>(forest.sessions());
    Collections.reverse(sessions);
    for (OpenSession session : sessions) {
      if (session.opened().abortMode() == AbortMode.DISCARD) {
        discard(session);
        discarded++;
      } else {
        keep(session);
        kept++;
      }
    }
    return files(manifestName, kept, discarded);
  }

  /**
   * Plans only what may go while the manifest stays in force: what it does not name, live or not.
   *
   * @param loaded as it was read; it is used up
   */
  public static RecoveryPlan planTrim(
      LoadedStore loaded, List<FileOnDisk> files, String manifestName) {
    return new RecoveryPlanner(loaded, files, 0, null).files(manifestName, 0, 0);
  }

  private RecoveryPlan files(String manifestName, int kept, int discarded) {
    List<RecoveryPlan.Cut> cuts = new ArrayList<>();
    Set<String> named = new HashSet<>();
    named.add("LOCK");
    named.add("CURRENT");
    named.add("STATUS");
    named.add(manifestName);
    Map<Long, BitSet> livePages = livePages();
    for (SegmentInfo info : loaded.segments().infos()) {
      if (info.liveRecords() == 0) {
        loaded.segments().forget(info.segmentId());
        continue;
      }
      named.add(info.fileName());
      if (files.containsKey(info.fileName())) {
        cuts.add(cut(info, livePages.get(info.segmentId())));
      }
    }
    List<String> force = new ArrayList<>();
    for (RecoveryPlan.Cut cut : cuts) {
      if (loaded.changedSinceCheckpoint().contains(cut.segmentId())) {
        force.add(cut.fileName());
      }
    }
    List<String> deletes =
        files.keySet().stream()
            .filter(name -> !named.contains(name) && isOurs(name))
            .sorted()
            .toList();
    return new RecoveryPlan(
        force,
        cuts,
        deletes,
        List.copyOf(findings),
        kept,
        discarded,
        droppedBoundaries,
        droppedPoints);
  }

  /** What was set aside has a prefix and stays. */
  private static boolean isOurs(String name) {
    return (name.endsWith(".seg") && !name.startsWith("quarantine/"))
        || (name.startsWith("manifest-") && name.endsWith(".log"))
        || name.equals("CURRENT.tmp")
        || name.equals("probe.tmp");
  }

  /** What stands in a file that is missing or too short is lost, and what needs it. */
  private void dropDamaged() {
    ShortSegments cut = new ShortSegments();
    List<Integer> damagedRows = new ArrayList<>();
    List<Integer> damagedPoints = new ArrayList<>();
    forest.forEachBoundary(
        node -> {
          if (cut.hold(node, RecordKind.APPEND)) {
            damagedRows.add(node);
          } else if (cut.hold(node, RecordKind.DELTA) || cut.hold(node, RecordKind.STATE)) {
            damagedPoints.add(node);
          }
        });
    Drops drops = new Drops(forest);
    for (int node : damagedPoints) {
      lost(node, "a restore point");
      if (cut.hold(node, RecordKind.DELTA)) {
        drops.lostPoint(node, DropReason.DAMAGED, this::apply);
      } else if (forest.isPoint(node)) {
        drops.lostState(node, DropReason.DAMAGED, this::apply);
      }
    }
    // Shallow ones first: what stands on them goes along.
    damagedRows.sort(Comparator.comparingInt(forest::tokens));
    List<BoundaryKey> keys = damagedRows.stream().map(forest::key).toList();
    List<Integer> namespaceIds =
        damagedRows.stream().map(node -> forest.namespaceOf(node).id()).toList();
    for (int i = 0; i < keys.size(); i++) {
      int node = forest.find(namespaceIds.get(i), keys.get(i));
      if (node != Forest.NONE) {
        lost(node, "a boundary, and what stands on it,");
        drops.subtree(node, DropReason.DAMAGED).forEach(this::apply);
      }
    }
  }

  private void lost(int node, String what) {
    findings.add(
        new Finding(
            "SEGMENT_SHORT",
            Finding.Severity.ERROR,
            "",
            -1,
            what
                + " at "
                + forest.tokens(node)
                + " tokens ("
                + forest.key(node).abbreviated()
                + ") is lost: its segment is missing or cut short"));
  }

  /** What their files do not hold of the segments, whole or in part. */
  private final class ShortSegments implements RecordVisitor {
    private final Long2LongHashMap ends = new Long2LongHashMap(-1);
    private long recentId;
    private long recentEnd;
    private boolean found;

    ShortSegments() {
      for (SegmentInfo info : loaded.segments().infos()) {
        FileOnDisk file = files.get(info.fileName());
        ends.put(info.segmentId(), file == null ? 0 : file.lengthBytes());
      }
    }

    boolean hold(int node, RecordKind kind) {
      found = false;
      forest.forEachRecord(node, kind, this);
      return found;
    }

    @Override
    public void visit(long segmentId, long offsetBytes, long lengthBytes) {
      if (segmentId != recentId) {
        recentId = segmentId;
        recentEnd = ends.get(segmentId);
      }
      found |= offsetBytes + lengthBytes > recentEnd;
    }
  }

  private void discard(OpenSession session) {
    discardEdits(forest, session, DropReason.DISCARDED, Integer.MAX_VALUE, this::apply);
    apply(new Edit.SessionClosed(session.id(), SessionOutcome.DISCARDED, nowMillis));
  }

  private void keep(OpenSession session) {
    int[] nodes = session.boundaries();
    if (nodes.length > 0) {
      thinner.thin(forest, nodes[nodes.length - 1], session, this::apply);
    }
    apply(new Edit.SessionClosed(session.id(), SessionOutcome.KEPT, nowMillis));
  }

  /**
   * Takes back what only a session uses: its points first, then its boundaries from the deepest up,
   * except what others hold, use or stand on. Called again, it goes on where it stopped.
   *
   * @param enough edits after which it stops before the next boundary
   * @param apply applies one edit before the next is asked for
   * @return whether nothing is left to take back
   */
  public static boolean discardEdits(
      Forest forest, OpenSession session, DropReason reason, int enough, Consumer<Edit> apply) {
    Drops drops = new Drops(forest);
    int edits = 0;
    int[] points = session.points();
    for (int i = points.length - 1; i >= 0; i--) {
      int node = points[i];
      if (forest.isPoint(node)
          && !forest.isHeld(node)
          && !isShared(forest, node, session)
          && !forest.mayBeTakenBack(node, session.id())) {
        if (edits >= enough) {
          return false;
        }
        apply.accept(drops.point(node, reason));
        List<Edit> stale = drops.staleDeltas(node, reason);
        stale.forEach(apply);
        edits += 1 + stale.size();
      }
    }
    int[] nodes = session.boundaries();
    for (int i = nodes.length - 1; i >= 0; i--) {
      int node = nodes[i];
      if (forest.firstChild(node) == Forest.NONE
          && !forest.isPoint(node)
          && !forest.isHeld(node)
          && !isShared(forest, node, session)) {
        if (edits >= enough) {
          return false;
        }
        if (forest.hasDelta(node)) {
          apply.accept(drops.point(node, reason));
          edits++;
        }
        apply.accept(drops.rows(node, reason));
        edits++;
      }
    }
    return true;
  }

  private static boolean isShared(Forest forest, int node, OpenSession session) {
    Set<OpenSession> users = forest.users(node);
    return users.size() > 1 || (users.size() == 1 && !users.contains(session));
  }

  private void apply(Edit edit) {
    if (edit instanceof Edit.RowsDropped) {
      droppedBoundaries++;
    } else if (edit instanceof Edit.PointDropped) {
      droppedPoints++;
    }
    forest.apply(edit);
  }

  /** Which pages of each segment's file hold what an edit names. */
  private Map<Long, BitSet> livePages() {
    LivePages live = new LivePages();
    for (SegmentInfo info : loaded.segments().infos()) {
      for (SegmentSet.PlacedDescriptor placed : loaded.segments().descriptors(info.segmentId())) {
        RecordLocation at = placed.location();
        live.visit(at.segmentId(), at.offsetBytes(), at.lengthBytes());
      }
    }
    forest.forEachRecord(live);
    return live.bySegment;
  }

  /** Beyond its file's end, where damage may claim anything, a segment has no pages. */
  private final class LivePages implements RecordVisitor {
    private final Map<Long, BitSet> bySegment = new HashMap<>();
    private final Map<Long, Long> filePages = new HashMap<>();
    private long recentId;
    private BitSet recent;
    private long recentFilePages;

    LivePages() {
      for (SegmentInfo info : loaded.segments().infos()) {
        FileOnDisk file = files.get(info.fileName());
        bySegment.put(info.segmentId(), new BitSet());
        filePages.put(info.segmentId(), file == null ? 0 : pages(file.lengthBytes()));
      }
    }

    @Override
    public void visit(long segmentId, long offsetBytes, long lengthBytes) {
      if (segmentId != recentId) {
        recentId = segmentId;
        recent = bySegment.get(segmentId);
        recentFilePages = filePages.get(segmentId);
      }
      long from = offsetBytes / Alignment.PAGE_BYTES;
      long to = Math.min(recentFilePages, pages(offsetBytes + lengthBytes));
      if (from < to) {
        recent.set(Math.toIntExact(from), Math.toIntExact(to));
      }
    }
  }

  private static long pages(long bytes) {
    return Alignment.toPage(bytes) / Alignment.PAGE_BYTES;
  }

  private RecoveryPlan.Cut cut(SegmentInfo info, BitSet live) {
    FileOnDisk file = files.get(info.fileName());
    Edit.SegmentSealed seal = loaded.sealed(info.segmentId());
    long length = bytes(Math.max(1, live.length()));
    long footer = 0;
    long occupied = Alignment.PAGE_BYTES + bytes(live.cardinality());
    if (seal != null && seal.lengthBytes() <= file.lengthBytes()) {
      length = seal.lengthBytes();
      footer = seal.footerOffsetBytes();
      occupied += footer > 0 ? length - footer : 0;
    }
    List<long[]> gaps = new ArrayList<>();
    long end = footer > 0 ? footer : length;
    // The first page is the header.
    for (int at = live.nextClearBit(1); bytes(at) < end; at = live.nextClearBit(at)) {
      int next = live.nextSetBit(at);
      gaps.add(new long[] {bytes(at), next < 0 ? end : bytes(next)});
      at = next < 0 ? (int) (Alignment.toPage(end) / Alignment.PAGE_BYTES) : next;
    }
    return new RecoveryPlan.Cut(
        info.segmentId(),
        info.fileName(),
        length,
        footer,
        file.lengthBytes() != length,
        gaps,
        !gaps.isEmpty() && file.allocatedBytes() > occupied);
  }

  private static long bytes(int pages) {
    return (long) pages * Alignment.PAGE_BYTES;
  }
}
