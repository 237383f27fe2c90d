package dev.waymark;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.MovingException;
import dev.waymark.error.StoreIoException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.check.ReadOnlyStore;
import dev.waymark.internal.check.SegmentAccount;
import dev.waymark.internal.check.StoreLook;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.manifest.Status;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Growth;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * Reads what a store holds without opening it for writing: takes no lock, writes nothing, and works
 * beside a live writer. It sees the boundaries of the moment it was opened; what a writer has moved
 * or taken away since is said to be so, and never given back wrong.
 *
 * <p>Boundaries are named by their keys, so that chains can be read whose tokens or tenant's salt
 * are not known. For one thread at a time.
 */
public final class StoreReader implements AutoCloseable {
  private static final int OPEN_SEGMENTS = 16;

  private final StoreDirectory directory;
  private final ReadOnlyStore store;
  private final Scratch scratch;
  private final Map<Long, SegmentAccount> segments = new HashMap<>();
  private final LinkedHashMap<Long, Opened> opened = new LinkedHashMap<>(16, 0.75f, true);

  /** A segment that is being read. */
  private record Opened(StoreFile file, MappedRegion region, String name) {
    void close() {
      region.close();
      file.close();
    }
  }

  /**
   * One namespace.
   *
   * @param rootKey stands above its first boundaries, but for those of tenants
   */
  public record NamespaceContent(
      int id,
      BoundaryKey fingerprint,
      BoundaryKey rootKey,
      ModelIdentity identity,
      Layout layout,
      CodecPlan codecs) {}

  /**
   * One boundary.
   *
   * @param parentKey its parent's key; of a first boundary the root key of its namespace or tenant
   * @param tokenFrom tokens up to its parent
   * @param tokens tokens up to it
   * @param isRestorable whether its whole state can be restored
   * @param isBranch whether two or more stored chains go on from it
   * @param hasState whether it holds fixed state
   * @param hasDelta whether it holds window rows of its own, be it for its own point or for others
   * @param coveredFrom first window row that these may hold; {@code tokens} where there are none
   * @param bytes of its records
   * @param addedMillis when its rows were stored, whole seconds
   */
  public record Boundary(
      int namespaceId,
      BoundaryKey key,
      BoundaryKey parentKey,
      int tokenFrom,
      int tokens,
      boolean isRestorable,
      boolean isBranch,
      boolean hasState,
      boolean hasDelta,
      int coveredFrom,
      long bytes,
      long addedMillis) {}

  private StoreReader(StoreDirectory directory, ReadOnlyStore store) {
    this.directory = directory;
    this.store = store;
    this.scratch = new Scratch.Pool(1).take();
    store.segments().forEach(segment -> segments.put(segment.info().segmentId(), segment));
  }

  /**
   * Looks at the store in a directory.
   *
   * @param path the directory of the store
   * @return a reader of one state of the store; close it
   * @throws dev.waymark.error.NotAStoreException if there is none
   * @throws dev.waymark.error.UnsupportedFormatException if a newer version wrote it
   * @throws CorruptionException if CURRENT or its manifest is damaged
   * @throws MovingException if a writer moved on at every look
   */
  public static StoreReader open(Path path) {
    StoreDirectory directory = RealDirectory.openReadOnly(path);
    try {
      return new StoreReader(directory, StoreLook.at(directory, System::currentTimeMillis));
    } catch (RuntimeException | Error e) {
      directory.close();
      throw e;
    }
  }

  /** {@return the store's id in 32 hex digits, drawn when it was made} */
  public String storeId() {
    return store.current().storeId().toString();
  }

  /**
   * {@return what the last writer counted since it opened the store, a JSON object of numbers;
   * empty where none is known}
   */
  public Optional<String> counters() {
    return store.status().map(Status::counters);
  }

  /** {@return how many boundaries there are in all} */
  public long boundaries() {
    return store.forest().boundaryCount();
  }

  /** {@return the namespaces, in order of number} */
  public List<NamespaceContent> namespaces() {
    return store.forest().namespaces().stream()
        .map(
            state ->
                new NamespaceContent(
                    state.id(),
                    state.fingerprint(),
                    KeyChain.root(state.fingerprint().toBytes()),
                    state.identity(),
                    state.layout(),
                    state.codecs()))
        .toList();
  }

  /** {@return the chains that are kept against eviction} */
  public List<KeptChain> kept() {
    return KeptChain.of(store.forest());
  }

  /**
   * Every boundary, chain by chain, each after its parent, and before those of other branches.
   *
   * @param consumer takes one after the other
   */
  public void forEachBoundary(Consumer<Boundary> consumer) {
    Forest forest = store.forest();
    forest.forEachRoot(
        root -> {
          int node = forest.firstChild(root);
          while (node != Forest.NONE) {
            consumer.accept(boundary(node));
            int next = forest.firstChild(node);
            while (next == Forest.NONE && node != root) {
              next = forest.nextSibling(node);
              node = forest.parent(node);
            }
            node = next;
          }
        });
  }

