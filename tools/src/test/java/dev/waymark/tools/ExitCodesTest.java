package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.ErrorCode;
import org.junit.jupiter.api.Test;

class ExitCodesTest {
  @Test
  void tellsApartWhatScriptsAskFor() {
    assertThat(ExitCodes.of(ErrorCode.NOT_A_STORE)).isEqualTo(1);
    assertThat(ExitCodes.of(ErrorCode.MOVING)).isEqualTo(1);
    assertThat(ExitCodes.of(ErrorCode.INVALID_SETTING)).isEqualTo(2);
    assertThat(ExitCodes.of(ErrorCode.CORRUPTION)).isEqualTo(3);
    assertThat(ExitCodes.of(ErrorCode.STORE_LOCKED)).isEqualTo(5);
    assertThat(ExitCodes.of(ErrorCode.UNSUPPORTED_FORMAT)).isEqualTo(6);
  }

  @Test
  void noFailureIsFine() {
    for (ErrorCode code : ErrorCode.values()) {
      assertThat(ExitCodes.of(code)).as("%s", code).isBetween(1, 6);
    }
  }

  @Test
  void wrongUsageIsTwo() {
    assertThat(Run.of().exitCode()).isEqualTo(2);
    assertThat(Run.of("nonsense").exitCode()).isEqualTo(2);
    assertThat(Run.of("inspect").exitCode()).isEqualTo(2);
  }

  @Test
  void helpAndVersionAreFine() {
    assertThat(Run.of("--version").exitCode()).isZero();
    assertThat(Run.of("--version").out()).startsWith("segtool ");
    assertThat(Run.of("--help").out()).contains("demo", "inspect", "Exit codes:", "a torn tail");
    assertThat(Run.of("inspect", "--help").exitCode()).isZero();
  }
}
