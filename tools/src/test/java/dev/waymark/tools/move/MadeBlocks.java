package dev.waymark.tools.move;

import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes block folders as servers do: a block's own rows of caches that can be cut, the whole ring
 * of those that rotate, and recurrent state, or a stand-in for it where the block is not the last
 * of its prompt.
 */
final class MadeBlocks {
  static final int BLOCK = 8;
  static final int SLOTS = 15;
  static final int KEEP = 3;
  static final String TYPES =
      "[\"KVCache\",\"RotatingKVCache\",\"ArraysCache\",\"CacheList\",\"KVCache\"]";

  /** What the import makes of them. */
  static final Layout LAYOUT =
      Layout.of(
          BLOCK,
          TensorSpec.rows("layer_0_state_0", DType.BF16, 1, 1, 2, TensorSpec.TOKEN_AXIS, 4),
          TensorSpec.rows("layer_0_state_1", DType.BF16, 1, 1, 2, TensorSpec.TOKEN_AXIS, 4),
          ring("layer_1_state_0"),
          ring("layer_1_state_1"),
          TensorSpec.fixed("layer_2_state_0", DType.F32, 2, 4),
          TensorSpec.rows("layer_3_sub_0_state_0", DType.F16, 1, 1, 1, TensorSpec.TOKEN_AXIS, 5),
          TensorSpec.fixed("layer_3_sub_1_state_0", DType.F32, 1, 3),
          TensorSpec.rows("layer_4_state_0", DType.F32, 1, 1, 0, TensorSpec.TOKEN_AXIS, 8));

  private final MadeState state = new MadeState(LAYOUT);
  private final Path folder;

  MadeBlocks(Path folder) {
    this.folder = folder;
  }

  private static TensorSpec ring(String name) {
    return TensorSpec.window(name, DType.BF16, SLOTS - KEEP, KEEP, 1, 2, TensorSpec.TOKEN_AXIS, 3);
  }

  MadeState state() {
    return state;
  }

  static String hash(int[] ids, int tokens) {
    String text = Arrays.toString(Arrays.copyOf(ids, tokens));
    return HexFormat.of()
        .formatHex(ArchiveFormat.sha256().digest(text.getBytes(StandardCharsets.US_ASCII)));
  }

  Path file(int[] ids, int tokens) {
    String hash = hash(ids, tokens);
    return folder.resolve(hash.substring(0, 1)).resolve(hash + ".safetensors");
  }

  Path companion(int[] ids, int tokens) {
    return file(ids, tokens).resolveSibling(hash(ids, tokens) + ".tokens");
  }

  /** Writes the blocks of a prompt from one position on; the last may be short. */
  void write(int[] ids, int from, boolean companions, int... withState) throws IOException {
    for (int at = from; at < ids.length; at += BLOCK) {
      int to = Math.min(ids.length, at + BLOCK);
      write(ids, at, to, Arrays.stream(withState).anyMatch(tokens -> tokens == to), Map.of());
      if (companions) {
        writeCompanion(ids, at, to, at);
      }
    }
  }

  void writeCompanion(int[] ids, int from, int to, int start) throws IOException {
    String parent = from == 0 ? "null" : "\"" + hash(ids, from) + "\"";
    String own = Arrays.toString(Arrays.copyOfRange(ids, from, to));
    Files.writeString(
        companion(ids, to),
        "{\"parent_hash\":" + parent + ",\"token_start\":" + start + ",\"token_ids\":" + own + "}");
  }

  /** Writes one block, some of whose metadata may be other than it should be. */
  void write(int[] ids, int from, int to, boolean withState, Map<String, String> instead)
      throws IOException {
    Map<String, String> metadata = metadata(ids, from, to);
    metadata.putAll(instead);
    metadata.values().removeIf(String::isEmpty);
    SafetensorsWriter header = new SafetensorsWriter(metadata);
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    for (TensorSpec spec : LAYOUT.tensors()) {
      byte[] bytes;
      List<Long> shape;
      if (spec.isFixed()) {
        shape = withState ? spec.shape() : List.of(1L);
        bytes = withState ? state.packed(spec, ids, to) : new byte[4];
      } else if (spec.name().startsWith("layer_1")) {
        shape = PackedState.shape(spec, Math.min(to, SLOTS));
        bytes = state.ring(spec, ids, to, SLOTS, KEEP);
      } else if (spec.name().startsWith("layer_4")) {
        shape = List.of(1L);
        bytes = new byte[4];
      } else {
        shape = PackedState.shape(spec, to - from);
        bytes = state.rows(spec, ids, from, to);
      }
      header.add(spec.name(), spec.dtype(), shape);
      data.write(bytes);
      if (spec.name().equals("layer_2_state_0")) {
        header.add("layer_2_state_1", DType.F32, List.of(1L));
        data.write(new byte[4]);
      }
    }
    Path file = file(ids, to);
    Files.createDirectories(file.getParent());
    byte[] front = header.front();
    Files.write(
        file,
        ByteBuffer.allocate(front.length + data.size()).put(front).put(data.toByteArray()).array());
  }

  private static Map<String, String> metadata(int[] ids, int from, int to) {
    int index = to <= SLOTS ? to : KEEP + (to - KEEP) % (SLOTS - KEEP);
    String ring = "[\"" + KEEP + "\",\"" + SLOTS + "\",\"" + to + "\",\"" + index + "\"]";
    Map<String, String> metadata = new LinkedHashMap<>();
    metadata.put("a_cache_format_version", "3");
    metadata.put("block_hash", hash(ids, to));
    metadata.put("token_count", Integer.toString(to - from));
    metadata.put("num_layers", "5");
    metadata.put("block_size", Integer.toString(BLOCK));
    metadata.put("model_name", "made");
    metadata.put("cache_signature", "{\"block_size\": 8, \"model_name\": \"made\"}");
    metadata.put("layer_cache_types", TYPES);
    metadata.put(
        "layer_meta_states",
        "[[], " + ring + ", [], [[\"KVCache\", \"ArraysCache\"], [[], []]], []]");
    metadata.put("layer_0_state_count", "2");
    metadata.put("layer_1_state_count", "2");
    metadata.put("layer_2_state_count", "2");
    metadata.put("layer_2_state_1_none", "1");
    metadata.put("layer_3_sub_count", "2");
    metadata.put("layer_3_sub_0_state_count", "1");
    metadata.put("layer_3_sub_1_state_count", "1");
    metadata.put("layer_3_sub_1_state_class_name", "ArraysCache");
    metadata.put("layer_4_state_count", "1");
    metadata.put("layer_4_state_0_zero_dim", "1,0," + (to - from) + ",8");
    return metadata;
  }

  /** The hashes of a prompt's blocks, one a line. */
  static String order(int[] ids) {
    List<String> lines = new ArrayList<>();
    for (int to = BLOCK; to <= ids.length; to += BLOCK) {
      lines.add(hash(ids, to));
    }
    return String.join("\n", lines) + "\n";
  }
}
