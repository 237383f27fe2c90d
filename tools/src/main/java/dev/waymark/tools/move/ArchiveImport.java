package dev.waymark.tools.move;

import dev.waymark.KeptChain;
import dev.waymark.Namespace;
import dev.waymark.PrefixMatch;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreReader.Boundary;
import dev.waymark.StoreReader.RowRange;
import dev.waymark.StoreReader.Share;
import dev.waymark.error.QuotaPinnedException;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.PartRange;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import dev.waymark.tools.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Stores what an archive holds. It is read twice: first all of it is found to be what was written,
 * and only then anything is stored.
 */
final class ArchiveImport implements ImportSource {
  private final Path path;
  private FileStamp checked;
  private final Map<KeptName, BoundaryKey> names = new LinkedHashMap<>();

  /** A name is one within its namespace. */
  private record KeptName(BoundaryKey namespace, String name) {}

  ArchiveImport(Path path) {
    this.path = path;
  }

  @Override
  public String kind() {
    return "archive";
  }

  @Override
  public void check(Progress progress) throws IOException {
    try (ArchiveReader in = ArchiveReader.open(path)) {
      checked = in.stamp();
      progress.begin("checking");
      new ArchivedChains(in)
          .follow(
              new ArchivedChains.Visitor() {
                @Override
                public void namespace(ArchivedChains.NamespaceHead namespace) {}

                @Override
                public void boundary(
                    ArchivedChains.NamespaceHead namespace, List<ArchivedChains.Link> chain) {
                  ArchivedChains.Link last = chain.get(chain.size() - 1);
                  for (String name : last.names()) {
                    names.put(new KeptName(namespace.fingerprint(), name), last.boundary().key());
                  }
                  progress.at(in.position(), in.fileBytes(), "bytes");
                }
              });
    }
  }

  @Override
  public void store(SnapshotStore store, ImportTally tally, Progress progress) throws IOException {
    Map<KeptName, BoundaryKey> keptHere = new HashMap<>();
    for (KeptChain kept : store.kept()) {
      keptHere.put(new KeptName(kept.namespace(), kept.name()), kept.key());
    }
    names.forEach((name, key) -> requireFree(name, key, keptHere.getOrDefault(name, key)));
    try (ArchiveReader in = ArchiveReader.open(checked);
        Storing storing = new Storing(store, in, keptHere.keySet(), tally, progress)) {
      tally.file(in.fileBytes());
      progress.begin("importing");
      new ArchivedChains(in).follow(storing);
    }
  }

  private void requireFree(KeptName name, BoundaryKey key, BoundaryKey here) {
    if (!key.equals(here)) {
      String shown = SafetensorsHeader.shown(name.name());
      throw new BadImportException(
          ImportFault.NAME_IN_USE,
          PlainFiles.shown(path),
          shown + " for " + key.abbreviated(),
          here.abbreviated(),
          "let it go with segtool pin --release, or keep that chain under another name; nothing was"
              + " stored");
    }
  }

  /** Stores boundaries as they come. */
  private static final class Storing implements ArchivedChains.Visitor, AutoCloseable {
    private final SnapshotStore store;
    private final ArchiveReader in;
    private final Set<KeptName> keptHere;
    private final ImportTally tally;
    private final Progress progress;
    private final Map<Integer, Namespace> namespaces = new HashMap<>();
    private ChainWriter writer;
    private int writerNamespace;
    private BoundaryKey writerRoot;

    Storing(
        SnapshotStore store,
        ArchiveReader in,
        Set<KeptName> keptHere,
        ImportTally tally,
        Progress progress) {
      this.store = store;
      this.in = in;
      this.keptHere = keptHere;
      this.tally = tally;
      this.progress = progress;
    }

    @Override
    public void namespace(ArchivedChains.NamespaceHead namespace) {
      namespaces.put(
          namespace.id(),
          store.namespace(namespace.identity(), namespace.layout(), namespace.codecs()));
    }

    @Override
    public void boundary(ArchivedChains.NamespaceHead namespace, List<ArchivedChains.Link> chain)
        throws IOException {
      List<BoundaryKey> keys = chain.stream().map(link -> link.boundary().key()).toList();
      List<BoundaryKey> parents = keys.subList(0, keys.size() - 1);
      Boundary boundary = chain.get(chain.size() - 1).boundary();
      if (parents.isEmpty()) {
        tally.chain();
        begin(namespace.id(), boundary.parentKey());
      }
      if (!writer.canFollow(parents)) {
        tally.leftOut("what they follow has made room for others: the quota is too small");
      } else {
        boolean point = boundary.isRestorable();
        StateViews views = views(namespace.layout(), chain, point);
        tally.stored(
            1,
            point,
            writer.append(keys.subList(keys.size() - 1, keys.size()), views, point, in.stamp()));
        for (String name : chain.get(chain.size() - 1).names()) {
          keep(namespace, keys, name);
        }
      }
      progress.at(in.position(), in.fileBytes(), "bytes");
    }

    /** At once: what is kept does not make room for what comes behind it. */
    private void keep(ArchivedChains.NamespaceHead head, List<BoundaryKey> keys, String name) {
      boolean added = !keptHere.contains(new KeptName(head.fingerprint(), name));
      if (added) {
        int tokens = keys.size() * head.layout().blockTokens();
        PrefixMatch match = writer.match(keys, tokens);
        if (match.restorableTokens() < tokens) {
          tally.leftOut("names of chains that have made room for others: the quota is too small");
          return;
        }
        try {
          writer.keep(match, name);
        } catch (QuotaPinnedException e) {
          tally.leftOut("names of chains that are too large to be kept within the quota");
          return;
        }
      }
      tally.kept(added);
    }

