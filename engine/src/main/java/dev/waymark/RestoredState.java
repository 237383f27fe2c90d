package dev.waymark;

import dev.waymark.error.ClosedException;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.RestoreMissException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.error.ViewMismatchException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;

/**
 * A restore point that is pinned, and being read into the caller's memory. Nothing read through it
 * may be used before {@link #finish()} returned. Closing it unpins.
 *
 * <p>Several threads may read different tensors at once.
 */
public final class RestoredState implements AutoCloseable {
  private static final long NOT_ASKED_FOR = -1;

  private final StoreEngine engine;
  private final Namespace namespace;
  private final Layout layout;
  private final int tokens;
  private final int nextShallower;
  private final Forest.Hold hold;
  private final List<Piece> pieces;
  private final Map<Long, SegmentSet.Lease> leases = new HashMap<>();
  private final AtomicLongArray rowsRead;
  private final ReentrantReadWriteLock reading = new ReentrantReadWriteLock();
  private RecordHeader[] headers;
  private RestoreMissException failure;
  private boolean closed;

  /** A record to be read, and which window rows of it are wanted. */
  private record Piece(
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
  }

  /**
   * What a finished restore says.
   *
   * @param tokens tokens of the prefix that the state stands for
   * @param rawBytes bytes given to the caller
   */
  public record Restored(int tokens, long rawBytes) {}

  private RestoredState(
      StoreEngine engine,
      Namespace namespace,
      int tokens,
      int nextShallower,
      Forest.Hold hold,
      List<Piece> pieces) {
    this.engine = engine;
    this.namespace = namespace;
    this.layout = namespace.layout();
    this.tokens = tokens;
    this.nextShallower = nextShallower;
    this.hold = hold;
    this.pieces = pieces;
    this.rowsRead = new AtomicLongArray(layout.tensors().size());
    for (int i = 0; i < rowsRead.length(); i++) {
      rowsRead.set(i, NOT_ASKED_FOR);
    }
  }

  static RestoredState open(StoreEngine engine, PrefixMatch match, int tokens) {
    Namespace namespace = match.namespace();
    return engine.publisher.write(
        () -> {
          engine.requireOpen();
          Forest forest = engine.forest;
          int node = forest.find(namespace.state().id(), match.keyAt(tokens));
          if (node == Forest.NONE || !forest.isRestorable(node)) {
            throw new StaleMatchException(
                ErrorDetail.of("the restore point at " + tokens + " tokens is not there any more")
                    .remedy("match again"));
          }
          engine.touch(node);
          List<Piece> pieces = pieces(forest, node);
          return new RestoredState(
              engine,
              namespace,
              tokens,
              match.nextShallower(tokens),
              forest.holdToRead(node),
              pieces);
        });
  }

  /** Rows from the root on, then the window from its newest rows back, then the fixed state. */
  private static List<Piece> pieces(Forest forest, int node) {
    List<Integer> chain = new ArrayList<>();
    for (int at = node; !forest.isRoot(at); at = forest.parent(at)) {
      chain.add(at);
    }
    Collections.reverse(chain);
    List<Piece> pieces = new ArrayList<>();
    for (int at : chain) {
      add(pieces, forest, at, RecordKind.APPEND, forest.rowRecords(at), 0, Long.MAX_VALUE);
    }
    int windowFrom = forest.windowFrom(node);
    int open = forest.tokens(node);
    for (int i = chain.size() - 1; i >= 0 && open > windowFrom; i--) {
      int at = chain.get(i);
      if (forest.hasDelta(at) && forest.coveredFrom(at) < open) {
        add(pieces, forest, at, RecordKind.DELTA, forest.deltaRecords(at), windowFrom, open);
        open = forest.coveredFrom(at);
      }
    }
    add(pieces, forest, node, RecordKind.STATE, forest.stateRecords(node), 0, Long.MAX_VALUE);
    return pieces;
  }

