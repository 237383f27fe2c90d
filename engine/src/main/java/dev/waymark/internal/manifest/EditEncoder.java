package dev.waymark.internal.manifest;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.Text;
import dev.waymark.internal.wire.BoundaryUsedEncoder;
import dev.waymark.internal.wire.BudgetSpentEncoder;
import dev.waymark.internal.wire.ChainKeptEncoder;
import dev.waymark.internal.wire.ChainReleasedEncoder;
import dev.waymark.internal.wire.CheckpointEndEncoder;
import dev.waymark.internal.wire.DescriptorPlacedEncoder;
import dev.waymark.internal.wire.KeyEncoder;
import dev.waymark.internal.wire.NamespaceAddedEncoder;
import dev.waymark.internal.wire.NamespaceDroppedEncoder;
import dev.waymark.internal.wire.PointAddedEncoder;
import dev.waymark.internal.wire.PointDroppedEncoder;
import dev.waymark.internal.wire.RecordMovedEncoder;
import dev.waymark.internal.wire.RowsAddedEncoder;
import dev.waymark.internal.wire.RowsDroppedEncoder;
import dev.waymark.internal.wire.SegmentCreatedEncoder;
import dev.waymark.internal.wire.SegmentRemovedEncoder;
import dev.waymark.internal.wire.SegmentSealedEncoder;
import dev.waymark.internal.wire.SessionClosedEncoder;
import dev.waymark.internal.wire.SessionOpenedEncoder;
import dev.waymark.internal.wire.TouchedEncoder;
import dev.waymark.layout.BoundaryKey;
import java.util.List;
import org.agrona.MutableDirectBuffer;

/** Edits to frames. Every block is zeroed first, so that reserved bytes need no care. */
final class EditEncoder {
  private final NamespaceAddedEncoder namespaceAdded = new NamespaceAddedEncoder();
  private final NamespaceDroppedEncoder namespaceDropped = new NamespaceDroppedEncoder();
  private final SegmentCreatedEncoder segmentCreated = new SegmentCreatedEncoder();
  private final SegmentSealedEncoder segmentSealed = new SegmentSealedEncoder();
  private final SegmentRemovedEncoder segmentRemoved = new SegmentRemovedEncoder();
  private final SessionOpenedEncoder sessionOpened = new SessionOpenedEncoder();
  private final SessionClosedEncoder sessionClosed = new SessionClosedEncoder();
  private final RowsAddedEncoder rowsAdded = new RowsAddedEncoder();
  private final RowsDroppedEncoder rowsDropped = new RowsDroppedEncoder();
  private final PointAddedEncoder pointAdded = new PointAddedEncoder();
  private final PointDroppedEncoder pointDropped = new PointDroppedEncoder();
  private final ChainKeptEncoder chainKept = new ChainKeptEncoder();
  private final ChainReleasedEncoder chainReleased = new ChainReleasedEncoder();
  private final RecordMovedEncoder recordMoved = new RecordMovedEncoder();
  private final TouchedEncoder touched = new TouchedEncoder();
  private final DescriptorPlacedEncoder descriptorPlaced = new DescriptorPlacedEncoder();
  private final BoundaryUsedEncoder boundaryUsed = new BoundaryUsedEncoder();
  private final BudgetSpentEncoder budgetSpent = new BudgetSpentEncoder();
  private final CheckpointEndEncoder checkpointEnd = new CheckpointEndEncoder();

  private MutableDirectBuffer buffer;
  private int index;

  int encode(Edit edit, MutableDirectBuffer target, int targetIndex, int fileTag) {
    String violation = EditRules.violation(edit);
    if (violation != null) {
      throw refused(violation);
    }
    buffer = target;
    index = targetIndex;
    int lengthBytes = Frame.HEADER_BYTES + message(edit);
    Frame.seal(target, targetIndex, lengthBytes, fileTag);
    return lengthBytes;
  }

