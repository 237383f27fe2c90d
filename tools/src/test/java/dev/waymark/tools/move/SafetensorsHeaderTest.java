package dev.waymark.tools.move;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.waymark.layout.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SafetensorsHeaderTest {
  private static final String U8_4 = "{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}";

  private static byte[] file(String header, int dataBytes) {
    byte[] json = header.getBytes(StandardCharsets.UTF_8);
    ByteBuffer file = ByteBuffer.allocate(8 + json.length + dataBytes);
    file.order(ByteOrder.LITTLE_ENDIAN).putLong(json.length).put(json);
    return file.array();
  }

  private static SafetensorsFault fault(byte[] file) {
    BadSafetensorsException e =
        catchThrowableOfType(BadSafetensorsException.class, () -> SafetensorsHeader.parse(file));
    assertThat(e).isNotNull();
    assertThat(e.getMessage()).doesNotContain("\n");
    return e.fault();
  }

  private static String tensor(String dtype, String shape, String offsets) {
    return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  }

  @Test
  void whatIsRightIsRead() {
    SafetensorsHeader header =
        SafetensorsHeader.parse(
            file(
                "{\"b\":"
                    + tensor("F32", "[2,2]", "[4,20]")
                    + ",\"__metadata__\":{\"k\":\"v\"},\"a\":"
                    + U8_4
                    + ",\"none\":"
                    + tensor("F64", "[3,0]", "[20,20]")
                    + ",\"scalar\":"
                    + tensor("I16", "[]", "[20,22]")
                    + "}   ",
                22));

    assertThat(header.metadata()).isEqualTo(Map.of("k", "v"));
    assertThat(header.tensors())
        .extracting(SafetensorsHeader.Tensor::name)
        .containsExactly("a", "b", "none", "scalar");
    assertThat(header.tensor("b"))
        .isEqualTo(new SafetensorsHeader.Tensor("b", DType.F32, List.of(2L, 2L), 4, 20));
    assertThat(header.tensor("c")).isNull();
  }

  @Test
  void emptyMetadataIsAccepted() {
    assertThat(
            SafetensorsHeader.parse(file("{\"__metadata__\":{},\"a\":" + U8_4 + "}", 4)).tensors())
        .hasSize(1);
    assertThat(SafetensorsHeader.parse(file("{}", 0)).tensors()).isEmpty();
  }

  @Test
  void aKeyThatStandsTwiceIsAFault() {
    SafetensorsFault fault = SafetensorsFault.DUPLICATE_KEY;
    assertThat(fault(file("{\"a\":" + U8_4 + ",\"a\":" + U8_4 + "}", 4))).isEqualTo(fault);
    assertThat(fault(file("{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}}", 0))).isEqualTo(fault);
    assertThat(fault(file("{\"__metadata__\":{},\"__metadata__\":{}}", 0))).isEqualTo(fault);
    assertThat(fault(file("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0))).isEqualTo(fault);
  }

  @Test
  void aHeaderOf132MegabytesIsRefusedBeforeMemoryIsTakenForIt() {
    byte[] front =
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(132_000_000).array();

    BadSafetensorsException e =
        catchThrowableOfType(
            BadSafetensorsException.class, () -> SafetensorsHeader.headerBytes(front, 1L << 40));

    assertThat(e.fault()).isEqualTo(SafetensorsFault.HEADER_TOO_LARGE);
    assertThat(fault(front)).isEqualTo(SafetensorsFault.HEADER_TOO_LARGE);
  }

  @Test
  void aHeaderBehindTheFileIsAFault() {
    byte[] front = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN).putLong(57).array();
    assertThat(fault(front)).isEqualTo(SafetensorsFault.HEADER_BEYOND_FILE);
    assertThat(fault(new byte[7])).isEqualTo(SafetensorsFault.TRUNCATED);
    byte[] negative = ByteBuffer.allocate(8).putLong(-1).array();
    assertThat(fault(negative)).isEqualTo(SafetensorsFault.HEADER_TOO_LARGE);
  }

  @Test
  void fourBytesOfATensorOfFourMegabytesAreAFault() {
    assertThat(fault(file("{\"a\":" + tensor("F32", "[1024,1024]", "[0,4]") + "}", 4)))
        .isEqualTo(SafetensorsFault.SIZE_MISMATCH);
  }

  @Test
  void trailingBytesAreAFault() {
    assertThat(fault(file("{\"a\":" + U8_4 + "}", 5))).isEqualTo(SafetensorsFault.TRAILING_BYTES);
    assertThat(fault(file("{}", 1))).isEqualTo(SafetensorsFault.TRAILING_BYTES);
  }

  @Test
  void overlappingOffsetsAreAFault() {
    String second = tensor("U8", "[4]", "[3,7]");
    assertThat(fault(file("{\"a\":" + U8_4 + ",\"b\":" + second + "}", 7)))
        .isEqualTo(SafetensorsFault.OVERLAPPING_OFFSETS);
    assertThat(fault(file("{\"a\":" + U8_4 + ",\"b\":" + U8_4 + "}", 4)))
        .isEqualTo(SafetensorsFault.OVERLAPPING_OFFSETS);
  }

  @Test
  void aHoleIsAFault() {
    String second = tensor("U8", "[4]", "[5,9]");
    assertThat(fault(file("{\"a\":" + U8_4 + ",\"b\":" + second + "}", 9)))
        .isEqualTo(SafetensorsFault.HOLE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "U8|[4]|[0,5]|OFFSETS_BEYOND_FILE",
        "U8|[4]|[4,0]|BAD_OFFSETS",
        "U8|[4]|[-4,0]|BAD_OFFSETS",
        "U8|[4]|[0]|BAD_TENSOR",
        "U8|[4]|[0,4,8]|BAD_TENSOR",
        "U8|[4]|[0,4.0]|BAD_TENSOR",
        "U8|[4]|[0,99999999999999999999]|BAD_TENSOR",
        "U8|[4]|[0,[4]]|BAD_TENSOR",
        "U8|4|[0,4]|BAD_TENSOR",
        "U8|[\"4\"]|[0,4]|BAD_TENSOR",
        "U8|[-4]|[0,4]|BAD_SHAPE",
        "F64|[4294967296,4294967296]|[0,4]|BAD_SHAPE",
        "F64|[9223372036854775807]|[0,4]|BAD_SHAPE",
        "F4|[4]|[0,4]|UNKNOWN_DTYPE",
        "u8|[4]|[0,4]|UNKNOWN_DTYPE",
      })
  void wrongNumbersAreFaults(String dtype, String shape, String offsets, SafetensorsFault fault) {
    assertThat(fault(file("{\"a\":" + tensor(dtype, shape, offsets) + "}", 4))).isEqualTo(fault);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[]|HEADER_NOT_JSON",
        "{|HEADER_NOT_JSON",
        "{} {}|HEADER_NOT_JSON",
        "{}x|HEADER_NOT_JSON",
        "{\"a\":1}|BAD_TENSOR",
        "{\"a\":null}|BAD_TENSOR",
        "{\"a\":{}}|BAD_TENSOR",
        "{\"a\":{\"more\":1}}|BAD_TENSOR",
        "{\"__metadata__\":[]}|BAD_METADATA",
        "{\"__metadata__\":{\"k\":1}}|BAD_METADATA",
        "{\"__metadata__\":{\"k\":{}}}|BAD_METADATA",
      })
  void wrongJsonIsAFault(String header, SafetensorsFault fault) {
    assertThat(fault(file(header, 0))).isEqualTo(fault);
  }

  @Test
  void deepJsonIsRefusedWhereItBegins() {
    String deep = "[".repeat(1_000_000);
    assertThat(fault(file("{\"a\":" + deep, 0))).isEqualTo(SafetensorsFault.BAD_TENSOR);
    assertThat(fault(file("{\"a\":{\"shape\":" + deep, 0))).isEqualTo(SafetensorsFault.BAD_TENSOR);
    assertThat(fault(file("{\"__metadata__\":" + deep, 0)))
        .isEqualTo(SafetensorsFault.BAD_METADATA);
  }

  @Test
  void anotherEncodingIsRefused() {
    byte[] utf16 = "{}".getBytes(StandardCharsets.UTF_16LE);
    ByteBuffer file = ByteBuffer.allocate(8 + utf16.length).order(ByteOrder.LITTLE_ENDIAN);
    file.putLong(utf16.length).put(utf16);
    assertThat(fault(file.array())).isEqualTo(SafetensorsFault.HEADER_NOT_JSON);
    byte[] broken = file("{\"a\":" + U8_4 + "}", 4);
    broken[10] = (byte) 0xff;
    assertThat(fault(broken)).isEqualTo(SafetensorsFault.HEADER_NOT_JSON);
  }

  @Test
  void tenThousandTensorsAreReadAndNamesThatDifferByCaseAreTwo() {
    StringBuilder json = new StringBuilder("{\"__metadata__\":{}");
    for (int i = 0; i < 10_000; i++) {
      String name = (i % 2 == 0 ? "Tensor" : "tensor") + i / 2;
      json.append(",\"").append(name).append("\":");
      json.append(tensor("U8", "[1]", "[" + i + "," + (i + 1) + "]"));
    }

    SafetensorsHeader header = SafetensorsHeader.parse(file(json + "}", 10_000));

    assertThat(header.tensors()).hasSize(10_000);
    assertThat(header.tensor("Tensor7").beginBytes()).isEqualTo(14);
    assertThat(header.tensor("tensor7").beginBytes()).isEqualTo(15);
  }

  @Test
  void messagesShowNamesWithoutControlCharacters() {
    BadSafetensorsException e =
        catchThrowableOfType(
            BadSafetensorsException.class,
            () ->
                SafetensorsHeader.parse(
                    file("{\"\\u001b[2J\\n\\u202e\":" + tensor("U8", "[4]", "[0,5]") + "}", 4)));
    assertThat(e.getMessage()).contains("'?[2J??'");
  }

  @Test
  void everyLengthButTheRightOneIsAFault() {
    byte[] right = file("{\"__metadata__\":{},\"a\":" + tensor("F32", "[2,2]", "[0,16]") + "}", 16);
    int data = right.length - 16;
    for (int length = 0; length < right.length; length++) {
      SafetensorsFault expected =
          length < 8
              ? SafetensorsFault.TRUNCATED
              : length < data
                  ? SafetensorsFault.HEADER_BEYOND_FILE
                  : SafetensorsFault.OFFSETS_BEYOND_FILE;
      assertThat(fault(Arrays.copyOf(right, length))).as("length " + length).isEqualTo(expected);
    }
    assertThat(fault(Arrays.copyOf(right, right.length + 1)))
        .isEqualTo(SafetensorsFault.TRAILING_BYTES);
  }

  @Test
  void whateverTheBytesAreTheFaultsAreTyped() {
    long seed = Long.getLong("seed", 11);
    Random random = new Random(seed);
    byte[] right =
        file(
            "{\"__metadata__\":{\"k\":\"v\"},\"a\":"
                + U8_4
                + ",\"b\":"
                + tensor("F32", "[2,2]", "[4,20]")
                + "}",
            20);
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = right.clone();
      for (int n = 1 + random.nextInt(3); n > 0; n--) {
        // Most of it in the header.
        bytes[random.nextInt(random.nextBoolean() ? 16 : bytes.length)] =
            (byte) random.nextInt(256);
      }
      try {
        SafetensorsHeader.parse(bytes);
      } catch (BadSafetensorsException e) {
        refused++;
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + seed + ", round " + i, e);
      }
    }
    assertThat(refused).isGreaterThan(1_000);
  }
}