  private Boundary boundary(int node) {
    Forest forest = store.forest();
    int parent = forest.parent(node);
    boolean delta = forest.hasDelta(node);
    long bytes = 0;
    for (RecordKind kind : RecordKind.values()) {
      bytes += forest.records(node, kind).stream().mapToLong(RecordLocation::lengthBytes).sum();
    }
    return new Boundary(
        forest.namespaceOf(node).id(),
        forest.key(node),
        forest.key(parent),
        forest.tokens(parent),
        forest.tokens(node),
        forest.isRestorable(node),
        forest.isBranch(node),
        !forest.stateRecords(node).isEmpty(),
        delta,
        delta ? forest.coveredFrom(node) : forest.tokens(node),
        bytes,
        forest.addedMillis(node));
  }

  /**
   * {@return the keys of a boundary's chain in order: its root key, its first boundary's, and so on
   * to its own}
   *
   * @param boundary one of this reader's
   * @throws InvalidArgumentException if it is another store's
   */
  public List<BoundaryKey> chain(Boundary boundary) {
    Forest forest = store.forest();
    ArrayDeque<BoundaryKey> keys = new ArrayDeque<>();
    for (int node = require(boundary); node != Forest.NONE; node = forest.parent(node)) {
      keys.addFirst(forest.key(node));
    }
    return List.copyOf(keys);
  }

  /**
   * Reads tensors of a restore point, those of which a view is given: rows from row 0 on, windows
   * in token order from their first row that is restored, and sinks.
   *
   * @param boundary one of this reader's
   * @param views writable memory for the rows, by tensor
   * @throws InvalidArgumentException if it is no restore point, or another store's
   * @throws dev.waymark.error.ViewMismatchException if a view is of no tensor of the layout, of
   *     read-only memory, too short or of another shape
   * @throws CorruptionException if what is stored is damaged
   * @throws MovingException if a writer has moved it or taken it away
   */
  public void readPoint(Boundary boundary, StateViews views) {
    if (!boundary.isRestorable()) {
      throw new InvalidArgumentException(
          ErrorDetail.of("the boundary has only rows")
              .expected("a restore point")
              .found("none at " + boundary.tokens() + " tokens")
              .remedy("choose a restore point that segtool inspect --boundaries lists"));
    }
    read(
        boundary,
        Piece.ofPoint(store.forest(), require(boundary)),
        views,
        spec -> Piece.rowsToRestore(spec, boundary.tokens()));
  }

  /** A part of what a boundary added to its chain. */
  public enum Share {
    /** The rows of its own tokens, and those of them that are sinks of windows. */
    ROWS,
    /** The window rows from {@link Boundary#coveredFrom} on that are no sinks. */
    WINDOW,
    /** The fixed state. */
    STATE
  }

  /**
   * Reads what a boundary added to its chain: rows that stand nowhere else. Of tensors that have no
   * rows in the share, or no view, nothing is read.
   *
   * @param boundary one of this reader's
   * @param share which part of it
   * @param views writable memory for the rows that {@link #ownRows} says, by tensor
   * @throws InvalidArgumentException if the boundary is another store's
   * @throws dev.waymark.error.ViewMismatchException if a view is of no tensor of the layout, of
   *     read-only memory, too short or of another shape
   * @throws CorruptionException if what is stored is damaged
   * @throws MovingException if a writer has moved it or taken it away
   */
  public void readOwn(Boundary boundary, Share share, StateViews views) {
    int node = require(boundary);
    RecordKind kind =
        switch (share) {
          case ROWS -> RecordKind.APPEND;
          case WINDOW -> RecordKind.DELTA;
          case STATE -> RecordKind.STATE;
        };
    read(
        boundary,
        Piece.ofBoundary(store.forest(), node, kind),
        views,
        spec -> ownRows(boundary, share, spec).count());
  }

  /**
   * A range of rows.
   *
   * @param from first of them
   * @param to one past the last
   */
  public record RowRange(long from, long to) {
    /** {@return how many rows there are} */
    public long count() {
      return to - from;
    }
  }

