package dev.waymark.internal.manifest;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.internal.log.Text;
import dev.waymark.internal.wire.BatchMarkDecoder;
import dev.waymark.internal.wire.BoundaryUsedDecoder;
import dev.waymark.internal.wire.BudgetSpentDecoder;
import dev.waymark.internal.wire.ChainKeptDecoder;
import dev.waymark.internal.wire.ChainReleasedDecoder;
import dev.waymark.internal.wire.CheckpointEndDecoder;
import dev.waymark.internal.wire.CurrentDecoder;
import dev.waymark.internal.wire.DescriptorPlacedDecoder;
import dev.waymark.internal.wire.KeyDecoder;
import dev.waymark.internal.wire.ManifestHeaderDecoder;
import dev.waymark.internal.wire.NamespaceAddedDecoder;
import dev.waymark.internal.wire.NamespaceDroppedDecoder;
import dev.waymark.internal.wire.NamespaceRecordDecoder;
import dev.waymark.internal.wire.PointAddedDecoder;
import dev.waymark.internal.wire.PointDroppedDecoder;
import dev.waymark.internal.wire.RecordDecoder;
import dev.waymark.internal.wire.RecordMovedDecoder;
import dev.waymark.internal.wire.RowsAddedDecoder;
import dev.waymark.internal.wire.RowsDroppedDecoder;
import dev.waymark.internal.wire.SegmentCreatedDecoder;
import dev.waymark.internal.wire.SegmentFooterDecoder;
import dev.waymark.internal.wire.SegmentHeaderDecoder;
import dev.waymark.internal.wire.SegmentRemovedDecoder;
import dev.waymark.internal.wire.SegmentSealedDecoder;
import dev.waymark.internal.wire.SessionClosedDecoder;
import dev.waymark.internal.wire.SessionOpenedDecoder;
import dev.waymark.internal.wire.StatusDecoder;
import dev.waymark.internal.wire.TouchedDecoder;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.RestorePolicy;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;

/** Frames to edits. Each message's shape is checked before its decoder is let near it. */
final class EditDecoder {
  private static final MessageShape NAMESPACE_ADDED =
      MessageShape.texts(NamespaceAddedDecoder.BLOCK_LENGTH, 3);
  private static final MessageShape NAMESPACE_DROPPED =
      MessageShape.fixed(NamespaceDroppedDecoder.BLOCK_LENGTH);
  private static final MessageShape SEGMENT_CREATED =
      MessageShape.fixed(SegmentCreatedDecoder.BLOCK_LENGTH);
  private static final MessageShape SEGMENT_SEALED =
      MessageShape.fixed(SegmentSealedDecoder.BLOCK_LENGTH);
  private static final MessageShape SEGMENT_REMOVED =
      MessageShape.fixed(SegmentRemovedDecoder.BLOCK_LENGTH);
  private static final MessageShape SESSION_OPENED =
      MessageShape.fixed(SessionOpenedDecoder.BLOCK_LENGTH);
  private static final MessageShape SESSION_CLOSED =
      MessageShape.fixed(SessionClosedDecoder.BLOCK_LENGTH);
  private static final MessageShape ROWS_ADDED =
      MessageShape.group(
          RowsAddedDecoder.BLOCK_LENGTH, RowsAddedDecoder.RecordsDecoder.sbeBlockLength());
  private static final MessageShape ROWS_DROPPED =
      MessageShape.fixed(RowsDroppedDecoder.BLOCK_LENGTH);
  private static final MessageShape POINT_ADDED =
      MessageShape.group(
          PointAddedDecoder.BLOCK_LENGTH, PointAddedDecoder.RecordsDecoder.sbeBlockLength());
  private static final MessageShape POINT_DROPPED =
      MessageShape.fixed(PointDroppedDecoder.BLOCK_LENGTH);
  private static final MessageShape CHAIN_KEPT =
      MessageShape.texts(ChainKeptDecoder.BLOCK_LENGTH, 1);
  private static final MessageShape CHAIN_RELEASED =
      MessageShape.texts(ChainReleasedDecoder.BLOCK_LENGTH, 1);
  private static final MessageShape RECORD_MOVED =
      MessageShape.fixed(RecordMovedDecoder.BLOCK_LENGTH);
  private static final MessageShape TOUCHED =
      MessageShape.group(
          TouchedDecoder.BLOCK_LENGTH, TouchedDecoder.BoundariesDecoder.sbeBlockLength());
  private static final MessageShape DESCRIPTOR_PLACED =
      MessageShape.fixed(DescriptorPlacedDecoder.BLOCK_LENGTH);
  private static final MessageShape BOUNDARY_USED =
      MessageShape.fixed(BoundaryUsedDecoder.BLOCK_LENGTH);
  private static final MessageShape BUDGET_SPENT =
      MessageShape.fixed(BudgetSpentDecoder.BLOCK_LENGTH);
  private static final MessageShape CHECKPOINT_END =
      MessageShape.fixed(CheckpointEndDecoder.BLOCK_LENGTH);

