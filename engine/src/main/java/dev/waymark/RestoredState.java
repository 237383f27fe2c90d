package dev.waymark;

import dev.waymark.error.ClosedException;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.RestoreMissException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.error.ViewMismatchException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.log.Lease;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.watch.Watch;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
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
  private final PrefixMatch match;
  private final Forest.Hold hold;
  private final List<Piece> pieces;
  private final Map<Long, Lease> leases = new HashMap<>();
  private final AtomicLongArray rowsRead;
  private final ReentrantReadWriteLock reading = new ReentrantReadWriteLock();
  private final Watch.Span span;
  private RecordHeader[] headers;
  private RestoreMissException failure;
  private boolean closed;

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
      PrefixMatch match,
      Forest.Hold hold,
      List<Piece> pieces) {
    this.engine = engine;
    this.namespace = namespace;
    this.layout = namespace.layout();
    this.tokens = tokens;
    this.match = match;
    this.hold = hold;
    this.pieces = pieces;
    this.span = engine.watch.begin(Watch.Kind.RESTORE);
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
          List<Piece> pieces = Piece.ofPoint(forest, node);
          return new RestoredState(
              engine, namespace, tokens, match, forest.holdToRead(node), pieces);
        });
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
    return Piece.firstRow(spec, tokens);
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
      RestoreMissException miss = miss(e, tokens);
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
          read[i] = piece.header(reader, layout, namespace.state().id());
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
              long rows = piece.readPart(reader, header, part, view, tokens, all);
              rowsRead.addAndGet(part.tensorIndex(), rows);
            }
          }
        });
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
      Lease lease = lease(piece.location().segmentId());
      body.read(i, piece, new RecordReader(lease.region(), lease.fileName(), scratch));
    } catch (CorruptionException e) {
      boolean dropped = damaged(piece, e, scratch);
      // What was dropped the forest knows of; else anything that stands on the record may miss too.
      throw miss(e, dropped ? tokens : piece.tokens());
    } catch (RestoreMissException | ClosedException | ViewMismatchException e) {
      throw e;
    } catch (WaymarkException e) {
      throw miss(e, piece.tokens());
    }
  }

  /**
   * A record is set aside only where a second look finds the same.
   *
   * @return whether it was
   */
  private boolean damaged(Piece piece, CorruptionException cause, Scratch scratch) {
    try {
      Lease lease = lease(piece.location().segmentId());
      RecordReader reader = new RecordReader(lease.region(), lease.fileName(), scratch);
      RecordHeader header = reader.header(piece.location(), layout);
      if (piece.is(header, namespace.state().id())) {
        reader.verify(header);
        return false;
      }
    } catch (CorruptionException e) {
      // Proven.
    } catch (WaymarkException e) {
      return false;
    }
    engine.dropDamaged(namespace.state().id(), piece.key(), piece.kind(), piece.location(), cause);
    return true;
  }

  private Lease lease(long segmentId) {
    synchronized (leases) {
      Lease lease = leases.get(segmentId);
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
      long rows = Piece.rowsToRestore(spec, tokens);
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
                        .found(rowsRead.get(i))),
                tokens);
        fail(miss);
        throw miss;
      }
      bytes += spec.bytesOfRows(rows);
    }
    engine.counters.restores.increment();
    engine.counters.restoredBytes.add(bytes);
    span.end(bytes);
    return new Restored(tokens, bytes);
  }

  /**
   * Says that it misses.
   *
   * @param belowTokens a point below may still be restored
   */
  private RestoreMissException miss(WaymarkException cause, int belowTokens) {
    int nextShallower = match.nextRestorable(belowTokens);
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
        leases.values().forEach(Lease::close);
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
