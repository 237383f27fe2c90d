package dev.waymark.formatpage;

import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.internal.log.NamespaceDescriptor;
import dev.waymark.internal.log.PartPlan;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordPlan;
import dev.waymark.internal.log.Run;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.log.SpaceGate;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.ManifestCheckpoint;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.NextIds;
import dev.waymark.internal.manifest.SessionOutcome;
import dev.waymark.internal.manifest.Status;
import dev.waymark.internal.manifest.StatusFile;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import dev.waymark.sim.SimulatedDirectory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The store that the page shows: one namespace, four tokens in two blocks, a restore point at the
 * second. Every byte of it comes from the engine's own writers.
 */
final class ExampleStore {
  static final StoreId STORE = new StoreId(0x0011223344556677L, 0x8899AABBCCDDEEFFL);
  static final Layout LAYOUT =
      Layout.of(
          2,
          TensorSpec.rows("k", DType.BF16, 1, 2, TensorSpec.TOKEN_AXIS, 2),
          TensorSpec.window("w", DType.BF16, 3, 1, TensorSpec.TOKEN_AXIS, 2),
          TensorSpec.fixed("s", DType.F32, 2, 2));
  static final ModelIdentity IDENTITY =
      ModelIdentity.builder().engine("example 1").weights("sha256:00").build();
  static final CodecPlan CODECS = CodecPlan.RAW.withFixed(Codec.BF16);
  static final byte[] FINGERPRINT = KeyChain.fingerprint(IDENTITY, LAYOUT, CODECS);
  static final BoundaryKey ROOT = KeyChain.root(FINGERPRINT);
  static final int[] TOKENS = {11, 12, 13, 14};
  static final BoundaryKey FIRST = new KeyChain().next(ROOT, TOKENS, 0, 2, new byte[0]);
  static final BoundaryKey SECOND = new KeyChain().next(FIRST, TOKENS, 2, 2, new byte[0]);

  private static final long MILLIS = 1_700_000_000_000L;
  private static final long MANIFEST_ID = 1;
  private static final int NAMESPACE = 1;

  final ByteBuffer k = allocate(2 * 4 * 2 * 2);
  final ByteBuffer w = allocate(4 * 2 * 2);
  final ByteBuffer s = allocate(4 * 4);
  final byte[] manifest;
  final byte[] current;
  final byte[] status;
  final byte[] append;
  final byte[] delta;

  ExampleStore() {
    fill();
    SimulatedDirectory directory = new SimulatedDirectory();
    ManifestLog log =
        ManifestCheckpoint.write(
            directory, MANIFEST_ID, STORE, MILLIS, List.<Edit>of().iterator(), firstIds());
    NamespaceDescriptor namespace =
        new NamespaceDescriptor(
            NAMESPACE,
            BoundaryKey.of(FINGERPRINT),
            IDENTITY.toJson(),
            LAYOUT.toJson(),
            CODECS.toJson());
    log.append(
        new Edit.NamespaceAdded(
            NAMESPACE,
            namespace.fingerprint(),
            namespace.identity(),
            namespace.layout(),
            namespace.codecs()),
        false);
    try (SegmentSet segments =
        new SegmentSet(
            directory,
            STORE.high(),
            STORE.low(),
            SegmentSizing.ofQuota(16 << 20),
            SpaceGate.OPEN)) {
      write(segments, namespace, log);
    }
    try (StatusFile file = StatusFile.open(directory)) {
      file.publish(
          new Status(STORE, MANIFEST_ID, log.durableLengthBytes(), MILLIS + 2_000, 4242, "{}"));
    }
    log.close();
    manifest = directory.bytes(ManifestLog.fileName(MANIFEST_ID));
    current = directory.bytes("CURRENT");
    status = directory.bytes("STATUS");
    append = directory.bytes(SegmentKind.APPEND.fileName(1));
    delta = directory.bytes(SegmentKind.DELTA.fileName(2));
  }

