package dev.waymark.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.StoreIoException;
import dev.waymark.error.WaymarkException;
import java.nio.file.AccessDeniedException;
import org.junit.jupiter.api.Test;

class IoFailuresTest {
  @Test
  void aMissingRightIsSaidInWordsHoweverTheSystemReportsIt() {
    ErrorDetail detail = ErrorDetail.of("Opening failed").in("append-1.seg");

    for (WaymarkException failure :
        new WaymarkException[] {
          IoFailures.of(new AccessDeniedException("/store/append-1.seg"), detail),
          IoFailures.of(Libc.EACCES, detail),
          IoFailures.of(Libc.EPERM, detail)
        }) {
      assertThat(failure).isInstanceOf(StoreIoException.class);
      assertThat(failure.detail().file()).isEqualTo("append-1.seg");
      assertThat(failure.detail().found()).isEqualTo("permission denied");
      assertThat(failure.detail().remedy()).contains("run as the user that owns the store");
      assertThat(failure.getMessage()).doesNotContain("AccessDenied", "device");
    }
  }
}