  /** Writes the message; returns its length. */
  private int message(Edit edit) {
    if (edit instanceof Edit.RowsAdded e) {
      return encode(e);
    } else if (edit instanceof Edit.PointAdded e) {
      return encode(e);
    } else if (edit instanceof Edit.Touched e) {
      return encode(e);
    } else if (edit instanceof Edit.RowsDropped e) {
      return encode(e);
    } else if (edit instanceof Edit.PointDropped e) {
      return encode(e);
    } else if (edit instanceof Edit.RecordMoved e) {
      return encode(e);
    } else if (edit instanceof Edit.SessionOpened e) {
      return encode(e);
    } else if (edit instanceof Edit.SessionClosed e) {
      return encode(e);
    } else if (edit instanceof Edit.SegmentCreated e) {
      return encode(e);
    } else if (edit instanceof Edit.SegmentSealed e) {
      return encode(e);
    } else if (edit instanceof Edit.SegmentRemoved e) {
      return encode(e);
    } else if (edit instanceof Edit.NamespaceAdded e) {
      return encode(e);
    } else if (edit instanceof Edit.NamespaceDropped e) {
      return encode(e);
    } else if (edit instanceof Edit.ChainKept e) {
      return encode(e);
    } else if (edit instanceof Edit.ChainReleased e) {
      return encode(e);
    } else if (edit instanceof Edit.DescriptorPlaced e) {
      return encode(e);
    } else if (edit instanceof Edit.BoundaryUsed e) {
      return encode(e);
    } else if (edit instanceof Edit.BudgetSpent e) {
      return encode(e);
    } else if (edit instanceof Edit.CheckpointEnd e) {
      return encode(e);
    }
    throw new IllegalArgumentException("no message for " + edit.getClass().getSimpleName());
  }

  private int encode(Edit.NamespaceAdded e) {
    byte[] identity = text(e.identity());
    byte[] layout = text(e.layout());
    byte[] codecs = text(e.codecs());
    requireFits((long) identity.length + layout.length + codecs.length);
    int at = begin(NamespaceAddedEncoder.BLOCK_LENGTH, NamespaceAddedEncoder.TEMPLATE_ID);
    namespaceAdded.wrap(buffer, at);
    put(namespaceAdded.fingerprint(), e.fingerprint());
    return namespaceAdded
        .namespaceId(e.namespaceId())
        .putIdentity(identity, 0, identity.length)
        .putLayout(layout, 0, layout.length)
        .putCodecs(codecs, 0, codecs.length)
        .encodedLength();
  }

  private int encode(Edit.NamespaceDropped e) {
    int at = begin(NamespaceDroppedEncoder.BLOCK_LENGTH, NamespaceDroppedEncoder.TEMPLATE_ID);
    return namespaceDropped.wrap(buffer, at).namespaceId(e.namespaceId()).encodedLength();
  }

  private int encode(Edit.SegmentCreated e) {
    int at = begin(SegmentCreatedEncoder.BLOCK_LENGTH, SegmentCreatedEncoder.TEMPLATE_ID);
    return segmentCreated
        .wrap(buffer, at)
        .segmentId(e.segmentId())
        .creationSequence(e.creationSequence())
        .kind((short) e.kind().wireCode())
        .encodedLength();
  }

  private int encode(Edit.SegmentSealed e) {
    int at = begin(SegmentSealedEncoder.BLOCK_LENGTH, SegmentSealedEncoder.TEMPLATE_ID);
    return segmentSealed
        .wrap(buffer, at)
        .segmentId(e.segmentId())
        .lengthBytes(e.lengthBytes())
        .footerOffsetBytes(e.footerOffsetBytes())
        .encodedLength();
  }

  private int encode(Edit.SegmentRemoved e) {
    int at = begin(SegmentRemovedEncoder.BLOCK_LENGTH, SegmentRemovedEncoder.TEMPLATE_ID);
    return segmentRemoved.wrap(buffer, at).segmentId(e.segmentId()).encodedLength();
  }

  private int encode(Edit.SessionOpened e) {
    int at = begin(SessionOpenedEncoder.BLOCK_LENGTH, SessionOpenedEncoder.TEMPLATE_ID);
    return sessionOpened
        .wrap(buffer, at)
        .sessionId(e.sessionId())
        .openedMillis(e.openedMillis())
        .startTokens(e.startTokens())
        .expectedTokens(e.expectedTokens())
        .policyArgument(e.policy().argument())
        .namespaceId(e.namespaceId())
        .policy((short) e.policy().kind().wireCode())
        .abortMode((short) e.abortMode().wireCode())
        .encodedLength();
  }

