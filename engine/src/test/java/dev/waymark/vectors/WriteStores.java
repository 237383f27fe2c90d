package dev.waymark.vectors;

import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.error.QuotaExceededException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Writes random stores from seeds, and beside each a JSON file with a hash of every tensor of every
 * restore point, as this engine restored it. Another reader can then be held against that.
 *
 * <p>Arguments: a directory, the first seed, and how many stores; or a directory and {@code big}
 * with the MiB that the one store shall hold.
 */
public final class WriteStores {
  private static final int MOST_BLOCKS = 24;
  private static final DType[] LOSSY = {DType.F32, DType.BF16, DType.F16};

  private final Random random;
  private final Path directory;
  private final List<Space> spaces = new ArrayList<>();

  private WriteStores(long seed, Path directory) {
    this.random = new Random(seed);
    this.directory = directory;
  }

  /** A namespace, and the prompts whose state was stored in it. */
  private static final class Space {
    private ModelIdentity identity;
    private Layout layout;
    private CodecPlan codecs;
    private byte[] salt;
    private final List<Stored> prompts = new ArrayList<>();

    Namespace open(SnapshotStore store) {
      Namespace namespace = store.namespace(identity, layout, codecs);
      return salt == null ? namespace : namespace.tenant(salt);
    }
  }

  /** A prompt, as tokens with extra keys, or as keys of the caller's own. */
  private record Stored(int[] tokens, Map<Integer, byte[]> extra, List<BoundaryKey> keys) {
    Prompt prompt() {
      return keys == null ? Prompt.ofTokens(tokens, extra) : Prompt.ofKeys(keys, tokens.length);
    }
  }

  /** Entry point. */
  public static void main(String[] args) throws IOException {
    Path out = Path.of(args[0]);
    Files.createDirectories(out);
    if (args[1].equals("big")) {
      new WriteStores(1, out.resolve("big")).writeBig(Integer.parseInt(args[2]));
      return;
    }
    long first = Long.parseLong(args[1]);
    long count = Long.parseLong(args[2]);
    for (long seed = first; seed < first + count; seed++) {
      try {
        new WriteStores(seed, out.resolve("store-" + seed)).write();
      } catch (RuntimeException e) {
        // The other stores are worth having all the same. The one who compares counts these.
        System.err.println("ERROR seed " + seed + ": " + e);
        Files.writeString(out.resolve("store-" + seed + ".json"), "{\"failed\":true}");
      }
    }
  }

  private void write() throws IOException {
    int spaceCount = 1 + random.nextInt(2);
    for (int i = 0; i < spaceCount; i++) {
      spaces.add(space(i));
    }
    // Some are taken while the writer has them open: with segments that are not sealed, and with
    // or without what it last published.
    boolean live = random.nextInt(3) == 0;
    StoreOptions options =
        StoreOptions.builder()
            .quota(16L << 20 << random.nextInt(4))
            .backgroundThread(!live && random.nextBoolean())
            .build();
    Path place = live ? directory.resolveSibling(directory.getFileName() + ".live") : directory;
    int openings = 1 + random.nextInt(3);
    for (int i = 0; i < openings; i++) {
      try (SnapshotStore store = SnapshotStore.open(place, options)) {
        int prefills = 1 + random.nextInt(4);
        for (int p = 0; p < prefills; p++) {
          prefill(store, spaces.get(random.nextInt(spaces.size())));
        }
        if (i + 1 == openings) {
          store.flush();
          writeHashes(store);
          if (live) {
            store.runOnce();
            copy(place, directory);
            if (random.nextBoolean()) {
              Files.delete(directory.resolve("STATUS"));
            }
          }
        }
      }
    }
    if (live) {
      delete(place);
    }
  }

