package dev.waymark.tools.move;

import dev.waymark.SnapshotStore;
import dev.waymark.error.WaymarkException;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.KeyChain;
import dev.waymark.tools.Progress;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Stores a server's block folder. A block whose place in its prompt is known becomes a boundary of
 * its chain, and a restore point where it holds all its state; one that stands by itself becomes a
 * first block, with its rows only, since where its state belongs is not known.
 */
final class BlockImport implements ImportSource {
  private static final byte[] NO_EXTRA = {};
  private static final int MOST_ORDER_BYTES = 64 << 20;

  private final Path folder;
  private final Path order;
  private final CodecPlan codecs;
  private final boolean skipBad;
  private final List<BlockGroup> groups = new ArrayList<>();
  private final Map<String, BlockCompanion> companions = new HashMap<>();
  private final Map<BlockGroup, BlockChains> chains = new LinkedHashMap<>();
  private final Map<String, Long> skipped = new HashMap<>();
  private final Map<Path, FileStamp> checked = new HashMap<>();

  BlockImport(Path folder, Path order, CodecPlan codecs, boolean skipBad) {
    this.folder = folder;
    this.order = order;
    this.codecs = codecs;
    this.skipBad = skipBad;
  }

  @Override
  public String kind() {
    return "blocks";
  }

  @Override
  public void check(Progress progress) throws IOException {
    List<Path> files = BlockFolder.list(folder);
    if (files.isEmpty()) {
      throw new BadImportException(
          ImportFault.NOTHING_THERE,
          PlainFiles.shown(folder),
          "files <first hex digit>/<hash>.safetensors",
          "none",
          "give the folder that holds them");
    }
    progress.begin("checking");
    int done = 0;
    for (Path path : files) {
      try {
        add(path);
      } catch (BadSafetensorsException | BadImportException e) {
        if (!skipBad) {
          throw e;
        }
        skipped.merge("not valid: " + e.detail().what(), 1L, Long::sum);
      }
      progress.at(++done, files.size(), "files");
    }
    List<List<String>> given = readOrder();
    for (BlockGroup group : groups) {
      chains.put(group, new BlockChains(group.blocks(), companions, given));
      layout(group);
    }
  }

  private static BlockLayout layout(BlockGroup group) {
    try {
      return BlockLayout.of(group.blocks());
    } catch (WaymarkException e) {
      throw new BadImportException(
          ImportFault.BAD_BLOCK_METADATA,
          PlainFiles.shown(group.blocks().get(0).path()),
          "states that make a layout",
          e.detail().what(),
          "describe the files with --map");
    }
  }

  private void add(Path path) throws IOException {
    try (SafetensorsFile file = SafetensorsFile.open(path)) {
      BlockFile block = new BlockFile.Parser(file).parse();
      BlockFolder.requirePlace(block);
      BlockCompanion companion = BlockCompanion.of(block);
      if (companion != null) {
        companions.put(block.hash(), companion);
      }
      BlockGroup.add(groups, block);
      checked.put(path, file.stamp());
    }
  }

  private List<List<String>> readOrder() throws IOException {
    List<List<String>> read = new ArrayList<>();
    if (order == null) {
      return read;
    }
    List<String> chain = new ArrayList<>();
    String text = new String(PlainFiles.readSmall(order, MOST_ORDER_BYTES), StandardCharsets.UTF_8);
    for (String line : text.split("\n", -1)) {
      if (line.isBlank()) {
        chain = new ArrayList<>();
        continue;
      }
      if (!line.strip().matches("[0-9a-f]{2,128}")) {
        throw new BadImportException(
            ImportFault.BAD_MAPPING,
            PlainFiles.shown(order),
            "a hash a line",
            "something else",
            "write the blocks' hashes in order");
      }
      if (chain.isEmpty()) {
        read.add(chain);
      }
      chain.add(line.strip());
    }
    return read;
  }

  @Override
  public void store(SnapshotStore store, ImportTally tally, Progress progress) throws IOException {
    skipped.forEach(
        (why, count) -> {
          for (long i = 0; i < count; i++) {
            tally.leftOut(why);
          }
        });
    progress.begin("importing");
    for (Map.Entry<BlockGroup, BlockChains> group : chains.entrySet()) {
      new Storing(store, layout(group.getKey()), codecs, checked, tally, progress)
          .storeAll(group.getValue(), group.getKey().blocks().size());
    }
  }