  private int encode(Edit.SessionClosed e) {
    int at = begin(SessionClosedEncoder.BLOCK_LENGTH, SessionClosedEncoder.TEMPLATE_ID);
    return sessionClosed
        .wrap(buffer, at)
        .sessionId(e.sessionId())
        .closedMillis(e.closedMillis())
        .outcome((short) e.outcome().wireCode())
        .encodedLength();
  }

  private int encode(Edit.RowsAdded e) {
    int at = begin(RowsAddedEncoder.BLOCK_LENGTH, RowsAddedEncoder.TEMPLATE_ID);
    rowsAdded.wrap(buffer, at);
    put(rowsAdded.key(), e.key());
    put(rowsAdded.parentKey(), e.parentKey());
    rowsAdded
        .sessionId(e.sessionId())
        .tokenFrom(e.tokenFrom())
        .tokenTo(e.tokenTo())
        .sequence(e.sequence())
        .addedMillis(e.addedMillis())
        .payloadBytes(e.payloadBytes())
        .namespaceId(e.namespaceId());
    RowsAddedEncoder.RecordsEncoder group = rowsAdded.recordsCount(e.records().size());
    for (RecordLocation record : e.records()) {
      group
          .next()
          .segmentId(record.segmentId())
          .offsetBytes(record.offsetBytes())
          .lengthBytes(record.lengthBytes());
    }
    return rowsAdded.encodedLength();
  }

  private int encode(Edit.RowsDropped e) {
    int at = begin(RowsDroppedEncoder.BLOCK_LENGTH, RowsDroppedEncoder.TEMPLATE_ID);
    rowsDropped.wrap(buffer, at);
    put(rowsDropped.key(), e.key());
    return rowsDropped
        .namespaceId(e.namespaceId())
        .reason((short) e.reason().wireCode())
        .encodedLength();
  }

  private int encode(Edit.PointAdded e) {
    int at = begin(PointAddedEncoder.BLOCK_LENGTH, PointAddedEncoder.TEMPLATE_ID);
    pointAdded.wrap(buffer, at);
    put(pointAdded.key(), e.key());
    pointAdded
        .sessionId(e.sessionId())
        .coveredFrom(e.coveredFrom())
        .sequence(e.sequence())
        .addedMillis(e.addedMillis())
        .deltaPayloadBytes(e.deltaPayloadBytes())
        .statePayloadBytes(e.statePayloadBytes())
        .namespaceId(e.namespaceId());
    PointAddedEncoder.RecordsEncoder group =
        pointAdded.recordsCount(e.deltas().size() + e.states().size());
    put(group, e.deltas(), RecordKind.DELTA);
    put(group, e.states(), RecordKind.STATE);
    return pointAdded.encodedLength();
  }

  private static void put(
      PointAddedEncoder.RecordsEncoder group, List<RecordLocation> records, RecordKind kind) {
    for (RecordLocation record : records) {
      group
          .next()
          .segmentId(record.segmentId())
          .offsetBytes(record.offsetBytes())
          .lengthBytes(record.lengthBytes())
          .kind((short) kind.wireCode());
    }
  }

  private int encode(Edit.PointDropped e) {
    int at = begin(PointDroppedEncoder.BLOCK_LENGTH, PointDroppedEncoder.TEMPLATE_ID);
    pointDropped.wrap(buffer, at);
    put(pointDropped.key(), e.key());
    return pointDropped
        .namespaceId(e.namespaceId())
        .reason((short) e.reason().wireCode())
        .deltaToo((short) (e.deltaToo() ? 1 : 0))
        .encodedLength();
  }

  private int encode(Edit.ChainKept e) {
    byte[] name = text(e.name());
    requireFits(name.length);
    int at = begin(ChainKeptEncoder.BLOCK_LENGTH, ChainKeptEncoder.TEMPLATE_ID);
    chainKept.wrap(buffer, at);
    put(chainKept.key(), e.key());
    return chainKept
        .keptMillis(e.keptMillis())
        .namespaceId(e.namespaceId())
        .putName(name, 0, name.length)
        .encodedLength();
  }

