package dev.waymark.tools.move;

import dev.waymark.Namespace;
import dev.waymark.SnapshotStore;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Growth;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import dev.waymark.tools.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Stores safetensors files, each the state at a boundary of one chain. */
final class PointImport implements ImportSource {
  private static final byte[] NO_EXTRA = {};

  private final PointFiles source;
  private final Layout layout;
  private final Map<Path, FileStamp> checked = new HashMap<>();

  /**
   * A file of the chain.
   *
   * @param fromTokens tokens that the rows in it begin after
   * @param tokens tokens that its state stands for
   * @param wholeTokens those of them that are whole blocks
   */
  private record Place(int fromTokens, int tokens, int wholeTokens) {}

  PointImport(PointFiles source) {
    this.source = source;
    this.layout = source.layout();
  }

  @Override
  public String kind() {
    return "safetensors";
  }

  @Override
  public void check(Progress progress) throws IOException {
    progress.begin("checking");
    int before = 0;
    for (PointFiles.Entry entry : source.files()) {
      try (SafetensorsFile file = SafetensorsFile.open(entry.path())) {
        Place place = place(file, entry, before);
        requireTensors(file, place);
        checked.put(entry.path(), file.stamp());
        before = place.tokens();
      }
    }
    int blocks = before / layout.blockTokens();
    boolean ids = source.tokenIds() == null || source.tokenIds().length >= before;
    boolean keys = source.keys() == null || source.keys().size() >= blocks;
    if (!ids || !keys) {
      throw new BadImportException(
          ImportFault.BAD_MAPPING,
          "",
          ids ? blocks + " keys, one a block" : before + " token ids or more",
          ids ? source.keys().size() : source.tokenIds().length,
          "give those of the whole prompt");
    }
  }

  @Override
  public void store(SnapshotStore store, ImportTally tally, Progress progress) throws IOException {
    Namespace namespace = store.namespace(source.identity(), layout, source.codecs());
    BoundaryKey root =
        source.rootKey() == null
            ? KeyChain.root(KeyChain.fingerprint(source.identity(), layout, source.codecs()))
            : source.rootKey();
    progress.begin("importing");
    tally.chain();
    List<BoundaryKey> keys = new ArrayList<>();
    int before = 0;
    int done = 0;
    try (ChainWriter writer = new ChainWriter(namespace.underRoot(root))) {
      for (PointFiles.Entry entry : source.files()) {
        try (SafetensorsFile file = SafetensorsFile.open(checked.get(entry.path()))) {
          Place place = place(file, entry, before);
          tally.file(file.fileBytes());
          int parents = keys.size();
          addKeys(keys, root, place, file, tally);
          if (!writer.canFollow(keys.subList(0, parents))) {
            tally.leftOut("what they follow has made room for others: the quota is too small");
          } else if (keys.size() > parents) {
            store(writer, file, place, keys.subList(parents, keys.size()), tally);
          } else {
            tally.leftOut("less than a block was new in them");
          }
          before = place.tokens();
        }
        progress.at(++done, source.files().size(), "files");
      }
    }
  }

  private void store(
      ChainWriter writer,
      SafetensorsFile file,
      Place place,
      List<BoundaryKey> keys,
      ImportTally tally)
      throws IOException {
    boolean point = place.tokens() == place.wholeTokens();
    if (!point) {
      tally.note("tokens behind the last whole block are skipped, and with them the state");
    }
    StateViews.Builder views = StateViews.builder();
    for (TensorSpec spec : layout.tensors()) {
      if (point || !spec.isFixed()) {
        views.put(spec, view(file, spec, place));
      }
    }
    boolean restorable = point || !layout.needsPoints();
    tally.stored(keys.size(), restorable, writer.append(keys, views.build(), point, file.stamp()));
  }

  private TensorView view(SafetensorsFile file, TensorSpec spec, Place place) throws IOException {
    SafetensorsHeader.Tensor tensor = file.header().tensor(nameInFile(spec));
    Memory memory = file.map(tensor);
    if (spec.growth() instanceof Growth.Rows && source.ownRows()) {
      long from = spec.rowsAfter(place.fromTokens());
      long rows = spec.rowsAfter(place.tokens()) - from;
      long inner = spec.innerBytes();
      return TensorView.linear(
          memory, 0, rows * inner, inner, from, spec.rowsAfter(place.wholeTokens()));
    }
    return PackedState.view(spec, memory, fileRows(spec, tensor), place.wholeTokens());
  }

