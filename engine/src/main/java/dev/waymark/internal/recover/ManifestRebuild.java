package dev.waymark.internal.recover;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.ForestState;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.forest.RecordEvents;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.ManifestCheckpoint;
import dev.waymark.internal.manifest.NextIds;
import dev.waymark.internal.manifest.StatusFile;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.layout.BoundaryKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * Builds a manifest from the records alone, for a store that lost it. Looks first, and changes
 * nothing until told to; what it replaces goes to the quarantine.
 *
 * <p>Records do not say that they were dropped: what was dropped and not yet overwritten comes
 * back. It is right, since each record is verified and names its boundary, but it may not be
 * wanted.
 */
public final class ManifestRebuild {
  private static final String QUARANTINE = "quarantine/";

  private final StoreDirectory directory;
  private final List<Finding> findings = new ArrayList<>();
  private final List<SegmentScan> scans = new ArrayList<>();
  private final Map<Contribution, Pieces> contributions = new HashMap<>();
  private final Forest forest =
      new Forest(
          new RecordEvents() {
            @Override
            public void check(RecordLocation location) {}

            @Override
            public void born(RecordLocation location) {}

            @Override
            public void died(RecordLocation location, BooleanSupplier isRead) {}
          });
  private StoreId storeId;
  private long nextSequence = 1;

  private record Contribution(int namespaceId, BoundaryKey key, RecordKind kind) {}

  /** The newest verified record of each piece. */
  private static final class Pieces {
    private final RecordHeader[] headers;

    Pieces(int count) {
      headers = new RecordHeader[count];
    }

    void add(RecordHeader header) {
      RecordHeader before = headers[header.pieceIndex()];
      if (before == null || before.sequence() < header.sequence()) {
        headers[header.pieceIndex()] = header;
      }
    }

    boolean isWhole() {
      for (RecordHeader header : headers) {
        if (header == null) {
          return false;
        }
      }
      return true;
    }

    List<RecordLocation> locations() {
      List<RecordLocation> list = new ArrayList<>();
      for (RecordHeader header : headers) {
        list.add(header.location());
      }
      return list;
    }
  }

  private ManifestRebuild(StoreDirectory directory) {
    this.directory = directory;
  }

  /** Reads all segments of a directory, verifies every record, and puts together what they say. */
  public static ManifestRebuild look(StoreDirectory directory) {
    ManifestRebuild rebuild = new ManifestRebuild(directory);
    rebuild.scan();
    rebuild.namespaces();
    rebuild.verify();
    rebuild.boundaries();
    rebuild.points();
    return rebuild;
  }

  private void scan() {
    for (String name : directory.list()) {
      if (name.endsWith(".seg") && !name.startsWith(QUARANTINE)) {
        SegmentScan scan = SegmentScan.of(directory, name, findings);
        if (scan != null) {
          scans.add(scan);
        }
      }
    }
    for (SegmentScan scan : scans) {
      if (storeId == null) {
        storeId = scan.storeId();
      } else if (!storeId.equals(scan.storeId())) {
        throw new CorruptionException(
            ErrorDetail.of("the directory holds segments of two stores")
                .in(scan.fileName())
                .expected("store " + storeId)
                .found("store " + scan.storeId())
                .remedy("move those of the other store away"));
      }
    }
  }

  private void namespaces() {
    TreeMap<Integer, SegmentScan.Placed> byId = new TreeMap<>();
    for (SegmentScan scan : scans) {
      for (SegmentScan.Placed placed : scan.descriptors()) {
        byId.putIfAbsent(placed.descriptor().namespaceId(), placed);
      }
    }
    byId.forEach(
        (id, placed) ->
            forest.apply(
                new Edit.NamespaceAdded(
                    id,
                    placed.descriptor().fingerprint(),
                    placed.descriptor().identity(),
                    placed.descriptor().layout(),
                    placed.descriptor().codecs())));
  }

  private void verify() {
    Scratch.Pool scratches = new Scratch.Pool(1);
    for (SegmentScan scan : scans) {
      try (StoreFile file = directory.openReadOnly(scan.fileName());
          MappedRegion region = file.map(scan.lengthBytes(), false);
          Scratch scratch = scratches.take()) {
        RecordReader reader = new RecordReader(region, scan.fileName(), scratch);
        for (RecordLocation location : scan.records()) {
          verify(reader, location, scan.fileName());
        }
      }
    }
  }

  private void verify(RecordReader reader, RecordLocation location, String fileName) {
    try {
      int namespaceId = reader.namespaceOf(location);
      NamespaceState namespace = forest.namespace(namespaceId);
      if (namespace == null) {
        find(
            Finding.Severity.ERROR,
            "NAMESPACE_UNKNOWN",
            fileName,
            location.offsetBytes(),
            "no segment describes namespace " + namespaceId + "; its records cannot be read");
        return;
      }
      RecordHeader header = reader.header(location, namespace.layout());
      reader.verify(header);
      contributions
          .computeIfAbsent(
              new Contribution(namespaceId, header.key(), header.kind()),
              c -> new Pieces(header.pieceCount()))
          .add(header);
      nextSequence = Math.max(nextSequence, header.sequence() + 1);
    } catch (CorruptionException e) {
      find(
          Finding.Severity.ERROR,
          "RECORD_DAMAGED",
          fileName,
          location.offsetBytes(),
          e.detail().sentence());
    }
  }

