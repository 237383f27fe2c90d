package dev.waymark.internal.check;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.MovingException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.NamespaceDescriptor;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.log.SegmentFooter;
import dev.waymark.internal.log.SegmentHeader;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.internal.recover.Finding;
import dev.waymark.internal.wire.NamespaceRecordDecoder;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Layout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Reads a store and says whether it is what its manifest says. Takes no lock, writes nothing, heals
 * nothing. What looks wrong beside a live writer is looked at again in a newer state, and is a
 * finding only if the record still lives at that place.
 */
public final class Verifier {
  private static final int MAX_FOOTER_BYTES = 4 << 20;

  private final StoreDirectory directory;
  private final LongSupplier clockMillis;
  private final Level level;
  private final LongConsumer progressBytes;
  private final List<Finding> findings = new ArrayList<>();
  private final List<FileBytes> files = new ArrayList<>();
  private long recordsChecked;
  private long bytesChecked;

  /** How closely to look. */
  public enum Level {
    /** The manifest, what it adds up to, and the place of every byte. */
    STRUCTURE,
    /** Also headers, descriptions of namespaces, and every record's front and checksums. */
    CHECKSUM,
    /** Also whether each chunk can be decoded, and the footers. */
    ALL
  }

  /**
   * Where the allocated bytes of one file are; the parts add up to them.
   *
   * @param liveBytes records that live
   * @param deadBytes what nothing needs and did not come back yet
   * @param framingBytes headers, descriptions, footers, padding, edits
   * @param reservedBytes allocated ahead
   */
  public record FileBytes(
      String file,
      long lengthBytes,
      long allocatedBytes,
      long liveBytes,
      long deadBytes,
      long framingBytes,
      long reservedBytes) {

    /** What none of these explains; below 0 where something that is named has no blocks. */
    public long unaccountedBytes() {
      return allocatedBytes - liveBytes - deadBytes - framingBytes - reservedBytes;
    }
  }

  /**
   * What was found.
   *
   * @param bytesChecked stored bytes of the records that were read
   */
  public record Result(
      List<Finding> findings,
      List<FileBytes> files,
      long boundaries,
      long points,
      long recordsChecked,
      long bytesChecked) {}

  /** A record that lives, and what its edit says of it. */
  private record Live(
      RecordLocation location,
      RecordKind kind,
      int index,
      int count,
      int namespaceId,
      BoundaryKey key,
      BoundaryKey parentKey,
      int tokenFrom,
      int tokens,
      int coveredFrom) {}

  private Verifier(
      StoreDirectory directory, LongSupplier clockMillis, Level level, LongConsumer progress) {
    this.directory = directory;
    this.clockMillis = clockMillis;
    this.level = level;
    this.progressBytes = progress;
  }

  /**
   * Verifies.
   *
   * @param progressBytes told of stored bytes that were checked, record by record
   * @throws MovingException if a writer moved on at every look
   */
  public static Result verify(
      StoreDirectory directory, LongSupplier clockMillis, Level level, LongConsumer progressBytes) {
    return new Verifier(directory, clockMillis, level, progressBytes).verify();
  }

  private Result verify() {
    ReadOnlyStore store = StoreLook.at(directory, clockMillis);
    findings.addAll(store.findings());
    points(store.forest());
    Map<Long, List<Live>> records = records(store.forest());
    for (SegmentAccount segment : store.segments()) {
      List<Live> live = records.getOrDefault(segment.info().segmentId(), List.of());
      bytes(segment, live);
      if (level != Level.STRUCTURE && segment.lengthBytes() > 0) {
        segment(store, segment, live);
      }
    }
    manifest(store);
    for (ReadOnlyStore.PlainFile file : store.small()) {
      files.add(plain(file, file.allocatedBytes(), 0));
    }
    for (ReadOnlyStore.PlainFile file : store.others()) {
      boolean writers = store.mayBeTheWriters(file);
      files.add(plain(file, 0, writers ? file.allocatedBytes() : 0));
      if (!writers && !file.name().startsWith("quarantine/")) {
        find(
            Finding.Severity.WARNING,
            "FILE_UNNAMED",
            file.name(),
            -1,
            "nothing names this file; the next open for writing deletes it if it is the store's");
      }
    }
    return new Result(
        List.copyOf(findings),
        List.copyOf(files),
        store.forest().boundaryCount(),
        store.forest().pointCount(),
        recordsChecked,
        bytesChecked);
  }

  // What the manifest adds up to

