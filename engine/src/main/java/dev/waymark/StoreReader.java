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
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
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
import java.util.function.Consumer;

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

  /** Drawn when the store was made. */
  public String storeId() {
    return store.current().storeId().toString();
  }

  /** Boundaries in all. */
  public long boundaries() {
    return store.forest().boundaryCount();
  }

  /** The namespaces, in order of number. */
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

  /** Every boundary, chain by chain, each after its parent, and before those of other branches. */
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
    for (Piece piece : Piece.ofBoundary(forest, node)) {
      bytes += piece.location().lengthBytes();
    }
    return new Boundary(
        forest.namespaceOf(node).id(),
        forest.key(node),
        forest.key(parent),
        forest.tokens(parent),
        forest.tokens(node),
        forest.isRestorable(node),
        !forest.stateRecords(node).isEmpty(),
        delta,
        delta ? forest.coveredFrom(node) : forest.tokens(node),
        bytes,
        forest.addedMillis(node));
  }

  /** The keys of a boundary's chain in order: its root key, its first boundary, and so on to it. */
  public List<BoundaryKey> chain(Boundary boundary) {
    Forest forest = store.forest();
    ArrayDeque<BoundaryKey> keys = new ArrayDeque<>();
    for (int node = require(boundary); node != Forest.NONE; node = forest.parent(node)) {
      keys.addFirst(forest.key(node));
    }
    return List.copyOf(keys);
  }

  /**
   * Reads the state of a restore point: rows from row 0, windows in token order from their first
   * row that is restored, and sinks.
   *
   * @throws InvalidArgumentException if it is no restore point
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
    int node = require(boundary);
    Layout layout = store.forest().namespaceOf(node).layout();
    long[] rows = read(boundary, Piece.ofPoint(store.forest(), node), views);
    for (int i = 0; i < rows.length; i++) {
      TensorSpec spec = layout.tensors().get(i);
      long expected = Piece.rowsToRestore(spec, boundary.tokens());
      if (spec.bytesOfRows(expected) > 0 && rows[i] != expected * spec.outer()) {
        throw new CorruptionException(
            ErrorDetail.of("records do not hold all rows of '" + spec.name() + "'")
                .expected(expected * spec.outer())
                .found(rows[i]));
      }
    }
  }

  /**
   * Reads what a boundary added to its chain: the rows of its own tokens with their sinks, the
   * window rows from {@link Boundary#coveredFrom} on where it has a delta, its fixed state where it
   * has that.
   */
  public void readOwn(Boundary boundary, StateViews views) {
    read(boundary, Piece.ofBoundary(store.forest(), require(boundary)), views);
  }

  private int require(Boundary boundary) {
    int node = store.forest().find(boundary.namespaceId(), boundary.key());
    if (node == Forest.NONE || store.forest().isRoot(node)) {
      throw new InvalidArgumentException(ErrorDetail.of("a boundary of another store was given"));
    }
    return node;
  }

  private long[] read(Boundary boundary, List<Piece> pieces, StateViews views) {
    Layout layout = store.forest().namespace(boundary.namespaceId()).layout();
    views.checkNames(layout);
    long[] rows = new long[layout.tensors().size()];
    try {
      for (Piece piece : pieces) {
        Opened segment = open(piece.location().segmentId());
        RecordReader reader = new RecordReader(segment.region(), segment.name(), scratch);
        RecordHeader header = piece.header(reader, layout, boundary.namespaceId());
        for (RecordHeader.Part part : header.parts()) {
          TensorView view = views.require(part.spec());
          rows[part.tensorIndex()] +=
              piece.readPart(reader, header, part, view, boundary.tokens(), true);
        }
      }
    } catch (CorruptionException | StoreIoException e) {
      throw hasMoved(boundary, pieces) ? moved(e) : e;
    }
    return rows;
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