  private static void add(
      List<Piece> pieces,
      Forest forest,
      int node,
      RecordKind kind,
      List<RecordLocation> records,
      long fromRow,
      long toRow) {
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

  /** {@return tokens of the prefix that the state stands for} */
  public int tokens() {
    return tokens;
  }

  /**
   * {@return first row that a tensor's view has to hold: of a window tensor the first that is
   * restored}
   *
   * @param spec the tensor
   */
  public long firstRow(TensorSpec spec) {
    return spec.growth() instanceof Growth.Window window
        ? Math.max(0, tokens - window.windowTokens())
        : 0;
  }

  /**
   * {@return one past the last row that a tensor's view has to hold}
   *
   * @param spec the tensor
   */
  public long endRow(TensorSpec spec) {
    return spec.rowsAfter(tokens);
  }

  /**
   * Reads one tensor into the caller's memory. Rows come in token order from row {@link #firstRow};
   * of a window tensor with sinks, also the first ones, for which the view needs room.
   *
   * @param spec the tensor
   * @param view the caller's memory for its rows
   * @throws ViewMismatchException if the view does not hold the rows; the restore goes on
   * @throws RestoreMissException if the stored bytes cannot be given back
   */
  public void read(TensorSpec spec, TensorView view) {
    read(StateViews.builder().put(spec, view).build());
  }

  /**
   * Reads all tensors of which a view is given, record by record, with several threads.
   *
   * @param views views of those tensors that are wanted
   * @throws ViewMismatchException if a view does not hold the rows; the restore goes on
   * @throws RestoreMissException if the stored bytes cannot be given back
   */
  public void read(StateViews views) {
    reading.readLock().lock();
    try {
      readGuarded(views);
    } finally {
      reading.readLock().unlock();
    }
  }

  private void readGuarded(StateViews views) {
    requireReadable();
    views.checkNames(layout);
    TensorView[] viewOf = new TensorView[layout.tensors().size()];
    for (int i = 0; i < viewOf.length; i++) {
      TensorSpec spec = layout.tensors().get(i);
      viewOf[i] = views.get(spec);
      if (viewOf[i] != null) {
        check(spec, viewOf[i]);
      }
    }
    // Only now: a wrong view leaves what was read before as it is.
    for (int i = 0; i < viewOf.length; i++) {
      if (viewOf[i] != null) {
        rowsRead.set(i, 0);
      }
    }
    try {
      engine.using(
          () -> {
            readHeaders();
            readParallel(viewOf);
            return null;
          });
    } catch (RestoreMissException e) {
      fail(e);
      throw e;
    } catch (WaymarkException e) {
      if (e instanceof ViewMismatchException || e instanceof ClosedException) {
        throw e;
      }
      RestoreMissException miss = miss(e);
      fail(miss);
      throw miss;
    }
  }

  private void check(TensorSpec spec, TensorView view) {
    view.checkWritable(spec);
    boolean fits = view.holds(firstRow(spec), endRow(spec));
    if (spec.growth() instanceof Growth.Window window) {
      fits &= view.holds(0, Math.min(window.sinkTokens(), tokens));
    }
    if (!fits) {
      throw new ViewMismatchException(
          ErrorDetail.of("the view of tensor '" + spec.name() + "' does not hold what is restored")
              .expected("rows " + firstRow(spec) + " to " + endRow(spec) + ", and the sinks")
              .found("rows " + view.firstRow() + " to " + view.endRow()));
    }
  }

  private synchronized void readHeaders() {
    if (headers != null) {
      return;
    }
    RecordHeader[] read = new RecordHeader[pieces.size()];
    forEachPiece(
        (i, piece, reader) -> {
          RecordHeader header = reader.header(piece.location(), layout);
          if (!piece.is(header, namespace.state().id())) {
            throw new CorruptionException(
                ErrorDetail.of("a record belongs to another boundary")
                    .at(
                        piece.kind().segmentKind().fileName(piece.location().segmentId()),
                        piece.location().offsetBytes())
                    .expected(piece.kind() + " of " + piece.key().abbreviated())
                    .found(header.kind() + " of " + header.key().abbreviated()));
          }
          read[i] = header;
        });
    headers = read;
  }

  private void readParallel(TensorView[] viewOf) {
    forEachPiece(
        (i, piece, reader) -> {
          RecordHeader header = headers[i];
          boolean all = true;
          for (RecordHeader.Part part : header.parts()) {
            all &= viewOf[part.tensorIndex()] != null;
          }
          for (RecordHeader.Part part : header.parts()) {
            TensorView view = viewOf[part.tensorIndex()];
            if (view != null) {
              long rows = readPart(header, part, view, reader, piece, all);
              rowsRead.addAndGet(part.tensorIndex(), rows);
            }
          }
        });
  }

  private long readPart(
      RecordHeader header,
      RecordHeader.Part part,
      TensorView view,
      RecordReader reader,
      Piece piece,
      boolean ahead) {
    long from = 0;
    long to = Long.MAX_VALUE;
    if (piece.kind() == RecordKind.DELTA) {
      from = Math.max(piece.fromRow(), firstRow(part.spec()));
      to = piece.toRow();
    }
    return reader.readPart(header, part, view, from, to, ahead);
  }

  private interface PieceReader {
    void read(int index, Piece piece, RecordReader reader);
  }

  /** Runs over all pieces in order, several threads taking runs of them in turn. */
  private void forEachPiece(PieceReader body) {
    int count = pieces.size();
    int threads = Math.min(engine.options.restoreThreads(), Math.max(1, count / 4));
    AtomicInteger next = new AtomicInteger();
    int run = Math.max(1, Math.min(32, count / (4 * threads)));
    Consumer<Scratch> worker =
        scratch -> {
          try (scratch) {
            for (int from = next.getAndAdd(run); from < count; from = next.getAndAdd(run)) {
              for (int i = from; i < Math.min(count, from + run); i++) {
                readPiece(i, body, scratch);
              }
            }
          } catch (Throwable e) {
            next.set(count);
            throw e;
          }
        };
    engine.restorers.run(
        threads - 1,
        () -> {
          // Nobody waits for memory here, since the caller would wait for it to end.
          Scratch scratch = engine.scratches.tryTake();
          if (scratch != null) {
            worker.accept(scratch);
          }
        },
        () -> worker.accept(engine.scratches.take()));
  }

  private void readPiece(int i, PieceReader body, Scratch scratch) {
    Piece piece = pieces.get(i);
    try {
      SegmentSet.Lease lease = lease(piece.location().segmentId());
      body.read(i, piece, new RecordReader(lease.region(), lease.fileName(), scratch));
    } catch (CorruptionException e) {
      damaged(piece, e, scratch);
      throw miss(e);
    }
  }

  /** A record is set aside only where a second look finds the same. */
  private void damaged(Piece piece, CorruptionException cause, Scratch scratch) {
    try {
      SegmentSet.Lease lease = lease(piece.location().segmentId());
      RecordReader reader = new RecordReader(lease.region(), lease.fileName(), scratch);
      RecordHeader header = reader.header(piece.location(), layout);
      if (piece.is(header, namespace.state().id())) {
        reader.verify(header);
        return;
      }
    } catch (CorruptionException e) {
      // Proven.
    } catch (WaymarkException e) {
      return;
    }
    engine.dropDamaged(namespace.state().id(), piece.key(), piece.kind(), piece.location(), cause);
  }

  private SegmentSet.Lease lease(long segmentId) {
    synchronized (leases) {
      SegmentSet.Lease lease = leases.get(segmentId);
      if (lease == null) {
        lease = engine.segments.lease(segmentId);
        leases.put(segmentId, lease);
      }
      return lease;
    }
  }

  /**
   * Says that everything was read, and that it is right.
   *
   * @return what was restored
   * @throws RestoreMissException if any of it was not
   * @throws ViewMismatchException if a tensor was never read
   */
  public Restored finish() {
    requireReadable();
    long bytes = 0;
    for (int i = 0; i < layout.tensors().size(); i++) {
      TensorSpec spec = layout.tensors().get(i);
      long rows = expectedRows(spec);
      long expected = rows * spec.outer();
      if (spec.bytesOfRows(rows) > 0 && rowsRead.get(i) != expected) {
        if (rowsRead.get(i) == NOT_ASKED_FOR) {
          throw new ViewMismatchException(
              ErrorDetail.of("a tensor was not read before the restore was finished")
                  .expected("a read of '" + spec.name() + "'")
                  .found("none"));
        }
        RestoreMissException miss =
            miss(
                new CorruptionException(
                    ErrorDetail.of("records do not hold all rows of '" + spec.name() + "'")
                        .expected(expected)
                        .found(rowsRead.get(i))));
        fail(miss);
        throw miss;
      }
      bytes += spec.bytesOfRows(rows);
    }
    engine.counters.restores.increment();
    engine.counters.restoredBytes.add(bytes);
    return new Restored(tokens, bytes);
  }

  private long expectedRows(TensorSpec spec) {
    if (spec.growth() instanceof Growth.Window window) {
      long sinks = Math.min(window.sinkTokens(), tokens);
      return sinks + tokens - Math.max(sinks, tokens - window.windowTokens());
    }
    return spec.rowsAfter(tokens);
  }

  private RestoreMissException miss(WaymarkException cause) {
    return new RestoreMissException(
        ErrorDetail.of("the state at " + tokens + " tokens cannot be given back")
            .found(cause.getMessage())
            .remedy(
                nextShallower > 0
                    ? "restore at " + nextShallower + " tokens, or compute the prompt anew"
                    : "compute the prompt anew"),
        nextShallower,
        cause);
  }

  private synchronized void fail(RestoreMissException miss) {
    if (failure == null) {
      failure = miss;
      engine.counters.restoreMisses.increment();
    }
  }

  private synchronized void requireReadable() {
    if (closed) {
      throw new ClosedException(ErrorDetail.of("the restore was closed").remedy("restore again"));
    }
    engine.requireOpen();
    if (failure != null) {
      throw failure;
    }
  }

  /** Unpins; idempotent. Waits for reads that are under way. */
  @Override
  public void close() {
    // Not while someone copies out of a map: that may be undone once the leases are given back.
    reading.writeLock().lock();
    try {
      synchronized (this) {
        if (closed) {
          return;
        }
        closed = true;
      }
      synchronized (leases) {
        leases.values().forEach(SegmentSet.Lease::close);
        leases.clear();
      }
    } finally {
      reading.writeLock().unlock();
    }
    engine.publisher.write(
        () -> {
          engine.forest.release(hold);
          return null;
        });
  }
}
