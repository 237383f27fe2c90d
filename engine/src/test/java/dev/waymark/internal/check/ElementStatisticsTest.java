package dev.waymark.internal.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.DType;
import java.util.HexFormat;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class ElementStatisticsTest {
  @Test
  void everyTypeIsReadAsWhatItIs() {
    requireRange(DType.BOOL, "0001", 0, 1);
    requireRange(DType.U8, "01ff", 1, 255);
    requireRange(DType.I8, "7fff", -1, 127);
    requireRange(DType.I16, "0080ff7f", -32_768, 32_767);
    requireRange(DType.U16, "0080ffff", 32_768, 65_535);
    requireRange(DType.I32, "00000080ffffff7f", Integer.MIN_VALUE, Integer.MAX_VALUE);
    requireRange(DType.U32, "01000000ffffffff", 1, 4_294_967_295.0);
    requireRange(DType.I64, "0000000000000080ffffffffffffffff", Long.MIN_VALUE, -1);
    requireRange(DType.U64, "0000000000000080ffffffffffffffff", 0x1p63, 0x1p64);
    requireRange(DType.F32, "0000803f000080bf", -1, 1);
    requireRange(DType.F64, "000000000000f03f000000000000f0bf", -1, 1);
    requireRange(DType.BF16, "803f80bf", -1, 1);
    // Least subnormal, greatest number.
    requireRange(DType.F16, "0100ff7b", 0x1p-24, 65_504);
    requireRange(DType.F8_E5M2, "01fb", -57_344, 0x1p-16);
    requireRange(DType.F8_E4M3, "01fe", -448, 0x1p-9);
  }

  @Test
  void whatIsNotFiniteIsCountedAndLeftOut() {
    requireNotFinite(DType.F32, "0000807f0000c0ff0000803f");
    requireNotFinite(DType.BF16, "807fc0ff803f");
    requireNotFinite(DType.F16, "007c00fe003c");
    requireNotFinite(DType.F8_E5M2, "7cfe3c");
    // That one has no infinity, but a NaN of either sign.
    requireNotFinite(DType.F8_E4M3, "7fff38");
  }

  @Test
  void piecesAddUp() {
    ElementStatistics statistics = new ElementStatistics(DType.U8);
    add(statistics, "0002");
    add(statistics, "0406");

    assertThat(statistics.elements()).isEqualTo(4);
    assertThat(statistics.zeros()).isEqualTo(1);
    assertThat(statistics.mean()).isEqualTo(3);
    assertThat(statistics.deviation()).isEqualTo(Math.sqrt(5));
    assertThat(new ElementStatistics(DType.F32).least()).isZero();
  }

  private static void requireRange(DType dtype, String hex, double least, double most) {
    ElementStatistics statistics = new ElementStatistics(dtype);
    add(statistics, hex);

    assertThat(statistics.elements()).as("%s", dtype).isEqualTo(2);
    assertThat(statistics.notFinite()).as("%s", dtype).isZero();
    assertThat(statistics.least()).as("%s", dtype).isEqualTo(least);
    assertThat(statistics.most()).as("%s", dtype).isEqualTo(most);
  }

  private static void requireNotFinite(DType dtype, String hex) {
    ElementStatistics statistics = new ElementStatistics(dtype);
    add(statistics, hex);

    assertThat(statistics.elements()).as("%s", dtype).isEqualTo(3);
    assertThat(statistics.notFinite()).as("%s", dtype).isEqualTo(2);
    assertThat(statistics.mean()).as("%s", dtype).isEqualTo(1);
    assertThat(statistics.deviation()).as("%s", dtype).isZero();
  }

  private static void add(ElementStatistics statistics, String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    statistics.add(new UnsafeBuffer(bytes), 0, bytes.length);
  }
}