  private final NamespaceAddedDecoder namespaceAdded = new NamespaceAddedDecoder();
  private final NamespaceDroppedDecoder namespaceDropped = new NamespaceDroppedDecoder();
  private final SegmentCreatedDecoder segmentCreated = new SegmentCreatedDecoder();
  private final SegmentSealedDecoder segmentSealed = new SegmentSealedDecoder();
  private final SegmentRemovedDecoder segmentRemoved = new SegmentRemovedDecoder();
  private final SessionOpenedDecoder sessionOpened = new SessionOpenedDecoder();
  private final SessionClosedDecoder sessionClosed = new SessionClosedDecoder();
  private final RowsAddedDecoder rowsAdded = new RowsAddedDecoder();
  private final RowsDroppedDecoder rowsDropped = new RowsDroppedDecoder();
  private final PointAddedDecoder pointAdded = new PointAddedDecoder();
  private final PointDroppedDecoder pointDropped = new PointDroppedDecoder();
  private final ChainKeptDecoder chainKept = new ChainKeptDecoder();
  private final ChainReleasedDecoder chainReleased = new ChainReleasedDecoder();
  private final RecordMovedDecoder recordMoved = new RecordMovedDecoder();
  private final TouchedDecoder touched = new TouchedDecoder();
  private final DescriptorPlacedDecoder descriptorPlaced = new DescriptorPlacedDecoder();
  private final BoundaryUsedDecoder boundaryUsed = new BoundaryUsedDecoder();
  private final BudgetSpentDecoder budgetSpent = new BudgetSpentDecoder();
  private final CheckpointEndDecoder checkpointEnd = new CheckpointEndDecoder();

  private DirectBuffer buffer;
  private int index;
  private int lengthBytes;
  private String fileName;
  private long offsetBytes;

  Edit decode(DirectBuffer source, int sourceIndex, int length, String file, long offset) {
    buffer = source;
    index = sourceIndex;
    lengthBytes = length;
    fileName = file;
    offsetBytes = offset;
    Edit edit = message(Frame.templateId(source, sourceIndex));
    if (edit != null) {
      require(EditRules.violation(edit));
    }
    return edit;
  }

  private Edit message(int templateId) {
    return switch (templateId) {
      case RowsAddedDecoder.TEMPLATE_ID -> rowsAdded();
      case RowsDroppedDecoder.TEMPLATE_ID -> rowsDropped();
      case PointAddedDecoder.TEMPLATE_ID -> pointAdded();
      case PointDroppedDecoder.TEMPLATE_ID -> pointDropped();
      case TouchedDecoder.TEMPLATE_ID -> touched();
      case RecordMovedDecoder.TEMPLATE_ID -> recordMoved();
      case SessionOpenedDecoder.TEMPLATE_ID -> sessionOpened();
      case SessionClosedDecoder.TEMPLATE_ID -> sessionClosed();
      case SegmentCreatedDecoder.TEMPLATE_ID -> segmentCreated();
      case SegmentSealedDecoder.TEMPLATE_ID -> segmentSealed();
      case SegmentRemovedDecoder.TEMPLATE_ID -> segmentRemoved();
      case NamespaceAddedDecoder.TEMPLATE_ID -> namespaceAdded();
      case NamespaceDroppedDecoder.TEMPLATE_ID -> namespaceDropped();
      case ChainKeptDecoder.TEMPLATE_ID -> chainKept();
      case ChainReleasedDecoder.TEMPLATE_ID -> chainReleased();
      case DescriptorPlacedDecoder.TEMPLATE_ID -> descriptorPlaced();
      case BoundaryUsedDecoder.TEMPLATE_ID -> boundaryUsed();
      case BudgetSpentDecoder.TEMPLATE_ID -> budgetSpent();
      case CheckpointEndDecoder.TEMPLATE_ID -> checkpointEnd();
      case SegmentHeaderDecoder.TEMPLATE_ID,
          SegmentFooterDecoder.TEMPLATE_ID,
          RecordDecoder.TEMPLATE_ID,
          NamespaceRecordDecoder.TEMPLATE_ID,
          CurrentDecoder.TEMPLATE_ID,
          StatusDecoder.TEMPLATE_ID,
          ManifestHeaderDecoder.TEMPLATE_ID,
          BatchMarkDecoder.TEMPLATE_ID ->
          throw corrupt("message " + templateId + ", no edit");
      default -> unknown(templateId);
    };
  }

