package dev.waymark.internal.recover;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.ForestState;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.forest.RecordEvents;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.NamespaceDescriptor;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.log.SegmentHeader;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.log.SpaceGate;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.ManifestCheckpoint;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.NextIds;
import dev.waymark.internal.manifest.StatusFile;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.layout.BoundaryKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

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
  private static final Pattern PUBLISHED =
      Pattern.compile("\"boundaries\":(\\d+),\"points\":(\\d+)");

  private final StoreDirectory directory;
  private final List<Finding> findings = new ArrayList<>();
  private final List<SegmentScan> scans = new ArrayList<>();
  private final Map<Contribution, TreeMap<Long, Pieces>> contributions = new HashMap<>();
  private final Forest forest = new Forest(RecordEvents.UNHEARD);

  /** Every namespace that is described, also one that was deleted and made anew. */
  private final Forest described = new Forest(RecordEvents.UNHEARD);

  private StoreId storeId;
  private long nextSequence = 1;

  private record Contribution(int namespaceId, BoundaryKey key, RecordKind kind) {}

  /** The verified records that one append wrote of a contribution; they share its sequence. */
  private static final class Pieces {
    private final RecordHeader[] headers;

    Pieces(int count) {
      headers = new RecordHeader[count];
    }

    /** A record that was copied stands in two places for a while; both are right. */
    void add(RecordHeader header) {
      if (header.pieceCount() != headers.length) {
        throw new CorruptionException(
            ErrorDetail.of("a record is a piece of something else")
                .expected("one of " + headers.length)
                .found("one of " + header.pieceCount()));
      }
      headers[header.pieceIndex()] = header;
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

  /**
   * Looks, at headers alone, whether there is something to rebuild from.
   *
   * @throws NotAStoreException if there is no file of a segment
   * @throws CorruptionException if there are some, and none has a header that can be used
   */
  public static void requireSegments(StoreDirectory directory) {
    List<String> names = segmentFiles(directory);
    if (names.isEmpty()) {
      throw new NotAStoreException(
          ErrorDetail.of("there is nothing to rebuild a manifest from in " + directory.label())
              .expected("segments (append-*.seg, delta-*.seg)")
              .found("none")
              .remedy("check the path"));
    }
    if (names.stream().noneMatch(name -> SegmentScan.isSegment(directory, name))) {
      throw new CorruptionException(
          ErrorDetail.of("no segment with a usable header was found in " + directory.label())
              .remedy("check the path; if it is right, there is nothing left to rebuild from"));
    }
  }

  private static List<String> segmentFiles(StoreDirectory directory) {
    return directory.list().stream()
        .filter(name -> name.endsWith(".seg") && !name.startsWith(QUARANTINE))
        .toList();
  }

  /**
   * Reads all segments of a directory, verifies every record, and puts together what they say.
   *
   * @throws NotAStoreException if there is no file of a segment
   * @throws CorruptionException if no segment can be used
   */
  public static ManifestRebuild look(StoreDirectory directory) {
    return look(directory, (doneBytes, allBytes) -> {});
  }

  /** Is told how many bytes of records have been read. */
  public interface Progress {
    void at(long doneBytes, long allBytes);
  }

  /** The same, and says how far it is. */
  public static ManifestRebuild look(StoreDirectory directory, Progress progress) {
    requireSegments(directory);
    ManifestRebuild rebuild = new ManifestRebuild(directory);
    rebuild.scan();
    rebuild.namespaces();
    rebuild.verify(progress);
    rebuild.chooseNamespaces();
    rebuild.boundaries();
    rebuild.points();
    rebuild.whatMayBeLost();
    return rebuild;
  }

  private void scan() {
    TreeMap<Long, SegmentScan> byId = new TreeMap<>();
    for (String name : segmentFiles(directory)) {
      SegmentScan scan = SegmentScan.of(directory, name, findings);
      if (scan != null) {
        requireSameStore(scan);
        byId.merge(scan.header().segmentId(), scan, this::onlyOne);
      }
    }
    scans.addAll(byId.values());
    for (SegmentScan scan : scans) {
      if (isMisnamed(scan)) {
        find(
            Finding.Severity.INFO,
            "SEGMENT_MISNAMED",
            scan.fileName(),
            0,
            "by its header this is segment "
                + scan.header().segmentId()
                + ", whose name is "
                + scan.header().fileName()
                + "; applying gives it that name");
      }
    }
  }

  private void requireSameStore(SegmentScan scan) {
    StoreId found = new StoreId(scan.header().storeIdHigh(), scan.header().storeIdLow());
    if (storeId == null) {
      storeId = found;
    } else if (!storeId.equals(found)) {
      throw new CorruptionException(
          ErrorDetail.of("the directory holds segments of two stores")
              .in(scan.fileName())
              .expected("store " + storeId)
              .found("store " + found)
              .remedy("move those of the other store away"));
    }
  }

  /** Of two files of one segment the one that has its name. */
  private SegmentScan onlyOne(SegmentScan first, SegmentScan second) {
    SegmentScan used = isMisnamed(first) ? second : first;
    SegmentScan other = used == first ? second : first;
    find(
        Finding.Severity.WARNING,
        "SEGMENT_TWICE",
        other.fileName(),
        0,
        "by its header this is segment "
            + used.header().segmentId()
            + ", as is "
            + used.fileName()
            + ", which is used");
    return used;
  }

  private static boolean isMisnamed(SegmentScan scan) {
    return !scan.fileName().equals(scan.header().fileName());
  }

  private void namespaces() {
    TreeMap<Integer, NamespaceDescriptor> byId = new TreeMap<>();
    for (SegmentScan scan : scans) {
      for (SegmentScan.Placed placed : scan.descriptors()) {
        byId.putIfAbsent(placed.descriptor().namespaceId(), placed.descriptor());
      }
    }
    byId.values().forEach(descriptor -> described.apply(Edit.NamespaceAdded.of(descriptor)));
  }

  /**
   * Of numbers that one namespace had, the last under which anything was stored: it was deleted and
   * made anew.
   */
  private void chooseNamespaces() {
    Set<Integer> used = new HashSet<>();
    contributions.keySet().forEach(contribution -> used.add(contribution.namespaceId()));
    Map<BoundaryKey, Integer> chosen = new HashMap<>();
    for (NamespaceState state : described.namespaces()) {
      chosen.merge(
          state.fingerprint(), state.id(), (older, newer) -> used.contains(newer) ? newer : older);
    }
    for (NamespaceState state : described.namespaces()) {
      int id = state.id();
      if (chosen.get(state.fingerprint()) == id) {
        forest.apply(Edit.NamespaceAdded.of(state.descriptor()));
      } else if (used.contains(id)) {
        find(
            Finding.Severity.WARNING,
            "NAMESPACE_REPLACED",
            "",
            -1,
            "namespace "
                + id
                + " was deleted and made anew; what stands under its old number is left out");
      }
    }
    contributions.keySet().removeIf(c -> forest.namespace(c.namespaceId()) == null);
  }

  private void verify(Progress progress) {
    long allBytes =
        scans.stream()
            .flatMap(scan -> scan.records().stream())
            .mapToLong(RecordLocation::lengthBytes)
            .sum();
    long doneBytes = 0;
    try (Scratch.Pool scratches = new Scratch.Pool(1)) {
      for (SegmentScan scan : scans) {
        try (StoreFile file = directory.openReadOnly(scan.fileName());
            MappedRegion region = file.map(scan.lengthBytes(), false);
            Scratch scratch = scratches.take()) {
          RecordReader reader = new RecordReader(region, scan.fileName(), scratch);
          for (RecordLocation location : scan.records()) {
            verify(reader, location, scan.fileName());
            doneBytes += location.lengthBytes();
            progress.at(doneBytes, allBytes);
          }
        }
      }
    }
  }

  private void verify(RecordReader reader, RecordLocation location, String fileName) {
    try {
      int namespaceId = reader.namespaceOf(location);
      NamespaceState namespace = described.namespace(namespaceId);
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
              new Contribution(namespaceId, header.key(), header.kind()), c -> new TreeMap<>())
          .computeIfAbsent(header.sequence(), s -> new Pieces(header.pieceCount()))
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
    for (Contribution contribution : contributions.keySet()) {
      Pieces pieces = contribution.kind() == RecordKind.APPEND ? whole(contribution) : null;
      if (pieces != null) {
        rows.add(pieces);
      }
    }
    rows.sort(Comparator.comparingLong(pieces -> pieces.headers[0].tokenFrom()));
    long without = 0;
    long firstTokens = 0;
    for (Pieces pieces : rows) {
      RecordHeader header = pieces.headers[0];
      int parent = forest.find(header.namespaceId(), header.parentKey());
      if (header.tokenFrom() > 0
          && (parent == Forest.NONE || forest.tokens(parent) != header.tokenFrom())) {
        firstTokens = without++ == 0 ? header.tokenTo() : firstTokens;
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
    if (without > 0) {
      find(
          Finding.Severity.WARNING,
          "BOUNDARY_WITHOUT_PARENT",
          "",
          -1,
          "rows of "
              + without
              + " boundaries, the first at "
              + firstTokens
              + " tokens, are left out: what they follow is not there, as it was dropped or is lost");
    }
  }

  /**
   * What was written last of a contribution, and is there with all pieces; null where nothing is.
   */
  private Pieces whole(Contribution contribution) {
    TreeMap<Long, Pieces> written = contributions.get(contribution);
    if (written == null) {
      return null;
    }
    for (Pieces pieces : written.descendingMap().values()) {
      if (pieces.isWhole()) {
        return pieces;
      }
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
    return null;
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

  /** The delta stays where there is one: points below may need it. */
  private void dropPoint(int node) {
    forest.apply(
        new Edit.PointDropped(
            forest.namespaceOf(node).id(), forest.key(node), DropReason.DAMAGED, false));
  }

  /** What tells, or leaves open, whether there was more than is there now. */
  private void whatMayBeLost() {
    long without =
        contributions.keySet().stream()
            .filter(
                c ->
                    c.kind() != RecordKind.APPEND
                        && forest.find(c.namespaceId(), c.key()) == Forest.NONE)
            .count();
    if (without > 0) {
      find(
          Finding.Severity.WARNING,
          "STATE_WITHOUT_ROWS",
          "",
          -1,
          without
              + " window deltas and states are left out: the rows that they go with are not there,"
              + " as they were dropped or are lost");
    }
    LoadedStore manifest = manifest();
    if (manifest == null) {
      absentNumbers();
      fewerThanPublished();
      return;
    }
    find(
        Finding.Severity.INFO,
        "MANIFEST_READABLE",
        "",
        -1,
        "the manifest can be read as it is, and knows what records do not: what was dropped, which"
            + " chains are kept, the order of use; segtool verify says whether it is damaged at all");
    for (SegmentInfo info : manifest.segments().infos()) {
      boolean there =
          scans.stream().anyMatch(scan -> scan.header().segmentId() == info.segmentId());
      if (!there && info.liveRecords() > 0) {
        find(
            Finding.Severity.ERROR,
            "SEGMENT_MISSING",
            info.fileName(),
            -1,
            "the segment cannot be used or is not there, and the manifest has "
                + info.liveRecords()
                + " records that live in it");
      }
    }
  }

  /** What the manifest in force says, or null where it says nothing. */
  private LoadedStore manifest() {
    try {
      Current current = CurrentFile.read(directory);
      if (!current.storeId().equals(storeId)) {
        return null;
      }
      SegmentSet segments =
          new SegmentSet(
              directory,
              storeId.high(),
              storeId.low(),
              SegmentSizing.ofQuota(Long.MAX_VALUE),
              SpaceGate.OPEN);
      long proven = StatusFile.provenBytes(directory, current);
      return LoadedStore.read(directory, current, proven, segments);
    } catch (CorruptionException | NotAStoreException e) {
      return null;
    }
  }

  /** Numbers are given in order and never again, so a gap was given back, or is lost. */
  private void absentNumbers() {
    List<String> absent = new ArrayList<>();
    long next = 1;
    for (SegmentScan scan : scans) {
      long id = scan.header().segmentId();
      if (id > next) {
        absent.add(id - 1 == next ? "" + next : next + " to " + (id - 1));
      }
      next = id + 1;
    }
    if (!absent.isEmpty()) {
      find(
          Finding.Severity.WARNING,
          "SEGMENTS_ABSENT",
          "",
          -1,
          "segments "
              + String.join(", ", absent)
              + " are not there: their space was given back, or they are lost; without the manifest"
              + " nothing tells which");
    }
  }

  private void fewerThanPublished() {
    StatusFile.read(directory, storeId)
        .map(status -> PUBLISHED.matcher(status.counters()))
        .filter(Matcher::find)
        .ifPresent(
            published -> {
              long boundaries = Long.parseLong(published.group(1));
              long points = Long.parseLong(published.group(2));
              if (forest.boundaryCount() < boundaries || forest.pointCount() < points) {
                find(
                    Finding.Severity.WARNING,
                    "FEWER_THAN_PUBLISHED",
                    StatusFile.NAME,
                    -1,
                    "the last writer had "
                        + boundaries
                        + " boundaries and "
                        + points
                        + " restore points");
              }
            });
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
   * Writes the manifest and makes it the one in force. Segments get their names back; what cannot
   * be used is set aside, since the next open deletes segments that nothing names. The caller has
   * the directory's lock.
   */
  public void apply(long nowMillis) {
    long manifestId = 1;
    for (String name : directory.list()) {
      if (isManifest(name)) {
        manifestId = Math.max(manifestId, idOf(name) + 1);
      }
    }
    requireNoDirectories(ManifestLog.fileName(manifestId));
    for (String name : directory.list()) {
      if (isManifest(name) || name.equals(CurrentFile.NAME) || name.equals(StatusFile.NAME)) {
        setAside(name);
      }
    }
    directory.force();
    nameSegments();
    directory.force();
    ManifestCheckpoint.write(directory, manifestId, storeId, nowMillis, state(), nextIds()).close();
  }

  private static boolean isManifest(String name) {
    return name.startsWith("manifest-") && name.endsWith(".log");
  }

  /** Before anything moves: a directory in the place of a file counts as missing until then. */
  private void requireNoDirectories(String manifest) {
    List<String> names = new ArrayList<>();
    names.addAll(List.of(CurrentFile.NAME, CurrentFile.TEMPORARY_NAME, StatusFile.NAME, manifest));
    scans.forEach(scan -> names.add(scan.header().fileName()));
    for (String name : names) {
      if (directory.isDirectory(name)) {
        throw new CorruptionException(
            ErrorDetail.of("a directory has the name of one of the store's files")
                .in(name)
                .expected("a file, or nothing")
                .found("a directory")
                .remedy("move it away; nothing was changed"));
      }
    }
  }

  /** In two steps, as two may have each other's names. Cut short, their headers still tell. */
  private void nameSegments() {
    Set<String> used = scans.stream().map(SegmentScan::fileName).collect(Collectors.toSet());
    for (String name : segmentFiles(directory)) {
      if (!used.contains(name)) {
        setAside(name);
      }
    }
    Map<SegmentScan, String> between = new LinkedHashMap<>();
    for (SegmentScan scan : scans) {
      if (isMisnamed(scan)) {
        String name = unused("misnamed-" + scan.header().segmentId());
        directory.rename(scan.fileName(), name);
        between.put(scan, name);
      }
    }
    between.forEach((scan, name) -> directory.rename(name, scan.header().fileName()));
  }

  private void setAside(String name) {
    try {
      directory.rename(name, unused(QUARANTINE + name));
    } catch (InvalidArgumentException e) {
      return; // no name that the store gives: never opened, never deleted
    }
  }

  private String unused(String name) {
    String free = name;
    for (int i = 2; directory.exists(free); i++) {
      free = name + "." + i;
    }
    return free;
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
      nextSegment = Math.max(nextSegment, scan.header().segmentId() + 1);
      nextSequence = Math.max(nextSequence, scan.header().creationSequence() + 1);
    }
    return new NextIds(nextSegment, 1, nextSequence, described.nextNamespaceId());
  }

  private Iterator<Edit> state() {
    List<Edit> edits = new ArrayList<>(ForestState.heads(forest));
    for (SegmentScan scan : scans) {
      SegmentHeader header = scan.header();
      edits.add(
          new Edit.SegmentCreated(header.segmentId(), header.kind(), header.creationSequence()));
      for (SegmentScan.Placed placed : scan.descriptors()) {
        edits.add(new Edit.DescriptorPlaced(placed.descriptor().namespaceId(), placed.location()));
      }
      edits.add(
          new Edit.SegmentSealed(header.segmentId(), scan.lengthBytes(), scan.footerOffsetBytes()));
    }
    ForestState.boundaries(forest).forEachRemaining(edits::add);
    return edits.iterator();
  }

  private void find(Finding.Severity severity, String id, String file, long offset, String text) {
    findings.add(new Finding(id, severity, file, offset, text));
  }
}
