package dev.waymark.formatpage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.internal.codec.CodecScratch;
import dev.waymark.internal.log.Frame;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.TensorSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** The page's bytes are those that the encoders write. */
class FormatExamplesTest {
  private static final Schema SCHEMA = Schema.load();
  private static final ExampleStore STORE = new ExampleStore();
  private static final int PAGE = 4096;

  @Test
  void texts() {
    FormatPage.check("json-layout", ExampleStore.LAYOUT.toJson() + "\n");
    FormatPage.check("json-identity", ExampleStore.IDENTITY.toJson() + "\n");
    FormatPage.check("json-codecs", ExampleStore.CODECS.toJson() + "\n");
  }

  @Test
  void appendSegment() {
    FormatPage.check("hex-append", HexDump.of(STORE.append, PAGE, 1, SCHEMA));
  }

  @Test
  void deltaSegment() {
    FormatPage.check("hex-delta", HexDump.of(STORE.delta, PAGE, 2, SCHEMA));
  }

  @Test
  void manifest() {
    FormatPage.check("hex-manifest", HexDump.of(STORE.manifest, 8, 1, SCHEMA));
  }

  @Test
  void current() {
    FormatPage.check("hex-current", HexDump.of(STORE.current, PAGE, 0, SCHEMA));
  }

  @Test
  void status() {
    FormatPage.check("hex-status", HexDump.of(STORE.status, PAGE, 0, SCHEMA));
  }

  @Test
  void restored() {
    FormatPage.check(
        "restored",
        "k "
            + hex(STORE.k, 0, 32)
            + "\n"
            + "w "
            + hex(STORE.w, 0, 16)
            + "\n"
            + "s "
            + hex(STORE.s, 0, 16)
            + "\n");
  }

  @Test
  void checksums() {
    byte[] digits = "123456789".getBytes(StandardCharsets.US_ASCII);
    FormatPage.check(
        "crc32c", "%08x\n".formatted(Frame.crc32c(new UnsafeBuffer(digits), 0, digits.length)));
  }

  @Test
  void keys() {
    byte[] salt = HexFormat.of().parseHex("000102030405060708090a0b0c0d0e0f");
    BoundaryKey extra =
        new KeyChain()
            .next(
                ExampleStore.ROOT,
                ExampleStore.TOKENS,
                0,
                2,
                "lora-7".getBytes(StandardCharsets.UTF_8));
    FormatPage.check(
        "keys",
        String.join(
            "\n",
            "fingerprint  " + HexDump.hex(ExampleStore.FINGERPRINT),
            "root         " + ExampleStore.ROOT.toHex(),
            "tenant root  " + KeyChain.tenantRoot(ExampleStore.FINGERPRINT, salt).toHex(),
            "first block  " + ExampleStore.FIRST.toHex(),
            "second block " + ExampleStore.SECOND.toHex(),
            "with extra   " + extra.toHex(),
            ""));
  }