  private Edit unknown(int templateId) {
    if (templateId < EditCodec.FIRST_SKIPPABLE_TEMPLATE) {
      throw new UnsupportedFormatException(
          ErrorDetail.of("an edit is of a kind that this version does not know")
              .at(fileName, offsetBytes)
              .found("message " + templateId)
              .remedy("open it with a newer version"));
    }
    return null;
  }

  private Edit namespaceAdded() {
    int at = begin(NAMESPACE_ADDED);
    namespaceAdded.wrap(buffer, at, block(), version());
    requireZero(namespaceAdded.reserved());
    BoundaryKey fingerprint = key(namespaceAdded.fingerprint());
    int namespaceId = namespaceId(namespaceAdded.namespaceId());
    byte[] identity = new byte[namespaceAdded.identityLength()];
    namespaceAdded.getIdentity(identity, 0, identity.length);
    byte[] layout = new byte[namespaceAdded.layoutLength()];
    namespaceAdded.getLayout(layout, 0, layout.length);
    byte[] codecs = new byte[namespaceAdded.codecsLength()];
    namespaceAdded.getCodecs(codecs, 0, codecs.length);
    return new Edit.NamespaceAdded(
        namespaceId, fingerprint, text(identity), text(layout), text(codecs));
  }

  private Edit namespaceDropped() {
    int at = begin(NAMESPACE_DROPPED);
    namespaceDropped.wrap(buffer, at, block(), version());
    requireZero(namespaceDropped.reserved());
    return new Edit.NamespaceDropped(namespaceId(namespaceDropped.namespaceId()));
  }

  private Edit segmentCreated() {
    SegmentCreatedDecoder d =
        segmentCreated.wrap(buffer, begin(SEGMENT_CREATED), block(), version());
    requireZero(d.reserved1() | d.reserved2() | d.reserved3());
    return new Edit.SegmentCreated(
        d.segmentId(),
        known(SegmentKind.ofWireCode(d.kind()), "segment kind", d.kind()),
        d.creationSequence());
  }

  private Edit segmentSealed() {
    SegmentSealedDecoder d = segmentSealed.wrap(buffer, begin(SEGMENT_SEALED), block(), version());
    return new Edit.SegmentSealed(d.segmentId(), d.lengthBytes(), d.footerOffsetBytes());
  }

  private Edit segmentRemoved() {
    int at = begin(SEGMENT_REMOVED);
    return new Edit.SegmentRemoved(segmentRemoved.wrap(buffer, at, block(), version()).segmentId());
  }

  private Edit sessionOpened() {
    SessionOpenedDecoder d = sessionOpened.wrap(buffer, begin(SESSION_OPENED), block(), version());
    requireZero(d.reserved());
    return new Edit.SessionOpened(
        d.sessionId(),
        namespaceId(d.namespaceId()),
        d.startTokens(),
        d.expectedTokens(),
        known(RestorePolicy.ofWire(d.policy(), d.policyArgument()), "restore policy", d.policy()),
        known(AbortMode.ofWireCode(d.abortMode()), "abort mode", d.abortMode()),
        d.openedMillis());
  }