  private void points(Forest forest) {
    forest.forEachBoundary(
        node -> {
          if (!forest.isPoint(node)) {
            if (forest.hasDelta(node) && !forest.isDeltaNeededBelow(node)) {
              find(
                  Finding.Severity.WARNING,
                  "DELTA_UNNEEDED",
                  "",
                  -1,
                  name(forest, node) + " has a window delta that no point needs");
            }
            return;
          }
          Layout layout = forest.namespaceOf(node).layout();
          if (!forest.isWindowCovered(node)) {
            find(
                Finding.Severity.ERROR,
                "POINT_WINDOW_GAP",
                "",
                -1,
                "the window of " + name(forest, node) + " is not covered by its chain");
          }
          if (layout.fixedBytes() > 0 && forest.stateRecords(node).isEmpty()) {
            find(
                Finding.Severity.ERROR,
                "POINT_WITHOUT_STATE",
                "",
                -1,
                name(forest, node) + " is a point without its fixed state");
          }
        });
  }

  private static String name(Forest forest, int node) {
    return "the boundary at "
        + forest.tokens(node)
        + " tokens ("
        + forest.key(node).abbreviated()
        + ")";
  }

  private static Map<Long, List<Live>> records(Forest forest) {
    Map<Long, List<Live>> bySegment = new HashMap<>();
    forest.forEachBoundary(
        node -> {
          add(bySegment, forest, node, RecordKind.APPEND, forest.rowRecords(node));
          add(bySegment, forest, node, RecordKind.DELTA, forest.deltaRecords(node));
          add(bySegment, forest, node, RecordKind.STATE, forest.stateRecords(node));
        });
    bySegment
        .values()
        .forEach(
            list -> list.sort(Comparator.comparingLong(live -> live.location().offsetBytes())));
    return bySegment;
  }

  private static void add(
      Map<Long, List<Live>> bySegment,
      Forest forest,
      int node,
      RecordKind kind,
      List<RecordLocation> records) {
    int tokens = forest.tokens(node);
    for (int i = 0; i < records.size(); i++) {
      bySegment
          .computeIfAbsent(records.get(i).segmentId(), id -> new ArrayList<>())
          .add(
              new Live(
                  records.get(i),
                  kind,
                  i,
                  records.size(),
                  forest.namespaceOf(node).id(),
                  forest.key(node),
                  forest.key(forest.parent(node)),
                  forest.tokens(forest.parent(node)),
                  tokens,
                  kind == RecordKind.DELTA ? forest.coveredFrom(node) : tokens));
    }
  }

  // Where every byte is

  private void bytes(SegmentAccount segment, List<Live> live) {
    TreeMap<Long, Long> taken = new TreeMap<>();
    String file = segment.info().fileName();
    if (segment.lengthBytes() == 0) {
      // Missing, with a finding if something in it lives; or just given back.
      files.add(new FileBytes(file, 0, 0, 0, 0, 0, 0));
      return;
    }
    long framing = Alignment.PAGE_BYTES;
    take(taken, file, 0, Alignment.PAGE_BYTES);
    for (SegmentSet.PlacedDescriptor placed : segment.descriptors()) {
      long pages = Alignment.toPage(placed.location().lengthBytes());
      take(taken, file, placed.location().offsetBytes(), pages);
      framing += pages;
    }
    long liveBytes = 0;
    for (Live record : live) {
      long pages = Alignment.toPage(record.location().lengthBytes());
      take(taken, file, record.location().offsetBytes(), pages);
      liveBytes += record.location().lengthBytes();
      framing += pages - record.location().lengthBytes();
    }
    Edit.SegmentSealed sealed = segment.sealed();
    if (sealed != null && sealed.footerOffsetBytes() > 0) {
      long footer = sealed.lengthBytes() - sealed.footerOffsetBytes();
      take(taken, file, sealed.footerOffsetBytes(), footer);
      framing += footer;
    }
    files.add(
        new FileBytes(
            file,
            segment.lengthBytes(),
            segment.allocatedBytes(),
            liveBytes,
            segment.deadBytes(),
            framing,
            segment.reservedBytes()));
  }

  private void take(TreeMap<Long, Long> taken, String file, long start, long length) {
    Map.Entry<Long, Long> before = taken.lowerEntry(start + length);
    if (before != null && before.getValue() > start) {
      find(
          Finding.Severity.ERROR,
          "RECORDS_OVERLAP",
          file,
          start,
          "what stands here overlaps what starts at byte " + before.getKey());
    }
    taken.merge(start, start + length, Math::max);
  }

  private void manifest(ReadOnlyStore store) {
    String name = ManifestLog.fileName(store.current().manifestId());
    files.add(
        new FileBytes(
            name,
            directory.lengthBytes(name),
            store.manifestAllocatedBytes(),
            0,
            0,
            store.manifestFramingBytes(),
            store.manifestAllocatedBytes() - store.manifestFramingBytes()));
  }

