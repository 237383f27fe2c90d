package dev.waymark.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * The same input gives the same stored bytes in every process, on every JDK. A vector of a row
 * codec or of {@code BF16} may never change; one of {@code PLANES} may with zstd's version, whose
 * frames are free to.
 */
class StoredBytesTest {
  @Test
  void bf16() {
    assertStored(
        Codec.BF16,
        DType.F32,
        128,
        "53f76cfbb30e6723313229cc8b4d09736d17794b4b81f14d8007b15c2a375d02",
        "d4c33b8ae6d0a1955c5a39d89b6a8160535031711e1dfe3fc507bfe0f9bb206f");
  }

  @Test
  void int8() {
    assertStored(
        Codec.INT8,
        DType.F32,
        96,
        "753fefb3f0bf4cb2d7b2ab70b5c96cca0b71af0352e6820b27dcad3c8413d806",
        "3ef9e0a3cd34d3bd7916cf68e94ffa140d2d0f924e3e2995cf39ed6f46998826");
    assertStored(
        Codec.INT8,
        DType.BF16,
        96,
        "ded211bc6adb4e162a374a1d24701f843d5379084aede130a0c85e605f39b98a",
        "ef080e750f9a8170432922dbb8c96d0c9470397f9da622a7a9b5fe2d7b240aa3");
    assertStored(
        Codec.INT8,
        DType.F16,
        96,
        "ac534d96c31ce42b3e643b539ea0d5ba5fc435b418a81f6ffe174615cea0c42d",
        "b9595f7d4a1aac6c968a650eceb2e457d45f323a78ce0ebafef0f5b8610151d9");
  }

  @Test
  void transformedInt8() {
    assertStored(
        Codec.RHT_INT8,
        DType.F32,
        2,
        "9cf1695e84627144c4fda1425425f0fc5260ddada98db29f2db9b0026ff1947b",
        "6fade288553a3e70ba8d877cda35b0efa80bf66a7556ec0be11876ae8b01cfe3");
    assertStored(
        Codec.RHT_INT8,
        DType.F32,
        128,
        "53b23bbfe7cea50478f8f4ed5ec403167192977100f3af5b45997bd08709f3af",
        "8af6b6aa848790ef77e5b6fd9c63b36e557298c169104858d51c2a7bb08df5e5");
    assertStored(
        Codec.RHT_INT8,
        DType.F32,
        4096,
        "11ae75e33e311a77158036694246bc032f9fc81186dfd4f206ede22069867972",
        "a4af510c2ef13857970d2be819020a2717fd68fb32752192d9f8601a3a73d5fe");
    assertStored(
        Codec.RHT_INT8,
        DType.BF16,
        64,
        "bcb46f66e87cdccc5a345f86dcc95f39d9a43d70415961d0c9d82f2927780f89",
        "91e69e16c572b7fb03f6165f77146e2681f4b85299279e2f2fe058a7a8b0dc75");
    assertStored(
        Codec.RHT_INT8,
        DType.F16,
        64,
        "2733b2d69397ad94bf5396290aebc1fb251298728d39d26d0d0264c5d4e5fe2d",
        "22f46b688d46ef7cc19b7af95d006ab41713066bcffadb51a7f4e8dfa976f2c3");
  }

  @Test
  void transformedInt16() {
    assertStored(
        Codec.RHT_INT16,
        DType.F32,
        128,
        "cd7a66895a7ca0964342d4004ebec55f37103fcd03818b509a4106f5f2b0b343",
        "d5de950be31aff91468d7d86d7d27a18ecc54bf81f0b0dc712451008917afe1a");
    assertStored(
        Codec.RHT_INT16,
        DType.F32,
        4096,
        "94636b0b24dac58803ae150e331420a62bf7e656644c0dcbce4eaac09d3a4d8f",
        "a36ea1af6ccf2d3b7618b174833fae0f042b05707a29f8c7c2472ce90c75cd31");
  }

  @Test
  void planes() {
    assertStored(
        Codec.PLANES,
        DType.F32,
        128,
        "6b2f06e49190c856cbd8bb8a3930d91b795182471e11fe5e72142ac3a79755b0",
        "3ccb6ba4f66a1ea042d067110e347740f761dabb8e333b30f6860d4a6c5958bc");
    assertStored(
        Codec.PLANES,
        DType.BF16,
        128,
        "cf95ab55bedcfd572df1748510ea3167417d98d1054df7c52384f6815d162422",
        "53f76cfbb30e6723313229cc8b4d09736d17794b4b81f14d8007b15c2a375d02");
    assertStored(
        Codec.PLANES,
        DType.F16,
        128,
        "999933652260b530e0e976fffe5f10e632014a7d5ff4c8e114286313bf45e6b7",
        "70f6f14b9ee6687477e8911be0c64390b097cdf0be32c80cd9227fb262e4dd93");
  }

  private static void assertStored(
      Codec codec, DType dtype, int width, String storedSha256, String decodedSha256) {
    SplittableRandom random = new SplittableRandom(2026);
    int count = 12 * 4096;
    byte[] raw = Samples.bytes(dtype, Samples.normals(random, count));
    try (CodecScratch scratch = new CodecScratch()) {
      ChunkCodec chunks = ChunkCodecs.of(codec, Samples.tensor(dtype, width));
      byte[] stored = Samples.encode(chunks, scratch, raw);
      byte[] decoded = Samples.decode(chunks, scratch, stored, raw.length);
      assertThat(List.of(sha256(stored), sha256(decoded)))
          .as("%s of %s, width %s", codec, dtype, width)
          .containsExactly(storedSha256, decodedSha256);
    }
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