  private Edit sessionClosed() {
    SessionClosedDecoder d = sessionClosed.wrap(buffer, begin(SESSION_CLOSED), block(), version());
    requireZero(d.reserved1() | d.reserved2() | d.reserved3());
    return new Edit.SessionClosed(
        d.sessionId(),
        known(SessionOutcome.ofWireCode(d.outcome()), "outcome", d.outcome()),
        d.closedMillis());
  }

  private Edit rowsAdded() {
    RowsAddedDecoder d = rowsAdded.wrap(buffer, begin(ROWS_ADDED), block(), version());
    RowsAddedDecoder.RecordsDecoder group = d.records();
    List<RecordLocation> records = records(group);
    return new Edit.RowsAdded(
        namespaceId(d.namespaceId()),
        key(d.key()),
        key(d.parentKey()),
        d.sessionId(),
        d.tokenFrom(),
        d.tokenTo(),
        d.sequence(),
        d.addedMillis(),
        d.payloadBytes(),
        records);
  }

  /** There is nearly always one. */
  private static List<RecordLocation> records(RowsAddedDecoder.RecordsDecoder group) {
    if (group.count() == 1) {
      return List.of(record(group.next()));
    }
    RecordLocation[] records = new RecordLocation[group.count()];
    for (int i = 0; i < records.length; i++) {
      records[i] = record(group.next());
    }
    return List.of(records);
  }

  private static RecordLocation record(RowsAddedDecoder.RecordsDecoder d) {
    return new RecordLocation(d.segmentId(), d.offsetBytes(), d.lengthBytes());
  }

  private Edit rowsDropped() {
    RowsDroppedDecoder d = rowsDropped.wrap(buffer, begin(ROWS_DROPPED), block(), version());
    requireZero(d.reserved1() | d.reserved2());
    return new Edit.RowsDropped(namespaceId(d.namespaceId()), key(d.key()), dropReason(d.reason()));
  }

  private Edit pointAdded() {
    PointAddedDecoder d = pointAdded.wrap(buffer, begin(POINT_ADDED), block(), version());
    PointAddedDecoder.RecordsDecoder group = d.records();
    List<RecordLocation> deltas = new ArrayList<>();
    List<RecordLocation> states = new ArrayList<>();
    while (group.hasNext()) {
      group.next();
      RecordKind kind = RecordKind.ofWireCode(group.kind());
      if (kind == RecordKind.STATE) {
        states.add(new RecordLocation(group.segmentId(), group.offsetBytes(), group.lengthBytes()));
      } else if (kind == RecordKind.DELTA && states.isEmpty()) {
        deltas.add(new RecordLocation(group.segmentId(), group.offsetBytes(), group.lengthBytes()));
      } else {
        throw corrupt("a point with a record of kind " + group.kind() + " out of place");
      }
    }
    return new Edit.PointAdded(
        namespaceId(d.namespaceId()),
        key(d.key()),
        d.sessionId(),
        d.coveredFrom(),
        d.sequence(),
        d.addedMillis(),
        d.deltaPayloadBytes(),
        d.statePayloadBytes(),
        List.copyOf(deltas),
        List.copyOf(states));
  }

  private Edit pointDropped() {
    PointDroppedDecoder d = pointDropped.wrap(buffer, begin(POINT_DROPPED), block(), version());
    requireZero(d.reserved());
    if (d.deltaToo() > 1) {
      throw corrupt("a flag of " + d.deltaToo());
    }
    return new Edit.PointDropped(
        namespaceId(d.namespaceId()), key(d.key()), dropReason(d.reason()), d.deltaToo() == 1);
  }

  private Edit chainKept() {
    ChainKeptDecoder d = chainKept.wrap(buffer, begin(CHAIN_KEPT), block(), version());
    requireZero(d.reserved());
    byte[] name = new byte[d.nameLength()];
    d.getName(name, 0, name.length);
    return new Edit.ChainKept(
        namespaceId(d.namespaceId()), key(d.key()), text(name), d.keptMillis());
  }