  private FileBytes plain(ReadOnlyStore.PlainFile file, long framing, long reserved) {
    return new FileBytes(
        file.name(),
        directory.lengthBytes(file.name()),
        file.allocatedBytes(),
        0,
        0,
        framing,
        reserved);
  }

  // What the bytes are

  private void segment(ReadOnlyStore store, SegmentAccount segment, List<Live> live) {
    String file = segment.info().fileName();
    try (Scratch.Pool scratches = new Scratch.Pool(1);
        StoreFile opened = directory.openReadOnly(file);
        MappedRegion region = opened.map(segment.lengthBytes(), false);
        Scratch scratch = scratches.take()) {
      if (!header(store, segment, region)) {
        return; // what stands in another segment's file can only be wrong
      }
      descriptions(store, segment, region);
      RecordReader reader = new RecordReader(region, file, scratch);
      for (Live record : live) {
        record(store, reader, record, file);
      }
      if (level == Level.ALL) {
        footer(segment, region);
      }
    } catch (WaymarkException e) {
      if (!live.isEmpty() && stillLives(live.get(0))) {
        find(
            Finding.Severity.ERROR,
            "SEGMENT_UNREADABLE",
            file,
            e.detail().offsetBytes().orElse(-1),
            e.detail().sentence());
      }
    }
  }

  private void record(ReadOnlyStore store, RecordReader reader, Live live, String file) {
    try {
      Layout layout = store.forest().namespace(live.namespaceId()).layout();
      RecordHeader header = reader.header(live.location(), layout);
      if (!agrees(header, live)) {
        throw new CorruptionException(
            ErrorDetail.of("the record is not the one that the manifest names")
                .at(file, live.location().offsetBytes())
                .expected(live.kind() + " of " + live.key().abbreviated())
                .found(header.kind() + " of " + header.key().abbreviated()));
      }
      if (level == Level.ALL) {
        reader.verify(header);
      } else {
        reader.verifyChecksums(header);
      }
    } catch (CorruptionException e) {
      if (stillLives(live)) {
        find(
            Finding.Severity.ERROR,
            "RECORD_DAMAGED",
            file,
            e.detail().offsetBytes().orElse(live.location().offsetBytes()),
            e.detail().sentence());
      }
    }
    recordsChecked++;
    bytesChecked += live.location().lengthBytes();
    progressBytes.accept(live.location().lengthBytes());
  }

  private static boolean agrees(RecordHeader header, Live live) {
    return header.kind() == live.kind()
        && header.namespaceId() == live.namespaceId()
        && header.key().equals(live.key())
        && header.parentKey().equals(live.parentKey())
        && header.tokenFrom() == live.tokenFrom()
        && header.tokenTo() == live.tokens()
        && header.coveredFrom() == live.coveredFrom()
        && header.pieceIndex() == live.index()
        && header.pieceCount() == live.count();
  }

  /** Whether a newer state of the store still names a record at its place. */
  private boolean stillLives(Live live) {
    Forest forest = StoreLook.at(directory, clockMillis).forest();
    int node = forest.find(live.namespaceId(), live.key());
    if (node == Forest.NONE) {
      return false;
    }
    List<RecordLocation> records =
        switch (live.kind()) {
          case APPEND -> forest.rowRecords(node);
          case DELTA -> forest.deltaRecords(node);
          case STATE -> forest.stateRecords(node);
        };
    return records.contains(live.location());
  }

  /** Whether the file is the segment's; a header that cannot be read leaves that open. */
  private boolean header(ReadOnlyStore store, SegmentAccount segment, MappedRegion region) {
    UnsafeBuffer page = new UnsafeBuffer(new byte[Alignment.PAGE_BYTES]);
    region.get(0, page, 0, page.capacity());
    SegmentHeader header = SegmentHeader.parse(page, segment.info().fileName());
    SegmentInfo info = segment.info();
    StoreId storeId = store.current().storeId();
    boolean ours = header != null && header.isOf(storeId.high(), storeId.low());
    if (header != null && (!ours || header.segmentId() != info.segmentId())) {
      find(
          Finding.Severity.ERROR,
          "SEGMENT_MISNAMED",
          info.fileName(),
          0,
          "the file is not the segment that its name says: expected segment "
              + info.segmentId()
              + ", found segment "
              + header.segmentId()
              + (ours
                  ? "; while no process has the store open, name it "
                      + header.fileName()
                      + ", or let segtool repair --rebuild-manifest do so"
                  : " of another store; put the right file in its place"));
      return false;
    }
    if (header == null
        || header.kind() != info.kind()
        || header.creationSequence() != info.creationSequence()) {
      find(
          Finding.Severity.ERROR,
          "SEGMENT_HEADER_DAMAGED",
          info.fileName(),
          0,
          "the segment's header is "
              + (header == null ? "damaged" : "not what the manifest says of it"));
    }
    return true;
  }

