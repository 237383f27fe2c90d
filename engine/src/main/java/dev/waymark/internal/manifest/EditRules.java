package dev.waymark.internal.manifest;

import dev.waymark.internal.log.RecordLocation;
import java.util.List;

/**
 * What holds for every edit on its own, whatever came before it: nothing else is written, and
 * nothing else is taken from disk.
 */
final class EditRules {
  private static final long RECORD_ALIGNMENT_BYTES = 4096;

  private EditRules() {}

  /** What an edit breaks, or null. */
  static String violation(Edit edit) {
    if (edit instanceof Edit.NamespaceAdded e) {
      return unnumbered("namespace id", e.namespaceId());
    } else if (edit instanceof Edit.NamespaceDropped e) {
      return unnumbered("namespace id", e.namespaceId());
    } else if (edit instanceof Edit.SegmentCreated e) {
      return first(
          unnumbered("segment id", e.segmentId()),
          negative("creation sequence", e.creationSequence()));
    } else if (edit instanceof Edit.SegmentSealed e) {
      return first(
          unnumbered("segment id", e.segmentId()),
          negative("segment length", e.lengthBytes()),
          negative("footer offset", e.footerOffsetBytes()),
          unaligned(e.footerOffsetBytes()),
          e.footerOffsetBytes() > 0 && e.footerOffsetBytes() >= e.lengthBytes()
              ? "a footer beyond the segment's end"
              : null);
    } else if (edit instanceof Edit.SegmentRemoved e) {
      return unnumbered("segment id", e.segmentId());
    } else if (edit instanceof Edit.SessionOpened e) {
      return first(
          negative("session id", e.sessionId()),
          unnumbered("namespace id", e.namespaceId()),
          negative("start token", e.startTokens()),
          negative("expected tokens", e.expectedTokens()));
    } else if (edit instanceof Edit.SessionClosed e) {
      return negative("session id", e.sessionId());
    } else if (edit instanceof Edit.RowsAdded e) {
      return first(
          unnumbered("namespace id", e.namespaceId()),
          negative("session id", e.sessionId()),
          negative("first token", e.tokenFrom()),
          e.tokenTo() <= e.tokenFrom() ? "a token range without tokens" : null,
          e.tokenTo() > Integer.MAX_VALUE ? "a token range beyond 2^31" : null,
          negative("sequence", e.sequence()),
          negative("payload length", e.payloadBytes()),
          e.records().isEmpty() ? "a boundary without a record" : null,
          locations(e.records()));
    } else if (edit instanceof Edit.RowsDropped e) {
      return unnumbered("namespace id", e.namespaceId());
    } else if (edit instanceof Edit.PointAdded e) {
      return first(
          unnumbered("namespace id", e.namespaceId()),
          negative("session id", e.sessionId()),
          negative("first covered token", e.coveredFrom()),
          negative("sequence", e.sequence()),
          negative("payload length", e.deltaPayloadBytes()),
          negative("payload length", e.statePayloadBytes()),
          tooMany((long) e.deltas().size() + e.states().size()),
          locations(e.deltas()),
          locations(e.states()));
    } else if (edit instanceof Edit.PointDropped e) {
      return unnumbered("namespace id", e.namespaceId());
    } else if (edit instanceof Edit.ChainKept e) {
      return unnumbered("namespace id", e.namespaceId());
    } else if (edit instanceof Edit.ChainReleased e) {
      return unnumbered("namespace id", e.namespaceId());
    } else if (edit instanceof Edit.RecordMoved e) {
      return first(
          unnumbered("namespace id", e.namespaceId()),
          place(e.fromSegmentId(), e.fromOffsetBytes()),
          place(e.toSegmentId(), e.toOffsetBytes()),
          e.fromSegmentId() == e.toSegmentId() && e.fromOffsetBytes() == e.toOffsetBytes()
              ? "a record moved to where it is"
              : null);
    } else if (edit instanceof Edit.Touched e) {
      return touches(e.touches());
    } else if (edit instanceof Edit.DescriptorPlaced e) {
      return first(unnumbered("namespace id", e.namespaceId()), locations(List.of(e.location())));
    } else if (edit instanceof Edit.BoundaryUsed e) {
      return first(
          unnumbered("namespace id", e.namespaceId()), negative("session id", e.sessionId()));
    } else if (edit instanceof Edit.BudgetSpent e) {
      return negative("written bytes", e.writtenBytes());
    } else if (edit instanceof Edit.CheckpointEnd e) {
      return first(
          negative("edit count", e.editCount()),
          negative("segment id", e.nextSegmentId()),
          negative("session id", e.nextSessionId()),
          negative("sequence", e.nextSequence()),
          negative("namespace id", e.nextNamespaceId()));
    }
    throw new IllegalArgumentException("no rules for " + edit.getClass().getSimpleName());
  }

  private static String locations(List<RecordLocation> records) {
    String wrong = tooMany(records.size());
    for (int i = 0; wrong == null && i < records.size(); i++) {
      RecordLocation record = records.get(i);
      wrong = place(record.segmentId(), record.offsetBytes());
      if (wrong == null && record.lengthBytes() <= 0) {
        wrong = "a record without bytes";
      }
      if (wrong == null && record.offsetBytes() + record.lengthBytes() < 0) {
        wrong = "a record that ends beyond all files";
      }
    }
    return wrong;
  }

  private static String touches(List<Edit.Touch> touches) {
    String wrong = tooMany(touches.size());
    for (int i = 0; wrong == null && i < touches.size(); i++) {
      Edit.Touch touch = touches.get(i);
      wrong =
          first(
              unnumbered("namespace id", touch.namespaceId()),
              negative("sequence", touch.sequence()));
    }
    return wrong;
  }

  /** The first bytes of a segment are its header, so that no record is at 0. */
  private static String place(long segmentId, long offsetBytes) {
    if (segmentId <= 0) {
      return unnumbered("segment id", segmentId);
    }
    return offsetBytes <= 0 ? "a record at offset " + offsetBytes : unaligned(offsetBytes);
  }

  private static String unaligned(long offsetBytes) {
    return offsetBytes % RECORD_ALIGNMENT_BYTES == 0
        ? null
        : "offset " + offsetBytes + ", which is no multiple of " + RECORD_ALIGNMENT_BYTES;
  }

  private static String tooMany(long entries) {
    return entries <= EditCodec.MAX_GROUP_ENTRIES
        ? null
        : entries + " entries, where a group holds " + EditCodec.MAX_GROUP_ENTRIES;
  }

  private static String negative(String what, long value) {
    return value >= 0 ? null : "a negative " + what;
  }

  /** Ids are given from 1 on, so that 0 can stand for none. */
  private static String unnumbered(String what, long value) {
    return value >= 1 ? null : "a " + what + " of " + value;
  }

  private static String first(String... violations) {
    for (String violation : violations) {
      if (violation != null) {
        return violation;
      }
    }
    return null;
  }
}