  /** One store that holds about so many MiB, in a layout as servers have them. */
  private void writeBig(int mebibytes) throws IOException {
    Space space = new Space();
    space.identity = ModelIdentity.builder().weights("big").build();
    List<TensorSpec> tensors = new ArrayList<>();
    for (int layer = 0; layer < 8; layer++) {
      tensors.add(TensorSpec.rows("k" + layer, DType.BF16, 1, 8, -1, 128));
      tensors.add(TensorSpec.window("w" + layer, DType.BF16, 512, 4, 1, -1, 128));
      tensors.add(TensorSpec.fixed("s" + layer, DType.F32, 16, 128, 128));
    }
    space.layout = Layout.of(256, tensors);
    space.codecs = CodecPlan.RAW.withFixed(Codec.RHT_INT16).withTensor("k1", Codec.PLANES);
    spaces.add(space);
    long rowBytes = 8L * 8 * 128 * 2;
    int blocks = (int) ((((long) mebibytes << 20) / rowBytes + 255) / 256);
    int[] tokens = random.ints(blocks * 256L, 0, 150_000).toArray();
    Stored stored = new Stored(tokens, Map.of(), null);
    space.prompts.add(stored);
    Map<String, byte[]> data = new HashMap<>();
    for (TensorSpec spec : tensors) {
      long length = spec.outer() * spec.rowsAfter(tokens.length) * spec.innerBytes();
      data.put(spec.name(), tiled(spec.dtype(), Math.toIntExact(length)));
    }
    StoreOptions options = StoreOptions.builder().quota(mebibytes * 3 + "MiB").build();
    try (SnapshotStore store = SnapshotStore.open(directory, options)) {
      append(store, space, stored, data, RestorePolicy.LAST, AbortMode.KEEP, blocks, true);
      writeHashes(store);
    }
  }

  private Space space(int number) {
    Space space = new Space();
    ModelIdentity.Builder identity = ModelIdentity.builder().weights("seeded " + number);
    space.identity = identity.build();
    int block = 1 + random.nextInt(8);
    List<TensorSpec> tensors = new ArrayList<>();
    int count = 1 + random.nextInt(4);
    CodecPlan codecs = random.nextBoolean() ? CodecPlan.RAW : CodecPlan.PLANES;
    for (int i = 0; i < count; i++) {
      TensorSpec spec = tensor("t" + i + (random.nextInt(4) == 0 ? "\"\\\u00e9/.." : ""));
      tensors.add(spec);
      if (random.nextBoolean()) {
        codecs = codecs.withTensor(spec.name(), pick(Codec.values()));
      }
    }
    if (random.nextInt(3) == 0) {
      codecs = codecs.withFixed(pick(Codec.values()));
    }
    space.codecs = codecs;
    space.layout = Layout.of(block, tensors);
    if (random.nextInt(3) == 0) {
      space.salt = bytes(16 + random.nextInt(20));
    }
    return space;
  }

  private TensorSpec tensor(String name) {
    DType dtype = random.nextInt(3) == 0 ? pick(DType.values()) : pick(LOSSY);
    boolean fixed = random.nextInt(3) == 0;
    int dims = random.nextInt(4);
    List<Long> shape = new ArrayList<>();
    for (int i = 0; i < dims; i++) {
      boolean empty = random.nextInt(40) == 0;
      shape.add(
          empty ? 0L : random.nextInt(3) == 0 ? 1L + random.nextInt(9) : 1L << random.nextInt(6));
    }
    if (fixed) {
      // Now and then more than a chunk, and more than a record.
      if (random.nextInt(6) == 0) {
        shape.add(0, 1L + random.nextInt(1 << 18) / Math.max(1, product(shape)));
      } else if (random.nextInt(8) == 0) {
        shape.add(1L << (10 + random.nextInt(3)));
      }
      return TensorSpec.fixed(name, dtype, longs(shape));
    }
    shape.add(random.nextInt(shape.size() + 1), TensorSpec.TOKEN_AXIS);
    if (random.nextBoolean()) {
      return TensorSpec.rows(
          name, dtype, 1 + random.nextInt(random.nextBoolean() ? 1 : 12), longs(shape));
    }
    return TensorSpec.window(
        name, dtype, 1 + random.nextInt(60), random.nextInt(2) * random.nextInt(20), longs(shape));
  }

  private static long product(List<Long> shape) {
    long product = 1;
    for (long dim : shape) {
      product *= dim;
    }
    return product;
  }

  private static long[] longs(List<Long> values) {
    return values.stream().mapToLong(Long::longValue).toArray();
  }