  private Edit chainReleased() {
    ChainReleasedDecoder d = chainReleased.wrap(buffer, begin(CHAIN_RELEASED), block(), version());
    requireZero(d.reserved());
    byte[] name = new byte[d.nameLength()];
    d.getName(name, 0, name.length);
    return new Edit.ChainReleased(namespaceId(d.namespaceId()), text(name));
  }

  private Edit recordMoved() {
    RecordMovedDecoder d = recordMoved.wrap(buffer, begin(RECORD_MOVED), block(), version());
    requireZero(d.reserved1() | d.reserved2());
    return new Edit.RecordMoved(
        namespaceId(d.namespaceId()),
        key(d.key()),
        known(RecordKind.ofWireCode(d.kind()), "record kind", d.kind()),
        d.fromSegmentId(),
        d.fromOffsetBytes(),
        d.toSegmentId(),
        d.toOffsetBytes());
  }

  private Edit touched() {
    TouchedDecoder d = touched.wrap(buffer, begin(TOUCHED), block(), version());
    TouchedDecoder.BoundariesDecoder group = d.boundaries();
    List<Edit.Touch> touches = new ArrayList<>(group.count());
    while (group.hasNext()) {
      group.next();
      touches.add(
          new Edit.Touch(namespaceId(group.namespaceId()), key(group.key()), group.sequence()));
    }
    return new Edit.Touched(List.copyOf(touches));
  }

  private Edit descriptorPlaced() {
    DescriptorPlacedDecoder d =
        descriptorPlaced.wrap(buffer, begin(DESCRIPTOR_PLACED), block(), version());
    requireZero(d.reserved());
    return new Edit.DescriptorPlaced(
        namespaceId(d.namespaceId()),
        new RecordLocation(d.segmentId(), d.offsetBytes(), d.lengthBytes()));
  }

  private Edit boundaryUsed() {
    BoundaryUsedDecoder d = boundaryUsed.wrap(buffer, begin(BOUNDARY_USED), block(), version());
    requireZero(d.reserved());
    return new Edit.BoundaryUsed(d.sessionId(), namespaceId(d.namespaceId()), key(d.key()));
  }

  private Edit budgetSpent() {
    BudgetSpentDecoder d = budgetSpent.wrap(buffer, begin(BUDGET_SPENT), block(), version());
    return new Edit.BudgetSpent(d.epochDay(), d.writtenBytes());
  }

  private Edit checkpointEnd() {
    CheckpointEndDecoder d = checkpointEnd.wrap(buffer, begin(CHECKPOINT_END), block(), version());
    requireZero(d.reserved());
    return new Edit.CheckpointEnd(
        d.editCount(),
        d.nextSegmentId(),
        d.nextSessionId(),
        d.nextSequence(),
        namespaceId(d.nextNamespaceId()));
  }

  /** Checks the shape; returns where the message begins. */
  private int begin(MessageShape shape) {
    require(shape.violation(buffer, index, lengthBytes));
    return index + Frame.HEADER_BYTES;
  }

  private int block() {
    return Frame.blockLength(buffer, index);
  }

  private int version() {
    return Frame.version(buffer, index);
  }

  private static BoundaryKey key(KeyDecoder d) {
    return new BoundaryKey(d.word0(), d.word1(), d.word2(), d.word3());
  }

  private int namespaceId(long id) {
    if (id > Integer.MAX_VALUE) {
      throw corrupt("namespace id " + id);
    }
    return (int) id;
  }

  private DropReason dropReason(int code) {
    return known(DropReason.ofWireCode(code), "reason", code);
  }

  private <T> T known(T value, String what, int code) {
    if (value == null) {
      throw corrupt(what + " " + code);
    }
    return value;
  }

  private String text(byte[] bytes) {
    String text = Text.decode(bytes);
    if (text == null) {
      throw corrupt("a text that is no UTF-8");
    }
    return text;
  }

  private void requireZero(long reserved) {
    if (reserved != 0) {
      throw corrupt("reserved bytes that are not zero");
    }
  }

  private void require(String violation) {
    if (violation != null) {
      throw corrupt(violation);
    }
  }

  private CorruptionException corrupt(String found) {
    return new CorruptionException(
        ErrorDetail.of("an edit says what no edit says").at(fileName, offsetBytes).found(found));
  }
}