  /**
   * {@return rows of a tensor that a boundary added to its chain; empty where the share has none}
   *
   * @param boundary the boundary
   * @param share which part of what it added
   * @param spec a tensor of its namespace's layout
   */
  public static RowRange ownRows(Boundary boundary, Share share, TensorSpec spec) {
    int from = boundary.tokenFrom();
    int to = boundary.tokens();
    if (spec.growth() instanceof Growth.Window window) {
      int sinks = window.sinkTokens();
      return switch (share) {
        case ROWS -> new RowRange(Math.min(from, sinks), Math.min(to, sinks));
        case WINDOW ->
            boundary.hasDelta()
                ? new RowRange(Layout.windowStart(window, boundary.coveredFrom(), to), to)
                : new RowRange(to, to);
        case STATE -> new RowRange(0, 0);
      };
    }
    if (spec.isFixed()) {
      boolean there = share == Share.STATE && boundary.hasState();
      return new RowRange(0, there ? spec.rowsAfter(to) : 0);
    }
    return share == Share.ROWS
        ? new RowRange(spec.rowsAfter(from), spec.rowsAfter(to))
        : new RowRange(0, 0);
  }

  private int require(Boundary boundary) {
    int node = store.forest().find(boundary.namespaceId(), boundary.key());
    if (node == Forest.NONE || store.forest().isRoot(node)) {
      throw new InvalidArgumentException(ErrorDetail.of("a boundary of another store was given"));
    }
    return node;
  }

  private void read(
      Boundary boundary,
      List<Piece> pieces,
      StateViews views,
      ToLongFunction<TensorSpec> expected) {
    Layout layout = store.forest().namespace(boundary.namespaceId()).layout();
    views.checkNames(layout);
    TensorView[] viewOf = new TensorView[layout.tensors().size()];
    for (int i = 0; i < viewOf.length; i++) {
      viewOf[i] = views.get(layout.tensors().get(i));
      if (viewOf[i] != null) {
        viewOf[i].checkWritable(layout.tensors().get(i));
      }
    }
    long[] rows = new long[viewOf.length];
    try {
      for (Piece piece : pieces) {
        read(boundary, piece, layout, viewOf, rows);
      }
      for (int i = 0; i < viewOf.length; i++) {
        TensorSpec spec = layout.tensors().get(i);
        long wanted = viewOf[i] == null ? 0 : expected.applyAsLong(spec);
        if (spec.bytesOfRows(wanted) > 0 && rows[i] != wanted * spec.outer()) {
          throw new CorruptionException(
              ErrorDetail.of("records do not hold all rows of '" + spec.name() + "'")
                  .expected(wanted * spec.outer())
                  .found(rows[i]));
        }
      }
    } catch (CorruptionException | StoreIoException e) {
      throw hasMoved(boundary, pieces) ? moved(e) : e;
    }
  }

  private void read(
      Boundary boundary, Piece piece, Layout layout, TensorView[] viewOf, long[] rows) {
    Opened segment = open(piece.location().segmentId());
    RecordReader reader = new RecordReader(segment.region(), segment.name(), scratch);
    RecordHeader header = piece.header(reader, layout, boundary.namespaceId());
    boolean all = true;
    for (RecordHeader.Part part : header.parts()) {
      all &= viewOf[part.tensorIndex()] != null;
    }
    for (RecordHeader.Part part : header.parts()) {
      TensorView view = viewOf[part.tensorIndex()];
      if (view != null) {
        rows[part.tensorIndex()] +=
            piece.readPart(reader, header, part, view, boundary.tokens(), all);
      }
    }
  }

  private Opened open(long segmentId) {
    Opened there = opened.get(segmentId);
    if (there != null) {
      return there;
    }
    if (opened.size() == OPEN_SEGMENTS) {
      var eldest = opened.entrySet().iterator();
      eldest.next().getValue().close();
      eldest.remove();
    }
    SegmentAccount account = segments.get(segmentId);
    String name = account == null ? "" : account.info().fileName();
    if (account == null || account.lengthBytes() == 0) {
      throw new CorruptionException(ErrorDetail.of("a segment is missing").in(name));
    }
    StoreFile file = directory.openReadOnly(name);
    try {
      Opened segment = new Opened(file, file.map(account.lengthBytes(), false), name);
      opened.put(segmentId, segment);
      return segment;
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }

  /** Whether another look finds the records elsewhere, or not at all. */
  private boolean hasMoved(Boundary boundary, List<Piece> pieces) {
    try {
      Forest now = StoreLook.at(directory, System::currentTimeMillis).forest();
      for (Piece piece : pieces) {
        int node = now.find(boundary.namespaceId(), piece.key());
        if (node == Forest.NONE
            || now.recordAt(
                    node,
                    piece.kind(),
                    piece.location().segmentId(),
                    piece.location().offsetBytes())
                == null) {
          return true;
        }
      }
      return false;
    } catch (WaymarkException e) {
      return e instanceof MovingException;
    }
  }

  private static MovingException moved(WaymarkException cause) {
    return new MovingException(
        ErrorDetail.of("a writer has moved or dropped what was being read").remedy("try again"),
        cause);
  }

  /** Lets go of the files. */
  @Override
  public void close() {
    opened.values().forEach(Opened::close);
    opened.clear();
    scratch.close();
    directory.close();
  }
}