  private <T> T pick(T[] of) {
    return of[random.nextInt(of.length)];
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private void prefill(SnapshotStore store, Space space) {
    int block = space.layout.blockTokens();
    int blocks = 1 + random.nextInt(MOST_BLOCKS);
    int[] tokens = random.ints(blocks * (long) block + random.nextInt(block)).toArray();
    Map<Integer, byte[]> extra = new HashMap<>();
    if (random.nextInt(4) == 0) {
      extra.put(random.nextInt(blocks), bytes(1 + random.nextInt(9)));
    }
    List<BoundaryKey> keys = null;
    if (random.nextInt(6) == 0) {
      keys = new ArrayList<>();
      for (int i = 0; i < blocks; i++) {
        keys.add(BoundaryKey.of(bytes(BoundaryKey.LENGTH_BYTES)));
      }
      extra.clear();
    } else if (!space.prompts.isEmpty() && random.nextInt(4) > 0) {
      // Goes on from, or branches off, what an earlier prompt stored.
      Stored earlier = space.prompts.get(random.nextInt(space.prompts.size()));
      if (earlier.keys() == null) {
        int shared = Math.min(tokens.length, random.nextInt(earlier.tokens().length + 1));
        System.arraycopy(earlier.tokens(), 0, tokens, 0, shared);
        extra.clear();
        extra.putAll(earlier.extra());
        for (int i : earlier.extra().keySet()) {
          if (i >= blocks) {
            extra.remove(i);
          }
        }
      }
    }
    Stored stored = new Stored(tokens, extra, keys);
    space.prompts.add(stored);
    RestorePolicy policy =
        switch (random.nextInt(4)) {
          case 0 -> RestorePolicy.EVERY;
          case 1 -> RestorePolicy.stride(1 + random.nextInt(4));
          case 2 -> RestorePolicy.lattice(random.nextInt(100));
          default -> RestorePolicy.LAST;
        };
    AbortMode abort = random.nextInt(4) == 0 ? AbortMode.DISCARD : AbortMode.KEEP;
    int most = random.nextInt(3) == 0 ? random.nextInt(blocks + 1) : blocks;
    Map<String, byte[]> data = data(space.layout, tokens.length);
    try {
      append(store, space, stored, data, policy, abort, most, random.nextInt(4) > 0);
    } catch (QuotaExceededException e) {
      // Ordinary in a store this small: what was stored before stays.
    }
  }

  private void append(
      SnapshotStore store,
      Space space,
      Stored stored,
      Map<String, byte[]> data,
      RestorePolicy policy,
      AbortMode abort,
      int blocks,
      boolean complete) {
    Namespace namespace = space.open(store);
    int block = space.layout.blockTokens();
    int length = stored.tokens().length;
    PrefixMatch match = namespace.match(stored.prompt(), length);
    PrefillPlan plan = PrefillPlan.tokens(length).policy(policy).onAbort(abort);
    try (PrefillSession session = namespace.prefill(match, plan)) {
      int promptBlocks = complete && blocks > 1 ? random.nextInt(blocks) + 1 : blocks;
      for (int i = session.tokens() / block; i < blocks; i++) {
        StateViews views = views(space.layout, data, length, (i + 1) * block);
        if (stored.keys() != null) {
          session.append(List.of(stored.keys().get(i)), views);
        } else {
          int[] tokens = Arrays.copyOfRange(stored.tokens(), i * block, (i + 1) * block);
          byte[] extra = stored.extra().get(i);
          if (extra == null) {
            session.append(tokens, views);
          } else {
            session.append(tokens, extra, views);
          }
        }
        if (complete && i + 1 == promptBlocks) {
          session.promptComplete();
        }
      }
      if (!complete && abort == AbortMode.KEEP && session.tokens() > 0 && random.nextBoolean()) {
        session.abortKeeping(views(space.layout, data, length, session.tokens()));
      }
    }
  }

  /** Values of each tensor for a whole prompt, {@code [outer][rows][inner]}. */
  private Map<String, byte[]> data(Layout layout, int tokens) {
    Map<String, byte[]> data = new HashMap<>();
    for (TensorSpec spec : layout.tensors()) {
      long length = spec.outer() * spec.rowsAfter(tokens) * spec.innerBytes();
      data.put(spec.name(), values(spec.dtype(), Math.toIntExact(length)));
    }
    return data;
  }

  private byte[] values(DType dtype, int length) {
    byte[] out = new byte[length];
    int kind = random.nextInt(8);
    if (kind == 0) {
      random.nextBytes(out);
    } else if (kind > 1) {
      ByteBuffer buffer = ByteBuffer.wrap(out).order(ByteOrder.LITTLE_ENDIAN);
      double spread = Math.pow(2, random.nextInt(kind == 2 ? 100 : 8) - (kind == 2 ? 50 : 4));
      while (buffer.remaining() >= 8) {
        float value = (float) (random.nextGaussian() * spread);
        switch (dtype) {
          case F32 -> buffer.putFloat(value);
          case F64 -> buffer.putDouble(value);
          case BF16 -> buffer.putShort((short) (Float.floatToRawIntBits(value) >>> 16));
          // Any finite half: the exponent's highest bit is kept clear.
          case F16 -> buffer.putShort((short) (random.nextInt() & ~0x4000));
          default -> buffer.put((byte) (random.nextInt(16)));
        }
      }
    }
    return out;
  }

  /** As {@link #values}, but quick: one tile over and over, each with its number in it. */
  private byte[] tiled(DType dtype, int length) {
    byte[] out = new byte[length];
    byte[] tile = values(dtype, 1 << 16);
    ByteBuffer buffer = ByteBuffer.wrap(out);
    while (buffer.remaining() >= tile.length) {
      int at = buffer.position();
      buffer.put(tile).putInt(at + tile.length / 2, at / tile.length & 0xffff);
    }
    return out;
  }

  private static StateViews views(Layout layout, Map<String, byte[]> data, int most, int tokens) {
    StateViews.Builder views = StateViews.builder();
    for (TensorSpec spec : layout.tensors()) {
      views.put(spec, RestoredHashes.view(spec, data.get(spec.name()), most, tokens));
    }
    return views.build();
  }

  private void writeHashes(SnapshotStore store) throws IOException {
    StringBuilder json = new StringBuilder("{\"namespaces\":[");
    for (int i = 0; i < spaces.size(); i++) {
      Space space = spaces.get(i);
      Namespace namespace = space.open(store);
      json.append(i == 0 ? "" : ",").append("{\"fingerprint\":\"");
      json.append(namespace.abbreviatedFingerprint()).append("\",\"salt\":");
      json.append(space.salt == null ? "null" : quoted(hex(space.salt))).append(",\"prompts\":[");
      for (int p = 0; p < space.prompts.size(); p++) {
        json.append(p == 0 ? "" : ",");
        writePrompt(json, namespace, space.prompts.get(p));
      }
      json.append("]}");
    }
    json.append("]}\n");
    Files.writeString(directory.resolveSibling(directory.getFileName() + ".json"), json);
  }

  private static void writePrompt(StringBuilder json, Namespace namespace, Stored stored) {
    json.append("{\"tokens\":[");
    for (int i = 0; i < stored.tokens().length; i++) {
      json.append(i == 0 ? "" : ",").append(stored.tokens()[i] & 0xffffffffL);
    }
    json.append("],\"extra\":{");
    String comma = "";
    for (Map.Entry<Integer, byte[]> entry : stored.extra().entrySet()) {
      json.append(comma).append(quoted("" + entry.getKey())).append(":");
      json.append(quoted(hex(entry.getValue())));
      comma = ",";
    }
    json.append("},\"keys\":");
    if (stored.keys() == null) {
      json.append("null");
    } else {
      json.append("[");
      for (int i = 0; i < stored.keys().size(); i++) {
        json.append(i == 0 ? "" : ",").append(quoted(stored.keys().get(i).toHex()));
      }
      json.append("]");
    }
    PrefixMatch match = namespace.match(stored.prompt(), stored.tokens().length);
    json.append(",\"stored\":").append(match.storedTokens()).append(",\"points\":[");
    for (int i = 0; i < match.points().length; i++) {
      json.append(i == 0 ? "" : ",");
      writePoint(json, namespace.layout(), match, match.points()[i]);
    }
    json.append("]}");
  }

  private static void writePoint(StringBuilder json, Layout layout, PrefixMatch match, int at) {
    json.append("{\"at\":").append(at).append(",\"tensors\":{");
    String comma = "";
    for (Map.Entry<String, String> tensor : RestoredHashes.of(layout, match, at).entrySet()) {
      json.append(comma).append(quoted(tensor.getKey())).append(":");
      json.append(quoted(tensor.getValue()));
      comma = ",";
    }
    json.append("}}");
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  /** Copies a store beside its writer, all but the lock. */
  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        if (Files.isRegularFile(file) && !file.getFileName().toString().equals("LOCK")) {
          Files.copy(file, to.resolve(file.getFileName()));
        }
      }
    }
  }

  private static void delete(Path directory) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(directory)) {
      all = new ArrayList<>(files.toList());
    }
    for (int i = all.size() - 1; i >= 0; i--) {
      Files.delete(all.get(i));
    }
  }
}