  private void descriptions(ReadOnlyStore store, SegmentAccount segment, MappedRegion region) {
    for (SegmentSet.PlacedDescriptor placed : segment.descriptors()) {
      String wrong = description(store.forest(), segment, placed, region);
      if (wrong != null && stillStands(segment.info().segmentId(), placed)) {
        find(
            Finding.Severity.ERROR,
            "NAMESPACE_DESCRIPTION_DAMAGED",
            segment.info().fileName(),
            placed.location().offsetBytes(),
            "the description of namespace "
                + placed.namespaceId()
                + " "
                + wrong
                + "; what the manifest says of it is right, but a rebuild could not rest on this");
      }
    }
  }

  /** What is wrong with a description, or null. */
  private static String description(
      Forest forest,
      SegmentAccount segment,
      SegmentSet.PlacedDescriptor placed,
      MappedRegion region) {
    long offset = placed.location().offsetBytes();
    int length = (int) placed.location().lengthBytes();
    if (offset + length > segment.lengthBytes()) {
      return "ends behind the file's " + segment.lengthBytes() + " bytes";
    }
    UnsafeBuffer frame = new UnsafeBuffer(new byte[length]);
    region.get(offset, frame, 0, length);
    long id = segment.info().segmentId();
    Frame.Check check = Frame.check(frame, 0, length, Frame.tagOf(id), length);
    if (!check.isValid()
        || check.lengthBytes() != length
        || Frame.templateId(frame, 0) != NamespaceRecordDecoder.TEMPLATE_ID) {
      return "is damaged";
    }
    try {
      NamespaceDescriptor found =
          NamespaceDescriptor.parse(frame, length, id, segment.info().fileName(), offset);
      NamespaceState state = forest.namespace(placed.namespaceId());
      // A namespace that was dropped leaves its descriptions behind.
      return state == null || found.equals(state.descriptor())
          ? null
          : "is not what the manifest says of it";
    } catch (CorruptionException e) {
      return "is damaged";
    }
  }

  /** Whether a newer state of the store still has that segment, with the description there. */
  private boolean stillStands(long segmentId, SegmentSet.PlacedDescriptor placed) {
    return StoreLook.at(directory, clockMillis).segments().stream()
        .anyMatch(s -> s.info().segmentId() == segmentId && s.descriptors().contains(placed));
  }

  /** Nothing rests on it, but a rebuild would lack its index. */
  private void footer(SegmentAccount segment, MappedRegion region) {
    Edit.SegmentSealed sealed = segment.sealed();
    if (sealed == null || segment.info().liveRecords() == 0) {
      return;
    }
    String file = segment.info().fileName();
    if (segment.lengthBytes() != sealed.lengthBytes()) {
      find(
          Finding.Severity.WARNING,
          "SEGMENT_LENGTH",
          file,
          -1,
          "the file has another length than the " + sealed.lengthBytes() + " bytes at its sealing");
    }
    if (sealed.footerOffsetBytes() == 0) {
      return;
    }
    try {
      long id = segment.info().segmentId();
      UnsafeBuffer frame = frame(region, id, sealed.footerOffsetBytes(), MAX_FOOTER_BYTES, file);
      SegmentFooter.check(frame, id, sealed.footerOffsetBytes(), file);
    } catch (CorruptionException e) {
      find(
          Finding.Severity.WARNING,
          "SEGMENT_FOOTER_DAMAGED",
          file,
          sealed.footerOffsetBytes(),
          e.detail().sentence());
    }
  }

  /** The valid frame at a place, copied; nothing is allocated before its length was compared. */
  private static UnsafeBuffer frame(
      MappedRegion region, long segmentId, long offset, int most, String file) {
    long left = region.lengthBytes() - offset;
    UnsafeBuffer frame =
        new UnsafeBuffer(new byte[(int) Math.max(0, Math.min(left, Alignment.PAGE_BYTES))]);
    region.get(offset, frame, 0, frame.capacity());
    int tag = Frame.tagOf(segmentId);
    Frame.Check check = Frame.check(frame, 0, frame.capacity(), tag, most);
    if (check.status() == Frame.Status.TORN && check.lengthBytes() <= left) {
      frame = new UnsafeBuffer(new byte[check.lengthBytes()]);
      region.get(offset, frame, 0, frame.capacity());
      check = Frame.check(frame, 0, frame.capacity(), tag, most);
    }
    if (!check.isValid()) {
      throw new CorruptionException(
          ErrorDetail.of("a frame is damaged").at(file, offset).found(check.reason()));
    }
    return new UnsafeBuffer(frame, 0, check.lengthBytes());
  }

  private void find(Finding.Severity severity, String id, String file, long offset, String text) {
    findings.add(new Finding(id, severity, file, offset, text));
  }
}
