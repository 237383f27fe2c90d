package dev.waymark.internal.manifest;

import dev.waymark.internal.log.NamespaceDescriptor;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.RestorePolicy;
import java.util.List;

/**
 * One change of what is true. The state of a store is what its manifest's edits add up to, in
 * order; each is whole or absent.
 */
public sealed interface Edit {
  /**
   * Whether space comes back by it, now or once others like it follow: such an edit may be written
   * into what the manifest holds back for a full disk.
   */
  default boolean freesSpace() {
    return this instanceof RowsDropped
        || this instanceof PointDropped
        || this instanceof RecordMoved
        || this instanceof SegmentSealed
        || this instanceof SegmentRemoved
        || this instanceof SessionClosed
        || this instanceof ChainReleased
        || this instanceof NamespaceDropped;
  }

  /** A namespace exists. Texts are the JSON of identity, layout and codecs. */
  record NamespaceAdded(
      int namespaceId, BoundaryKey fingerprint, String identity, String layout, String codecs)
      implements Edit {
    /** The one that says what a description says. */
    public static NamespaceAdded of(NamespaceDescriptor descriptor) {
      return new NamespaceAdded(
          descriptor.namespaceId(),
          descriptor.fingerprint(),
          descriptor.identity(),
          descriptor.layout(),
          descriptor.codecs());
    }
  }

  /** A namespace, and all that is in it, is gone. */
  record NamespaceDropped(int namespaceId) implements Edit {}

  /** A segment's file exists. */
  record SegmentCreated(long segmentId, SegmentKind kind, long creationSequence) implements Edit {}

  /** A segment holds the description of a namespace there. */
  record DescriptorPlaced(int namespaceId, RecordLocation location) implements Edit {}

  /**
   * A segment takes no more records.
   *
   * @param footerOffsetBytes 0 where recovery cut it and it has no footer
   */
  record SegmentSealed(long segmentId, long lengthBytes, long footerOffsetBytes) implements Edit {}

  /** No record of the segment is alive; its file goes. */
  record SegmentRemoved(long segmentId) implements Edit {}

  /** A prefill began. */
  record SessionOpened(
      long sessionId,
      int namespaceId,
      long startTokens,
      long expectedTokens,
      RestorePolicy policy,
      AbortMode abortMode,
      long openedMillis)
      implements Edit {}

  /** A prefill ended. */
  record SessionClosed(long sessionId, SessionOutcome outcome, long closedMillis) implements Edit {}

  /**
   * A boundary exists: its rows are stored in these records, in order.
   *
   * @param parentKey the parent's key; of a first boundary the root key of namespace or tenant
   * @param sequence recency: larger is newer
   * @param payloadBytes raw bytes of the rows
   */
  record RowsAdded(
      int namespaceId,
      BoundaryKey key,
      BoundaryKey parentKey,
      long sessionId,
      long tokenFrom,
      long tokenTo,
      long sequence,
      long addedMillis,
      long payloadBytes,
      List<RecordLocation> records)
      implements Edit {}

  /**
   * A session built on a boundary that another open session had added: it stays unless both take it
   * back.
   */
  record BoundaryUsed(long sessionId, int namespaceId, BoundaryKey key) implements Edit {}

  /** A boundary, which has neither children nor a point, is gone. */
  record RowsDropped(int namespaceId, BoundaryKey key, DropReason reason) implements Edit {}

  /**
   * A boundary became a restore point.
   *
   * @param coveredFrom first window row that its DELTA may hold; equal to the boundary's tokens
   *     where it holds none
   */
  record PointAdded(
      int namespaceId,
      BoundaryKey key,
      long sessionId,
      long coveredFrom,
      long sequence,
      long addedMillis,
      long deltaPayloadBytes,
      long statePayloadBytes,
      List<RecordLocation> deltas,
      List<RecordLocation> states)
      implements Edit {}

  /**
   * A boundary is no restore point any more; its STATE goes. Its DELTA goes too where {@code
   * deltaToo} says so; else it stays for the points whose windows need it, and goes by a second
   * such edit.
   */
  record PointDropped(int namespaceId, BoundaryKey key, DropReason reason, boolean deltaToo)
      implements Edit {}

  /** The chain up to a boundary is held against eviction under a name. */
  record ChainKept(int namespaceId, BoundaryKey key, String name, long keptMillis)
      implements Edit {}

  /** The chain of that name is held no more. */
  record ChainReleased(int namespaceId, String name) implements Edit {}

  /** A record was copied; the old place is dead. */
  record RecordMoved(
      int namespaceId,
      BoundaryKey key,
      RecordKind kind,
      long fromSegmentId,
      long fromOffsetBytes,
      long toSegmentId,
      long toOffsetBytes)
      implements Edit {}

  /** Boundaries were used. */
  record Touched(List<Touch> touches) implements Edit {}

  /** One use of one boundary. */
  record Touch(int namespaceId, BoundaryKey key, long sequence) {}

  /** Bytes written on a day (days since 1970-01-01 UTC), for the write budget. */
  record BudgetSpent(long epochDay, long writtenBytes) implements Edit {}

  /** The edits before this one are the whole state of the manifest before. */
  record CheckpointEnd(
      long editCount,
      long nextSegmentId,
      long nextSessionId,
      long nextSequence,
      int nextNamespaceId)
      implements Edit {}
}