  private int encode(Edit.ChainReleased e) {
    byte[] name = text(e.name());
    requireFits(name.length);
    int at = begin(ChainReleasedEncoder.BLOCK_LENGTH, ChainReleasedEncoder.TEMPLATE_ID);
    return chainReleased
        .wrap(buffer, at)
        .namespaceId(e.namespaceId())
        .putName(name, 0, name.length)
        .encodedLength();
  }

  private int encode(Edit.RecordMoved e) {
    int at = begin(RecordMovedEncoder.BLOCK_LENGTH, RecordMovedEncoder.TEMPLATE_ID);
    recordMoved.wrap(buffer, at);
    put(recordMoved.key(), e.key());
    return recordMoved
        .fromSegmentId(e.fromSegmentId())
        .fromOffsetBytes(e.fromOffsetBytes())
        .toSegmentId(e.toSegmentId())
        .toOffsetBytes(e.toOffsetBytes())
        .namespaceId(e.namespaceId())
        .kind((short) e.kind().wireCode())
        .encodedLength();
  }

  private int encode(Edit.Touched e) {
    int at = begin(TouchedEncoder.BLOCK_LENGTH, TouchedEncoder.TEMPLATE_ID);
    touched.wrap(buffer, at);
    TouchedEncoder.BoundariesEncoder group = touched.boundariesCount(e.touches().size());
    for (Edit.Touch touch : e.touches()) {
      group.next();
      put(group.key(), touch.key());
      group.sequence(touch.sequence()).namespaceId(touch.namespaceId());
    }
    return touched.encodedLength();
  }

  private int encode(Edit.DescriptorPlaced e) {
    int at = begin(DescriptorPlacedEncoder.BLOCK_LENGTH, DescriptorPlacedEncoder.TEMPLATE_ID);
    return descriptorPlaced
        .wrap(buffer, at)
        .segmentId(e.location().segmentId())
        .offsetBytes(e.location().offsetBytes())
        .lengthBytes(e.location().lengthBytes())
        .namespaceId(e.namespaceId())
        .encodedLength();
  }

  private int encode(Edit.BoundaryUsed e) {
    int at = begin(BoundaryUsedEncoder.BLOCK_LENGTH, BoundaryUsedEncoder.TEMPLATE_ID);
    boundaryUsed.wrap(buffer, at);
    put(boundaryUsed.key(), e.key());
    return boundaryUsed.sessionId(e.sessionId()).namespaceId(e.namespaceId()).encodedLength();
  }

  private int encode(Edit.BudgetSpent e) {
    int at = begin(BudgetSpentEncoder.BLOCK_LENGTH, BudgetSpentEncoder.TEMPLATE_ID);
    return budgetSpent
        .wrap(buffer, at)
        .epochDay(e.epochDay())
        .writtenBytes(e.writtenBytes())
        .encodedLength();
  }

  private int encode(Edit.CheckpointEnd e) {
    int at = begin(CheckpointEndEncoder.BLOCK_LENGTH, CheckpointEndEncoder.TEMPLATE_ID);
    return checkpointEnd
        .wrap(buffer, at)
        .editCount(e.editCount())
        .nextSegmentId(e.nextSegmentId())
        .nextSessionId(e.nextSessionId())
        .nextSequence(e.nextSequence())
        .nextNamespaceId(e.nextNamespaceId())
        .encodedLength();
  }

  private int begin(int blockLength, int templateId) {
    Frame.putMessageHeader(buffer, index, blockLength, templateId);
    int at = index + Frame.HEADER_BYTES;
    if (blockLength > 0) {
      buffer.setMemory(at, blockLength, (byte) 0);
    }
    return at;
  }

  private static void put(KeyEncoder target, BoundaryKey key) {
    target.word0(key.word0()).word1(key.word1()).word2(key.word2()).word3(key.word3());
  }

  private static byte[] text(String text) {
    byte[] bytes = Text.encode(text);
    if (bytes == null) {
      throw refused("a text that holds half a character");
    }
    return bytes;
  }

  /** A kibibyte is more than what stands around the texts of any message. */
  private static void requireFits(long textBytes) {
    if (textBytes > EditCodec.MAX_FRAME_BYTES - 1024) {
      throw refused("texts of " + textBytes + " bytes");
    }
  }

  private static InvalidArgumentException refused(String violation) {
    return new InvalidArgumentException(
        ErrorDetail.of("an edit cannot be written").found(violation));
  }
}