  /** Where a file stands in the chain: as it says itself, or as its rows say. */
  private Place place(SafetensorsFile file, PointFiles.Entry entry, int before) {
    int tokens = entry.tokens();
    if (tokens < 0) {
      tokens = tokensOfRows(file, before);
    }
    if (tokens <= before) {
      throw new BadImportException(
          ImportFault.TENSOR_DIFFERS,
          file.shownName(),
          "a boundary behind that of the file before, at " + before + " tokens",
          tokens + " tokens",
          "give the files in the order of their boundaries");
    }
    int block = layout.blockTokens();
    if (source.ownRows() && before % block != 0) {
      throw new BadImportException(
          ImportFault.TENSOR_DIFFERS,
          file.shownName(),
          "rows that begin on a block of " + block + " tokens",
          before + " tokens before them",
          "only the last of files that hold their own rows may end inside a block");
    }
    return new Place(source.ownRows() ? before : 0, tokens, tokens / block * block);
  }

  private int tokensOfRows(SafetensorsFile file, int before) {
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Rows rows) {
        SafetensorsHeader.Tensor tensor = require(file, spec);
        long tokens =
            fileRows(spec, tensor) * rows.tokensPerRow() + (source.ownRows() ? before : 0);
        if (tokens > Integer.MAX_VALUE) {
          throw differs(file, spec, "fewer than 2^31 tokens", tokens);
        }
        return (int) tokens;
      }
    }
    throw new BadImportException(
        ImportFault.BAD_MAPPING,
        file.shownName(),
        "tokens for each file, since no tensor has a row a token",
        "none",
        "add boundaries with files and tokens to the mapping");
  }

  private void requireTensors(SafetensorsFile file, Place place) {
    for (TensorSpec spec : layout.tensors()) {
      SafetensorsHeader.Tensor tensor = require(file, spec);
      long rows = PackedState.rows(spec, place.tokens());
      if (spec.growth() instanceof Growth.Rows) {
        rows -= spec.rowsAfter(place.fromTokens());
      }
      if (!tensor.shape().equals(PackedState.shape(spec, rows))) {
        throw differs(file, spec, PackedState.shape(spec, rows), tensor.shape());
      }
    }
  }

  private SafetensorsHeader.Tensor require(SafetensorsFile file, TensorSpec spec) {
    SafetensorsHeader.Tensor tensor = file.header().tensor(nameInFile(spec));
    if (tensor == null) {
      throw new BadImportException(
          ImportFault.TENSOR_MISSING,
          file.shownName(),
          SafetensorsHeader.shown(nameInFile(spec)),
          "none",
          "name it in the mapping's tensors, or take it out of the layout");
    }
    if (tensor.dtype() != spec.dtype() || tensor.shape().size() != spec.shape().size()) {
      throw differs(
          file,
          spec,
          spec.dtype() + " with " + spec.shape().size() + " dims",
          tensor.dtype() + " with " + tensor.shape().size());
    }
    return tensor;
  }

  private String nameInFile(TensorSpec spec) {
    return source.nameInFile().getOrDefault(spec.name(), spec.name());
  }

  private static long fileRows(TensorSpec spec, SafetensorsHeader.Tensor tensor) {
    int axis = spec.shape().indexOf(TensorSpec.TOKEN_AXIS);
    return axis < 0 ? spec.rowsAfter(0) : tensor.shape().get(axis);
  }

  private static BadImportException differs(
      SafetensorsFile file, TensorSpec spec, Object expected, Object found) {
    return new BadImportException(
        ImportFault.TENSOR_DIFFERS,
        file.shownName(),
        SafetensorsHeader.shown(spec.name()) + " of " + expected,
        found,
        "make the mapping's layout say what the file holds");
  }

  /** Adds the keys of the blocks up to a file's boundary. */
  private void addKeys(
      List<BoundaryKey> keys,
      BoundaryKey root,
      Place place,
      SafetensorsFile file,
      ImportTally tally)
      throws IOException {
    int block = layout.blockTokens();
    int blocks = place.wholeTokens() / block;
    byte[] content = NO_EXTRA;
    if (source.tokenIds() == null && source.keys() == null && keys.size() < blocks) {
      MessageDigest digest = ArchiveFormat.sha256();
      file.digest(digest);
      content = digest.digest();
      tally.note("known by a digest of the file, since its token ids are not: no prompt finds it");
    }
    KeyChain chain = new KeyChain();
    while (keys.size() < blocks) {
      int at = keys.size();
      BoundaryKey parent = at == 0 ? root : keys.get(at - 1);
      if (source.tokenIds() != null) {
        keys.add(chain.next(parent, source.tokenIds(), at * block, block, NO_EXTRA));
      } else {
        keys.add(
            source.keys() != null
                ? source.keys().get(at)
                : chain.next(parent, new int[0], 0, 0, content));
      }
    }
  }
}
