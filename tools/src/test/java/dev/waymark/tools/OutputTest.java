package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.PrintWriter;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class OutputTest {
  @Test
  void bytesAreReadable() {
    assertThat(Output.bytes(0)).isEqualTo("0 B");
    assertThat(Output.bytes(1_023)).isEqualTo("1023 B");
    assertThat(Output.bytes(-4_096)).isEqualTo("-4.0 KiB");
    assertThat(Output.bytes((1 << 20) - 1)).isEqualTo("1.0 MiB");
    assertThat(Output.bytes(Long.MAX_VALUE)).isEqualTo("8.0 EiB");
  }

  @Test
  void countsAreGrouped() {
    for (long value : new long[] {0, 9, 999, 1_000, 999_999, 1_000_000, Long.MAX_VALUE}) {
      assertThat(Output.count(value)).isEqualTo(String.format(Locale.ROOT, "%,d", value));
      assertThat(Output.count(-value)).isEqualTo(String.format(Locale.ROOT, "%,d", -value));
    }
    assertThat(Output.count(Long.MIN_VALUE)).isEqualTo("-9,223,372,036,854,775,808");
  }

  @Test
  void stopsSoonAfterItsReaderWentAway() {
    Output out = new Output(new PrintWriter(new GoneReader()));

    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 10_000; i++) {
                out.line("line %d", i);
              }
            })
        .isInstanceOf(Output.ReaderGone.class);
  }
}