  /** Stores the chains of one group. */
  private static final class Storing {
    private final BlockLayout layout;
    private final SnapshotStore store;
    private final CodecPlan codecs;
    private final Map<Path, FileStamp> checked;
    private final ImportTally tally;
    private final Progress progress;
    private final BoundaryKey root;
    private final KeyChain keys = new KeyChain();
    private int done;

    Storing(
        SnapshotStore store,
        BlockLayout layout,
        CodecPlan codecs,
        Map<Path, FileStamp> checked,
        ImportTally tally,
        Progress progress) {
      this.store = store;
      this.layout = layout;
      this.codecs = codecs;
      this.checked = checked;
      this.tally = tally;
      this.progress = progress;
      this.root = KeyChain.root(KeyChain.fingerprint(layout.identity(), layout.layout(), codecs));
    }

    void storeAll(BlockChains chains, int count) throws IOException {
      try (ChainWriter writer =
          new ChainWriter(store.namespace(layout.identity(), layout.layout(), codecs))) {
        for (BlockChains.Node first : chains.roots()) {
          tally.chain();
          storeFrom(first, writer, count);
        }
      }
    }

    /** A block and those that follow it, each chain to its end before the next branch. */
    private void storeFrom(BlockChains.Node first, ChainWriter writer, int count)
        throws IOException {
      List<BlockChains.Node> path = new ArrayList<>();
      List<BoundaryKey> pathKeys = new ArrayList<>();
      List<BlockChains.Node> open = new ArrayList<>(List.of(first));
      while (!open.isEmpty()) {
        BlockChains.Node node = open.remove(open.size() - 1);
        tally.file(node.block().fileBytes());
        while (!path.isEmpty() && path.get(path.size() - 1) != node.parent()) {
          path.remove(path.size() - 1);
          pathKeys.remove(pathKeys.size() - 1);
        }
        if (node.parent() == null || !path.isEmpty()) {
          if (store(node, writer, pathKeys)) {
            path.add(node);
          }
        } else {
          tally.leftOut("what they follow was left out");
        }
        open.addAll(node.children());
        progress.at(++done, count, "files");
      }
    }

    private boolean store(BlockChains.Node node, ChainWriter writer, List<BoundaryKey> parents)
        throws IOException {
      int block = layout.layout().blockTokens();
      if (node.block().tokenCount() < block) {
        tally.leftOut("shorter than a block of " + block + " tokens");
        return false;
      }
      if (!node.isPlaced()) {
        tally.note("by themselves, as first blocks: nothing says what they follow; rows only");
      }
      try (SafetensorsFile file = SafetensorsFile.open(checked.get(node.block().path()))) {
        BlockViews.Found found =
            new BlockViews(layout.layout(), file, node.block(), parents.size() * block)
                .find(node.isPlaced());
        if (found.views() == null) {
          tally.leftOut("without some of their rows");
          return false;
        }
        if (!writer.canFollow(parents)) {
          tally.leftOut("what they follow has made room for others: the quota is too small");
          return false;
        }
        BoundaryKey key = key(node, parents);
        boolean point = found.point() && layout.layout().needsPoints();
        if (!found.point() && layout.layout().needsPoints()) {
          tally.note("with rows only: their windows or state are not in them");
        }
        tally.stored(
            1,
            point || !layout.layout().needsPoints(),
            writer.append(List.of(key), found.views(), point, file.stamp()));
        parents.add(key);
        return true;
      }
    }

    /** By token ids where all of the chain are known, so that prompts find it; else by its hash. */
    private BoundaryKey key(BlockChains.Node node, List<BoundaryKey> parents) {
      if (!node.hasAllIds()) {
        tally.note("known by their hashes, since token ids are not: no prompt finds them");
        return ofHash(node.block().hash());
      }
      BoundaryKey parent = parents.isEmpty() ? root : parents.get(parents.size() - 1);
      int[] ids = node.tokenIds();
      return keys.next(parent, ids, 0, ids.length, NO_EXTRA);
    }

    private static BoundaryKey ofHash(String hash) {
      return hash.length() == 2 * BoundaryKey.LENGTH_BYTES
          ? BoundaryKey.ofHex(hash)
          : BoundaryKey.of(ArchiveFormat.sha256().digest(hash.getBytes(StandardCharsets.US_ASCII)));
    }
  }
}