    private void begin(int namespaceId, BoundaryKey root) {
      if (writer == null || writerNamespace != namespaceId || !root.equals(writerRoot)) {
        close();
        writer = new ChainWriter(namespaces.get(namespaceId).underRoot(root));
        writerNamespace = namespaceId;
        writerRoot = root;
      }
    }

    /** Rows of the last boundary, and at a point its fixed state and its whole windows. */
    private StateViews views(Layout layout, List<ArchivedChains.Link> chain, boolean point)
        throws IOException {
      ArchivedChains.Link own = chain.get(chain.size() - 1);
      int tokens = own.boundary().tokens();
      Map<TensorSpec, TensorView> views = new HashMap<>();
      for (TensorSpec spec : layout.tensors()) {
        if (spec.growth() instanceof Growth.Window window) {
          boolean sinks = own.boundary().tokenFrom() < window.sinkTokens();
          if (point || sinks) {
            // Where no point is to be, sinks are all that is asked for.
            long rows =
                point ? PackedState.rows(spec, tokens) : Math.min(tokens, window.sinkTokens() + 1L);
            views.put(spec, PackedState.view(spec, allocate(spec.bytesOfRows(rows)), rows, tokens));
          }
        } else if (spec.isFixed() ? point && own.boundary().hasState() : true) {
          views.put(spec, ownRows(spec, own.boundary()));
        }
      }
      for (ArchiveBody.Part part : own.parts()) {
        if (part.share() != Share.WINDOW && views.containsKey(part.spec())) {
          fill(own, part, part.rows(), views.get(part.spec()));
        }
      }
      if (point && layout.maxWindowTokens() > 0) {
        fillWindows(layout, chain, views);
      }
      StateViews.Builder builder = StateViews.builder();
      views.forEach(builder::put);
      return builder.build();
    }

    private static TensorView ownRows(TensorSpec spec, Boundary boundary) {
      if (spec.isFixed()) {
        return TensorView.value(spec, allocate(spec.bytesOfRows(spec.rowsAfter(0))), 0);
      }
      long from = spec.rowsAfter(boundary.tokenFrom());
      long to = spec.rowsAfter(boundary.tokens());
      long inner = spec.innerBytes();
      return TensorView.linear(
          allocate(spec.bytesOfRows(to - from)), 0, (to - from) * inner, inner, from, to);
    }

    /** Window rows from the newest back, each from the last boundary of the chain that has it. */
    private void fillWindows(
        Layout layout, List<ArchivedChains.Link> chain, Map<TensorSpec, TensorView> views)
        throws IOException {
      int tokens = chain.get(chain.size() - 1).boundary().tokens();
      int windowFrom = layout.windowFrom(tokens);
      int open = tokens;
      for (int i = chain.size() - 1; i >= 0 && open > windowFrom; i--) {
        ArchivedChains.Link link = chain.get(i);
        if (!link.boundary().hasDelta() || link.boundary().coveredFrom() >= open) {
          continue;
        }
        for (ArchiveBody.Part part : link.parts()) {
          if (part.share() == Share.WINDOW) {
            Growth.Window window = (Growth.Window) part.spec().growth();
            long from =
                Math.max(
                    part.rows().from(),
                    Math.max(window.sinkTokens(), (long) tokens - window.windowTokens()));
            RowRange wanted = new RowRange(from, Math.min(part.rows().to(), open));
            fill(link, part, wanted, views.get(part.spec()));
          }
        }
        open = link.boundary().coveredFrom();
      }
      fillSinks(chain, views, tokens);
    }

    /** Sinks stand with the rows of the first boundaries. */
    private void fillSinks(
        List<ArchivedChains.Link> chain, Map<TensorSpec, TensorView> views, int tokens)
        throws IOException {
      for (ArchivedChains.Link link : chain.subList(0, chain.size() - 1)) {
        for (ArchiveBody.Part part : link.parts()) {
          if (part.share() == Share.ROWS && part.spec().growth() instanceof Growth.Window) {
            fill(link, part, part.rows(), views.get(part.spec()));
          }
        }
      }
    }

    /** Copies rows of a part into a view, outer position by outer position. */
    private void fill(
        ArchivedChains.Link link, ArchiveBody.Part part, RowRange wanted, TensorView view)
        throws IOException {
      TensorSpec spec = part.spec();
      long inner = spec.innerBytes();
      long lane = part.rows().count() * inner;
      long skip = (wanted.from() - part.rows().from()) * inner;
      long length = wanted.count() * inner;
      if (length <= 0) {
        return;
      }
      byte[] bytes = new byte[(int) Math.min(1 << 20, length)];
      UnsafeBuffer buffer = new UnsafeBuffer(bytes);
      for (int outer = 0; outer < spec.outer(); outer++) {
        long base = link.bodyOffset() + part.offsetBytes() + outer * lane + skip;
        PartRange range = new PartRange(outer, 1, wanted.from(), wanted.count());
        for (long at = 0; at < length; at += bytes.length) {
          int count = (int) Math.min(bytes.length, length - at);
          if (count < bytes.length) {
            bytes = new byte[count];
            buffer = new UnsafeBuffer(bytes);
          }
          in.read(base + at, bytes);
          view.scatter(spec, range, at, buffer, 0, count);
        }
        if (bytes.length < Math.min(1 << 20, length)) {
          bytes = new byte[(int) Math.min(1 << 20, length)];
          buffer = new UnsafeBuffer(bytes);
        }
      }
    }

    private static Memory allocate(long length) {
      return Memory.of(HeapPieces.allocate(length));
    }

    @Override
    public void close() {
      if (writer != null) {
        writer.close();
        writer = null;
      }
    }
  }
}