  private void write(SegmentSet segments, NamespaceDescriptor namespace, ManifestLog log) {
    StateViews views =
        StateViews.builder()
            .put(spec(0), TensorView.packed(spec(0), k, 0, 4))
            .put(spec(1), TensorView.packed(spec(1), w, 0, 4))
            .put(spec(2), TensorView.value(spec(2), s))
            .build();
    Run rows = new Run(SegmentKind.APPEND);
    Run points = new Run(SegmentKind.DELTA);
    RecordLocation first;
    RecordLocation second;
    RecordLocation window;
    RecordLocation state;
    try (Scratch scratch = new Scratch.Pool(1).take()) {
      first =
          segments.write(
              plan(RecordKind.APPEND, FIRST, ROOT, 0, 2, part(0, 2, 0, 2), part(1, 1, 0, 1)),
              views,
              rows,
              namespace,
              scratch,
              false,
              segments.flight(Long.MAX_VALUE));
      second =
          segments.write(
              plan(RecordKind.APPEND, SECOND, FIRST, 2, 4, part(0, 2, 2, 2)),
              views,
              rows,
              namespace,
              scratch,
              false,
              segments.flight(Long.MAX_VALUE));
      window =
          segments.write(
              plan(RecordKind.DELTA, SECOND, FIRST, 2, 1, part(1, 1, 1, 3)),
              views,
              points,
              namespace,
              scratch,
              false,
              segments.flight(Long.MAX_VALUE));
      state =
          segments.write(
              plan(RecordKind.STATE, SECOND, FIRST, 2, 4, part(2, 1, 0, 4)),
              views,
              points,
              namespace,
              scratch,
              false,
              segments.flight(Long.MAX_VALUE));
    }
    segments.release(rows);
    segments.release(points);
    for (SegmentInfo info : segments.takeCreated()) {
      log.append(
          new Edit.SegmentCreated(info.segmentId(), info.kind(), info.creationSequence()), false);
    }
    for (SegmentSet.PlacedDescriptor placed : segments.takePlaced()) {
      log.append(new Edit.DescriptorPlaced(placed.namespaceId(), placed.location()), false);
    }
    log.append(
        new Edit.SessionOpened(1, NAMESPACE, 0, 5, RestorePolicy.DEFAULT, AbortMode.KEEP, MILLIS),
        false);
    log.append(rowsAdded(segments, FIRST, ROOT, 0, 2, first), false);
    log.append(rowsAdded(segments, SECOND, FIRST, 2, 4, second), false);
    log.append(
        new Edit.PointAdded(
            NAMESPACE,
            SECOND,
            1,
            1,
            segments.takeSequence(),
            MILLIS,
            LAYOUT.windowBytes(1, 4),
            LAYOUT.fixedBytes(),
            List.of(window),
            List.of(state)),
        false);
    log.flushBatch();
    log.force();
    log.append(new Edit.SessionClosed(1, SessionOutcome.COMPLETED, MILLIS + 1_000), false);
    for (SegmentInfo info : segments.sealFull(true)) {
      log.append(
          new Edit.SegmentSealed(info.segmentId(), info.lengthBytes(), info.footerOffsetBytes()),
          false);
    }
    log.proveDurable();
  }

  private static RecordPlan plan(
      RecordKind kind,
      BoundaryKey key,
      BoundaryKey parent,
      long from,
      long coveredFrom,
      PartPlan... parts) {
    return new RecordPlan(
        kind, NAMESPACE, key, parent, from, from + 2, coveredFrom, 0, 1, List.of(parts));
  }

  private static PartPlan part(int tensor, int outerCount, long rowFrom, long rowCount) {
    TensorSpec spec = spec(tensor);
    return new PartPlan(
        tensor,
        spec,
        new PartRange(0, outerCount, rowFrom, rowCount),
        ChunkCodecs.of(CODECS.of(spec), spec),
        false);
  }

  private static Edit rowsAdded(
      SegmentSet segments,
      BoundaryKey key,
      BoundaryKey parent,
      long from,
      long to,
      RecordLocation record) {
    return new Edit.RowsAdded(
        NAMESPACE,
        key,
        parent,
        1,
        from,
        to,
        segments.takeSequence(),
        MILLIS,
        LAYOUT.rowBytes(from, to),
        List.of(record));
  }

  private void fill() {
    for (int outer = 0; outer < 2; outer++) {
      for (int row = 0; row < 4; row++) {
        for (int i = 0; i < 2; i++) {
          k.putShort(2 * (8 * outer + 2 * row + i), (short) (0x3F00 + 0x40 * outer + 4 * row + i));
        }
      }
    }
    for (int row = 0; row < 4; row++) {
      w.putShort(4 * row, (short) (0x4000 + 4 * row))
          .putShort(4 * row + 2, (short) (0x4001 + 4 * row));
    }
    s.putFloat(0, 1).putFloat(4, -2.5f).putFloat(8, 0).putFloat(12, 3);
  }

  private static TensorSpec spec(int index) {
    return LAYOUT.tensors().get(index);
  }

  private static NextIds firstIds() {
    return new NextIds(1, 1, 1, 1);
  }

  private static ByteBuffer allocate(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