  private void boundaries() {
    List<Pieces> rows = new ArrayList<>();
    contributions.forEach(
        (contribution, pieces) -> {
          if (contribution.kind() == RecordKind.APPEND && isWhole(contribution, pieces)) {
            rows.add(pieces);
          }
        });
    rows.sort(Comparator.comparingLong(pieces -> pieces.headers[0].tokenFrom()));
    for (Pieces pieces : rows) {
      RecordHeader header = pieces.headers[0];
      int parent = forest.find(header.namespaceId(), header.parentKey());
      if (header.tokenFrom() > 0
          && (parent == Forest.NONE || forest.tokens(parent) != header.tokenFrom())) {
        find(
            Finding.Severity.WARNING,
            "BOUNDARY_WITHOUT_PARENT",
            "",
            -1,
            "a boundary at " + header.tokenTo() + " tokens is left out: its parent is not there");
        continue;
      }
      forest.apply(
          new Edit.RowsAdded(
              header.namespaceId(),
              header.key(),
              header.parentKey(),
              0,
              header.tokenFrom(),
              header.tokenTo(),
              header.sequence(),
              0,
              0,
              pieces.locations()));
    }
  }

  private boolean isWhole(Contribution contribution, Pieces pieces) {
    if (pieces.isWhole()) {
      return true;
    }
    find(
        Finding.Severity.WARNING,
        "PIECE_MISSING",
        "",
        -1,
        "a piece of the "
            + contribution.kind()
            + " of "
            + contribution.key().abbreviated()
            + " is not there");
    return false;
  }

  private void points() {
    List<Integer> nodes = new ArrayList<>();
    forest.forEachBoundary(nodes::add);
    nodes.sort(Comparator.comparingInt(forest::tokens));
    for (int node : nodes) {
      addPoint(node);
    }
    for (int node : nodes) {
      if (forest.isPoint(node) && !forest.isWindowCovered(node)) {
        find(
            Finding.Severity.WARNING,
            "POINT_WITHOUT_WINDOW",
            "",
            -1,
            "the point at " + forest.tokens(node) + " tokens is left out: its window has a gap");
        dropPoint(node);
      }
    }
  }

  private void addPoint(int node) {
    NamespaceState namespace = forest.namespaceOf(node);
    BoundaryKey key = forest.key(node);
    Pieces delta = whole(new Contribution(namespace.id(), key, RecordKind.DELTA));
    Pieces state = whole(new Contribution(namespace.id(), key, RecordKind.STATE));
    if (delta == null && state == null) {
      return;
    }
    RecordHeader newest = state != null ? state.headers[0] : delta.headers[0];
    forest.apply(
        new Edit.PointAdded(
            namespace.id(),
            key,
            0,
            delta == null ? forest.tokens(node) : delta.headers[0].coveredFrom(),
            newest.sequence(),
            0,
            0,
            0,
            delta == null ? List.of() : delta.locations(),
            state == null ? List.of() : state.locations()));
    if (state == null && namespace.layout().hasFixed()) {
      dropPoint(node);
    }
  }

  private Pieces whole(Contribution contribution) {
    Pieces pieces = contributions.get(contribution);
    return pieces != null && isWhole(contribution, pieces) ? pieces : null;
  }

  /** The delta stays where there is one: points below may need it. */
  private void dropPoint(int node) {
    forest.apply(
        new Edit.PointDropped(
            forest.namespaceOf(node).id(), forest.key(node), DropReason.DAMAGED, false));
  }

  /** What was noticed. */
  public List<Finding> findings() {
    return List.copyOf(findings);
  }

  /** The boundaries and points that would be there. */
  public Forest forest() {
    return forest;
  }

  /** Segments that can be used. */
  public int segmentCount() {
    return scans.size();
  }

  /**
   * Writes the manifest and makes it the one in force. The caller has the directory's lock.
   *
   * @throws CorruptionException if there is no segment to build from
   */
  public void apply(long nowMillis) {
    if (storeId == null) {
      throw new CorruptionException(
          ErrorDetail.of("no segment with a usable header was found")
              .in(directory.label())
              .remedy("there is nothing to rebuild from; start a new store"));
    }
    long manifestId = 1;
    for (String name : directory.list()) {
      boolean manifest = name.startsWith("manifest-") && name.endsWith(".log");
      if (manifest) {
        manifestId = Math.max(manifestId, idOf(name) + 1);
      }
      if (manifest || name.equals(CurrentFile.NAME) || name.equals(StatusFile.NAME)) {
        directory.rename(name, QUARANTINE + name);
      }
    }
    directory.force();
    ManifestCheckpoint.write(directory, manifestId, storeId, nowMillis, state(), nextIds()).close();
  }

  private static long idOf(String name) {
    try {
      return Long.parseLong(name, "manifest-".length(), name.length() - ".log".length(), 10);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private NextIds nextIds() {
    long nextSegment = 1;
    for (SegmentScan scan : scans) {
      nextSegment = Math.max(nextSegment, scan.segmentId() + 1);
      nextSequence = Math.max(nextSequence, scan.creationSequence() + 1);
    }
    return new NextIds(nextSegment, 1, nextSequence, forest.nextNamespaceId());
  }

  private Iterator<Edit> state() {
    List<Edit> edits = new ArrayList<>(ForestState.heads(forest));
    for (SegmentScan scan : scans) {
      edits.add(new Edit.SegmentCreated(scan.segmentId(), scan.kind(), scan.creationSequence()));
      for (SegmentScan.Placed placed : scan.descriptors()) {
        edits.add(new Edit.DescriptorPlaced(placed.descriptor().namespaceId(), placed.location()));
      }
      edits.add(
          new Edit.SegmentSealed(scan.segmentId(), scan.lengthBytes(), scan.footerOffsetBytes()));
    }
    ForestState.boundaries(forest).forEachRemaining(edits::add);
    return edits.iterator();
  }

  private void find(Finding.Severity severity, String id, String file, long offset, String text) {
    findings.add(new Finding(id, severity, file, offset, text));
  }
}