  /** One row of a single 1 among zeros is transformed to the signs themselves. */
  @Test
  void signDiagonal() {
    int width = 4096;
    byte[] stored = new byte[4 + width];
    ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN).putFloat(0, 1).put(4, (byte) 1);
    byte[] decoded = decode(Codec.RHT_INT8, DType.F32, width, stored, 4 * width);
    ByteBuffer values = ByteBuffer.wrap(decoded).order(ByteOrder.LITTLE_ENDIAN);
    StringBuilder out = new StringBuilder();
    for (int word : new int[] {0, 1, 2, 63}) {
      long bits = 0;
      for (int i = 0; i < 64; i++) {
        bits |= values.getFloat(4 * (64 * word + i)) < 0 ? 1L << i : 0;
      }
      out.append("word %2d  %016x\n".formatted(word, bits));
    }
    out.append("signs    ");
    for (int i = 0; i < 32; i++) {
      out.append(values.getFloat(4 * i) < 0 ? '-' : '+');
    }
    FormatPage.check("sign-diagonal", out.append('\n').toString());
  }

  @Test
  void rows() {
    chunk("chunk-BF16", Codec.BF16, DType.F32, 4, floats(1, -2.5f, 3.1415927f, 0));
    chunk("chunk-INT8", Codec.INT8, DType.F32, 8, floats(1, -2.5f, 3, 0, 0.5f, -0.25f, 2, 127));
    float[] row = new float[16];
    for (int i = 0; i < row.length; i++) {
      row[i] = (i * 7 % 16 - 8) / 4f;
    }
    chunk("chunk-RHT_INT8", Codec.RHT_INT8, DType.BF16, 16, bf16(row));
    chunk("chunk-RHT_INT16", Codec.RHT_INT16, DType.F32, 16, floats(row));
  }

  /** A zstd of another version may compress otherwise, so only decoding is compared. */
  @Test
  void planes() {
    ByteBuffer raw = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 128; i++) {
      raw.putShort((short) (0x3F80 - 0x8000 * (i % 2) + 37 * i % 128));
    }
    if (Boolean.getBoolean("waymark.format.rewrite")) {
      chunk("chunk-PLANES", Codec.PLANES, DType.BF16, 8, raw.array());
    }
    String[] lines = FormatPage.block("chunk-PLANES").split("\n");
    byte[] stored = unfold(lines, "stored");
    assertThat(unfold(lines, "raw")).isEqualTo(raw.array());
    assertThat(decode(Codec.PLANES, DType.BF16, 8, stored, 256)).isEqualTo(raw.array());
  }

  private static void chunk(String block, Codec codec, DType dtype, int width, byte[] raw) {
    ChunkCodec chunks = ChunkCodecs.of(codec, TensorSpec.fixed("t", dtype, 1, width));
    UnsafeBuffer target = new UnsafeBuffer(new byte[raw.length]);
    int length;
    try (CodecScratch scratch = new CodecScratch()) {
      length = chunks.encode(scratch, new UnsafeBuffer(raw), 0, raw.length, target, 0);
    }
    assertThat(length).as(block).isPositive();
    byte[] stored = Arrays.copyOf(target.byteArray(), length);
    byte[] decoded = decode(codec, dtype, width, stored, raw.length);
    FormatPage.check(block, fold("raw", raw) + fold("stored", stored) + fold("decoded", decoded));
  }

  private static byte[] decode(Codec codec, DType dtype, int width, byte[] stored, int rawLength) {
    ChunkCodec chunks = ChunkCodecs.of(codec, TensorSpec.fixed("t", dtype, 1, width));
    byte[] decoded = new byte[rawLength];
    try (CodecScratch scratch = new CodecScratch()) {
      chunks.decode(
          scratch,
          new UnsafeBuffer(stored),
          0,
          stored.length,
          new UnsafeBuffer(decoded),
          0,
          rawLength);
    }
    return decoded;
  }

  private static String fold(String name, byte[] bytes) {
    StringBuilder out = new StringBuilder();
    for (int at = 0; at < bytes.length; at += 32) {
      out.append("%-8s ".formatted(at == 0 ? name : ""))
          .append(HexDump.hex(Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + 32))))
          .append('\n');
    }
    return out.toString();
  }

  private static byte[] unfold(String[] lines, String name) {
    StringBuilder hex = new StringBuilder();
    boolean inside = false;
    for (String line : lines) {
      inside = line.startsWith(" ") ? inside : line.startsWith(name + " ");
      if (inside) {
        hex.append(line.substring(9));
      }
    }
    return HexFormat.of().parseHex(hex);
  }

  private static String hex(ByteBuffer buffer, int from, int length) {
    byte[] bytes = new byte[length];
    buffer.get(from, bytes);
    return HexDump.hex(bytes);
  }

  private static byte[] floats(float... values) {
    ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      buffer.putFloat(value);
    }
    return buffer.array();
  }

  private static byte[] bf16(float... values) {
    ByteBuffer buffer = ByteBuffer.allocate(2 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      buffer.putShort((short) (Float.floatToRawIntBits(value) >>> 16));
    }
    return buffer.array();
  }
}
