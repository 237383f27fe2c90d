package dev.waymark;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A record to be read, what it has to say of itself, and which window rows of it are wanted.
 *
 * @param fromRow first window row that is wanted of a delta
 * @param toRow one past the last
 */
record Piece(
    RecordLocation location,
    RecordKind kind,
    int index,
    int count,
    BoundaryKey key,
    BoundaryKey parentKey,
    int tokenFrom,
    int tokens,
    int coveredFrom,
    long fromRow,
    long toRow) {

  /** Rows from the root on, then the window from its newest rows back, then the fixed state. */
  static List<Piece> ofPoint(Forest forest, int node) {
    List<Integer> chain = new ArrayList<>();
    for (int at = node; !forest.isRoot(at); at = forest.parent(at)) {
      chain.add(at);
    }
    Collections.reverse(chain);
    List<Piece> pieces = new ArrayList<>();
    for (int at : chain) {
      add(pieces, forest, at, RecordKind.APPEND, 0, Long.MAX_VALUE);
    }
    int windowFrom = forest.windowFrom(node);
    int open = forest.tokens(node);
    for (int i = chain.size() - 1; i >= 0 && open > windowFrom; i--) {
      int at = chain.get(i);
      if (forest.hasDelta(at) && forest.coveredFrom(at) < open) {
        add(pieces, forest, at, RecordKind.DELTA, windowFrom, open);
        open = forest.coveredFrom(at);
      }
    }
    add(pieces, forest, node, RecordKind.STATE, 0, Long.MAX_VALUE);
    return pieces;
  }

  /** A boundary's own records of a kind. */
  static List<Piece> ofBoundary(Forest forest, int node, RecordKind kind) {
    List<Piece> pieces = new ArrayList<>();
    if (kind != RecordKind.DELTA || forest.hasDelta(node)) {
      add(pieces, forest, node, kind, 0, Long.MAX_VALUE);
    }
    return pieces;
  }

  private static void add(
      List<Piece> pieces, Forest forest, int node, RecordKind kind, long fromRow, long toRow) {
    List<RecordLocation> records = forest.records(node, kind);
    int tokens = forest.tokens(node);
    for (int i = 0; i < records.size(); i++) {
      pieces.add(
          new Piece(
              records.get(i),
              kind,
              i,
              records.size(),
              forest.key(node),
              forest.key(forest.parent(node)),
              forest.tokens(forest.parent(node)),
              tokens,
              kind == RecordKind.DELTA ? forest.coveredFrom(node) : tokens,
              fromRow,
              toRow));
    }
  }

  /** First row of a tensor that a restore at so many tokens gives back, sinks apart. */
  static long firstRow(TensorSpec spec, int tokens) {
    return spec.growth() instanceof Growth.Window window
        ? Math.max(0, tokens - window.windowTokens())
        : 0;
  }

  /** Rows of a tensor that a restore at so many tokens gives back, sinks included. */
  static long rowsToRestore(TensorSpec spec, int tokens) {
    if (spec.growth() instanceof Growth.Window window) {
      long sinks = Math.min(window.sinkTokens(), tokens);
      return sinks + tokens - Math.max(sinks, tokens - window.windowTokens());
    }
    return spec.rowsAfter(tokens);
  }

  /** Whether a record is what stands there according to the manifest. */
  boolean is(RecordHeader header, int namespaceId) {
    return header.kind() == kind
        && header.key().equals(key)
        && header.parentKey().equals(parentKey)
        && header.namespaceId() == namespaceId
        && header.tokenFrom() == tokenFrom
        && header.tokenTo() == tokens
        && header.coveredFrom() == coveredFrom
        && header.pieceIndex() == index
        && header.pieceCount() == count;
  }

  /**
   * Reads the front of the record.
   *
   * @throws CorruptionException if it is damaged, or another record stands there
   */
  RecordHeader header(RecordReader reader, Layout layout, int namespaceId) {
    RecordHeader header = reader.header(location, layout);
    if (!is(header, namespaceId)) {
      throw new CorruptionException(
          ErrorDetail.of("a record belongs to another boundary")
              .at(kind.segmentKind().fileName(location.segmentId()), location.offsetBytes())
              .expected(kind + " of " + key.abbreviated())
              .found(header.kind() + " of " + header.key().abbreviated()));
    }
    return header;
  }

  /**
   * Reads what a restore at so many tokens wants of a part.
   *
   * @param ahead whether the parts after it will be wanted too
   * @return rows given, counted at each outer position
   */
  long readPart(
      RecordReader reader,
      RecordHeader header,
      RecordHeader.Part part,
      TensorView view,
      int restoredTokens,
      boolean ahead) {
    long from = 0;
    if (kind == RecordKind.DELTA) {
      from = Math.max(fromRow, firstRow(part.spec(), restoredTokens));
    }
    return reader.readPart(header, part, view, from, toRow, ahead);
  }
}
