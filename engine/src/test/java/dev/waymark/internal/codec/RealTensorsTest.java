package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import dev.waymark.layout.TensorSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Ratios and errors on recorded tensors; also leaves them as a table in {@code
 * target/codec-figures.md}. The tensors are not part of the tree; without them the tests are
 * skipped.
 */
class RealTensorsTest {
  private static final int HEADS = 12;
  private static final int TOKENS = 1024;
  private static final int WIDTH = 32;
  private static final int BLOCK_TOKENS = 64;

  private static final List<String> FIGURES = new ArrayList<>();

  private final CodecScratch scratch = new CodecScratch();

  @AfterEach
  void close() {
    scratch.close();
  }

  @AfterAll
  static void writeFigures() throws IOException {
    if (!FIGURES.isEmpty()) {
      List<String> lines = new ArrayList<>();
      lines.add("| tensor | codec | raw bytes | stored bytes | ratio | relative L2 error |");
      lines.add("|---|---|---|---|---|---|");
      lines.addAll(FIGURES);
      Files.createDirectories(Path.of("target"));
      Files.write(Path.of("target", "codec-figures.md"), lines, StandardCharsets.UTF_8);
    }
  }

  @Test
  void keysAndValuesInBlocks() throws IOException {
    List<byte[]> blocks = new ArrayList<>();
    for (byte[] tensor : read("minilm_kv_1024_bf16.safetensors").values()) {
      for (int from = 0; from < TOKENS; from += BLOCK_TOKENS) {
        blocks.add(block(tensor, from));
      }
    }
    Map<Codec, Double> ratios = measure("KV bf16, blocks of 64", keysSpec(), blocks);
    assertThat(ratios.get(Codec.PLANES)).isGreaterThanOrEqualTo(1.44);
  }

  @Test
  void keysAndValuesWhole() throws IOException {
    List<byte[]> tensors = new ArrayList<>(read("minilm_kv_1024_bf16.safetensors").values());
    Map<Codec, Double> ratios = measure("KV bf16, whole", keysSpec(), tensors);
    assertThat(ratios.get(Codec.PLANES)).isGreaterThanOrEqualTo(1.46);
  }

  @Test
  void recurrentState() throws IOException {
    byte[] all = read("recurrent_f32.safetensors").get("state");
    TensorSpec spec = TensorSpec.fixed("state", DType.F32, 2, 1, 128);
    int stateBytes = 2 * 128 * Float.BYTES;
    List<byte[]> states = new ArrayList<>();
    for (int from = 0; from < all.length; from += stateBytes) {
      states.add(Arrays.copyOfRange(all, from, from + stateBytes));
    }
    Map<Codec, Double> ratios = measure("recurrent f32, a boundary", spec, states);
    assertThat(ratios.get(Codec.RHT_INT8)).isGreaterThan(3.8);
    measure("recurrent f32, 64 in a chunk", spec, List.of(all));
  }

  private static TensorSpec keysSpec() {
    return TensorSpec.rows("keys", DType.BF16, 1, HEADS, TensorSpec.TOKEN_AXIS, WIDTH);
  }

  private Map<Codec, Double> measure(String name, TensorSpec spec, List<byte[]> parts) {
    Map<Codec, Double> ratios = new LinkedHashMap<>();
    for (Codec codec : Codec.values()) {
      if (!ChunkCodecs.applicable(codec, spec)) {
        FIGURES.add(
            "| %s | %s | %s |||".formatted(name, codec, ChunkCodecs.fit(codec, spec).reason()));
        continue;
      }
      ChunkCodec chunks = ChunkCodecs.of(codec, spec);
      long rawBytes = 0;
      long storedBytes = 0;
      double squaredError = 0;
      double squaredNorm = 0;
      for (byte[] part : parts) {
        for (int from = 0; from < part.length; from += chunks.chunkRawBytes()) {
          byte[] raw =
              Arrays.copyOfRange(part, from, Math.min(part.length, from + chunks.chunkRawBytes()));
          byte[] stored = Samples.encode(chunks, scratch, raw);
          byte[] decoded =
              stored == null ? raw : Samples.decode(chunks, scratch, stored, raw.length);
          LossyError error =
              LossyCheck.measure(
                  scratch,
                  codec,
                  spec,
                  new UnsafeBuffer(raw),
                  0,
                  new UnsafeBuffer(decoded),
                  0,
                  raw.length);
          assertThat(error.isWithinBound()).as("%s of %s: %s", codec, name, error).isTrue();
          if (codec == Codec.BF16 || codec == Codec.INT8) {
            assertThat(Samples.encode(chunks, scratch, decoded))
                .as("%s of %s, encoded again", codec, name)
                .satisfies(
                    again ->
                        assertThat(Samples.decode(chunks, scratch, again, raw.length))
                            .isEqualTo(decoded));
          }
          double norm = squaredNorm(spec.dtype(), raw);
          squaredError += error.relativeL2() * error.relativeL2() * norm;
          squaredNorm += norm;
          rawBytes += raw.length;
          storedBytes += stored == null ? raw.length : stored.length;
        }
      }
      double ratio = (double) rawBytes / storedBytes;
      ratios.put(codec, ratio);
      FIGURES.add(
          "| %s | %s | %,d | %,d | %.3f | %s |"
              .formatted(
                  name,
                  codec,
                  rawBytes,
                  storedBytes,
                  ratio,
                  squaredError == 0
                      ? "0"
                      : "%.4f %%".formatted(100 * Math.sqrt(squaredError / squaredNorm))));
    }
    return ratios;
  }

  private static double squaredNorm(DType dtype, byte[] raw) {
    double sum = 0;
    for (float value : Samples.floats(dtype, raw)) {
      sum += (double) value * value;
    }
    return sum;
  }

  /** The rows of all heads in a range of tokens, as a part holds them. */
  private static byte[] block(byte[] tensor, int fromToken) {
    int rowBytes = WIDTH * 2;
    ByteBuffer block = ByteBuffer.allocate(HEADS * BLOCK_TOKENS * rowBytes);
    for (int head = 0; head < HEADS; head++) {
      block.put(tensor, (head * TOKENS + fromToken) * rowBytes, BLOCK_TOKENS * rowBytes);
    }
    return block.array();
  }

  private static Map<String, byte[]> read(String name) throws IOException {
    // Tests run in the module's folder; the data stands beside the root of the tree.
    Path data = Path.of(System.getProperty("waymark.data", "../../shared/data"));
    Path file = data.resolve("tensors").resolve(name);
    assumeTrue(
        Files.isReadable(file), () -> "no recorded tensors at " + file + ": set -Dwaymark.data");
    byte[] bytes = Files.readAllBytes(file);
    int headerBytes = (int) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    JsonNode header = new ObjectMapper().readTree(bytes, 8, headerBytes);
    Map<String, byte[]> tensors = new LinkedHashMap<>();
    header
        .properties()
        .forEach(
            entry -> {
              JsonNode offsets = entry.getValue().get("data_offsets");
              if (offsets != null) {
                int start = 8 + headerBytes;
                tensors.put(
                    entry.getKey(),
                    Arrays.copyOfRange(
                        bytes, start + offsets.get(0).asInt(), start + offsets.get(1).asInt()));
              }
            });
    return tensors;
  }
}
