package dev.waymark.internal.manifest;

import static dev.waymark.internal.manifest.ManifestFixture.STORE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.FormatVersions;
import dev.waymark.sim.SimulatedDirectory;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** CURRENT and STATUS. */
class SingleFilesTest {
  private static final Current CURRENT = new Current(STORE, 7, FormatVersions.OWN);
  private static final Status STATUS = new Status(STORE, 7, 4096, 12, 34, "{\"a\":1}");

  private final SimulatedDirectory directory = new SimulatedDirectory();

  @Test
  void currentIsReadAsWrittenAndReplaced() {
    assertThatThrownBy(() -> CurrentFile.read(directory)).isInstanceOf(NotAStoreException.class);
    CurrentFile.write(directory, CURRENT);
    assertThat(CurrentFile.read(directory, STORE)).isEqualTo(CURRENT);
    directory.create(CurrentFile.TEMPORARY_NAME).close();
    CurrentFile.write(directory, new Current(STORE, 8, FormatVersions.OWN));
    assertThat(CurrentFile.read(directory).manifestId()).isEqualTo(8);
    assertThat(directory.list()).containsExactly(CurrentFile.NAME);
    assertThatThrownBy(() -> CurrentFile.read(directory, new StoreId(1, 1)))
        .isInstanceOf(CorruptionException.class);
  }

  @Test
  void everyFlippedBitAndEveryTruncationOfCurrentIsDamage() {
    CurrentFile.write(directory, CURRENT);
    int length = directory.bytes(CurrentFile.NAME).length;
    for (int bit = 0; bit < length * 8; bit++) {
      directory.flip(CurrentFile.NAME, bit / 8, 1 << (bit % 8));
      assertThatThrownBy(() -> CurrentFile.read(directory)).isInstanceOf(CorruptionException.class);
      directory.flip(CurrentFile.NAME, bit / 8, 1 << (bit % 8));
    }
    try (StoreFile file = directory.open(CurrentFile.NAME)) {
      file.setLength(length + 1);
      assertThatThrownBy(() -> CurrentFile.read(directory)).isInstanceOf(CorruptionException.class);
      while (--length >= 0) {
        file.setLength(length);
        assertThatThrownBy(() -> CurrentFile.read(directory))
            .isInstanceOf(CorruptionException.class);
      }
    }
  }

  @Test
  void newerVersionsAreRefusedOrReadOnly() {
    CurrentFile.write(directory, new Current(STORE, 7, new FormatVersions(1, 2)));
    assertThat(CurrentFile.read(directory).versions().isReadOnly()).isTrue();
    CurrentFile.write(directory, new Current(STORE, 7, new FormatVersions(2, 2)));
    assertThatThrownBy(() -> CurrentFile.read(directory))
        .isInstanceOf(UnsupportedFormatException.class);
  }

  @Test
  void aStatusThatWasRemovedOrCutIsThereAgainWithTheNextOne() {
    try (StatusFile status = StatusFile.open(directory)) {
      status.publish(STATUS);
      directory.delete(StatusFile.NAME);
      assertThat(StatusFile.read(directory, STORE)).isEmpty();
      status.publish(STATUS);
      assertThat(StatusFile.read(directory, STORE)).contains(STATUS);
      try (StoreFile file = directory.open(StatusFile.NAME)) {
        file.setLength(100);
      }
      assertThat(StatusFile.read(directory, STORE)).isEmpty();
      status.publish(STATUS);
      assertThat(StatusFile.read(directory, STORE)).contains(STATUS);
    }
    assertThat(directory.bytes(StatusFile.NAME)).hasSize(StatusFile.LENGTH_BYTES);
  }

  @Test
  void statusIsReadAsPublished() {
    assertThat(StatusFile.read(directory, STORE)).isEmpty();
    try (StatusFile status = StatusFile.open(directory)) {
      assertThat(StatusFile.read(directory, STORE)).isEmpty();
      status.publish(new Status(STORE, 7, 1, 2, 3, "x".repeat(3000)));
      status.publish(STATUS);
      assertThat(StatusFile.read(directory, STORE)).contains(STATUS);
      assertThat(StatusFile.read(directory, new StoreId(0, 0))).isEmpty();
    }
    assertThat(directory.bytes(StatusFile.NAME)).hasSize(StatusFile.LENGTH_BYTES);
    try (StatusFile status = StatusFile.open(directory)) {
      assertThat(StatusFile.read(directory, STORE)).contains(STATUS);
      status.publish(STATUS);
    }
  }

  @Test
  void countersThatDoNotFitAreRefused() {
    try (StatusFile status = StatusFile.open(directory)) {
      status.publish(STATUS);
      int fits = 4096 - 24 - 48 - 4;
      status.publish(new Status(STORE, 7, 1, 2, 3, "x".repeat(fits)));
      assertThat(StatusFile.read(directory, STORE).orElseThrow().counters()).hasSize(fits);
      assertThatThrownBy(() -> status.publish(new Status(STORE, 7, 1, 2, 3, "x".repeat(fits + 1))))
          .isInstanceOf(InvalidArgumentException.class);
    }
  }

  @Test
  void noFlippedBitOfStatusIsBelieved() {
    try (StatusFile status = StatusFile.open(directory)) {
      status.publish(STATUS);
    }
    for (int bit = 0; bit < 4096 * 8; bit += bit < 1024 ? 1 : 101) {
      directory.flip(StatusFile.NAME, bit / 8, 1 << (bit % 8));
      assertThat(StatusFile.read(directory, STORE)).isEmpty();
      directory.flip(StatusFile.NAME, bit / 8, 1 << (bit % 8));
    }
  }

  @Test
  void aStatusOfAnotherLengthIsNoStatus() {
    try (StoreFile file = directory.create(StatusFile.NAME)) {
      file.write(0, new UnsafeBuffer(new byte[100]), 0, 100);
    }
    assertThat(StatusFile.read(directory, STORE)).isEmpty();
    try (StatusFile status = StatusFile.open(directory)) {
      status.publish(STATUS);
    }
    assertThat(StatusFile.read(directory, STORE)).contains(STATUS);
  }
}
