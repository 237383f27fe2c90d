package dev.waymark.internal.manifest;

import static dev.waymark.internal.manifest.ManifestFixture.NAME;
import static dev.waymark.internal.manifest.ManifestFixture.STORE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.manifest.ManifestFixture.Read;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.sim.SimulatedDirectory;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class ManifestReaderTest {
  private static final int TAG = (int) ManifestFixture.ID;

  private final RandomEdits random = new RandomEdits(1);

  @Test
  void whatWasWrittenIsReadInOrder() {
    try (ManifestFixture fixture =
        new ManifestFixture(new SimulatedDirectory(), random.list(100))) {
      fixture.force(random.list(50));
      fixture.flush(random.list(50));
      Read read = fixture.read();
      assertThat(read.edits()).isEqualTo(fixture.edits);
      assertThat(read.end().tail()).isEqualTo(ManifestEnd.Tail.CLEAN);
      assertThat(read.end().validLengthBytes()).isEqualTo(fixture.log.lengthBytes());
      assertThat(read.end().editCount()).isEqualTo(201);
      assertThat(read.end().header().storeId()).isEqualTo(STORE);
      assertThat(read.end().header().createdMillis()).isEqualTo(99);
    }
  }

  @Test
  void framesLongerThanTheWindowAreRead() {
    String mebibytes = "y".repeat(3 << 20);
    BoundaryKey key = new BoundaryKey(1, 2, 3, 4);
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.force(List.of(new Edit.NamespaceAdded(1, key, mebibytes, "", mebibytes)));
      for (int i = 0; i < 40; i++) {
        fixture.force(random.list(200));
      }
      assertThat(fixture.read().edits()).isEqualTo(fixture.edits);
    }
  }

  @Test
  void aLargeFlushIsManyBatches() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.force(random.list(20_000));
      assertThat(fixture.log.lengthBytes()).isGreaterThan(BatchMark.BATCH_BYTES);
      assertThat(fixture.read().edits()).isEqualTo(fixture.edits);
    }
  }

  /** No flipped bit gives an edit that was not written, or loses one that is proven durable. */
  @Test
  void everyFlippedBitIsATearOrDamage() {
    try (ManifestFixture fixture = new ManifestFixture(new SimulatedDirectory(), random.list(2))) {
      fixture.force(random.list(2));
      fixture.force(random.list(2));
      int provenEdits = fixture.edits.size() - 2;
      long provenBytes = fixture.log.lengthBytes();
      fixture.flush(random.list(1)); // its mark proves all before
      fixture.trim();
      provenEdits += 2;
      long length = fixture.bytes().length;
      try (StoreFile file = fixture.directory.openReadOnly(NAME)) {
        for (long bit = 0; bit < length * 8; bit++) {
          fixture.directory.flip(NAME, bit / 8, 1 << (bit % 8));
          try {
            List<Edit> edits = ManifestFixture.read(file, 0).edits();
            assertThat(edits).as("bit %d", bit).isEqualTo(prefix(fixture, edits.size()));
            assertThat(edits.size()).as("bit %d", bit).isGreaterThanOrEqualTo(provenEdits);
            assertThat(bit / 8).isGreaterThanOrEqualTo(provenBytes);
          } catch (CorruptionException e) {
            assertThat(bit / 8).as(e.getMessage()).isLessThan(provenBytes);
            assertThat(e.detail().file()).isEqualTo(NAME);
          }
          fixture.directory.flip(NAME, bit / 8, 1 << (bit % 8));
        }
      }
    }
  }

  @Test
  void afterACleanCloseEveryFlippedBitOfAnEditIsDamage() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.append(random.list(3));
      fixture.log.proveDurable();
      fixture.trim();
      long proven = fixture.log.lengthBytes() - BatchMark.FRAME_BYTES;
      try (StoreFile file = fixture.directory.openReadOnly(NAME)) {
        for (long at = 0; at < proven; at++) {
          fixture.directory.flip(NAME, at, 0x10);
          assertThatThrownBy(() -> ManifestFixture.read(file, 0))
              .isInstanceOf(CorruptionException.class);
          fixture.directory.flip(NAME, at, 0x10);
        }
        assertThat(ManifestFixture.read(file, 0).edits()).isEqualTo(fixture.edits);
      }
    }
  }

  @Test
  void everyTruncationIsATearOrDamage() {
    try (ManifestFixture fixture = new ManifestFixture(new SimulatedDirectory(), random.list(2))) {
      long checkpoint = fixture.log.lengthBytes();
      fixture.flush(random.list(2));
      fixture.flush(random.list(2));
      try (StoreFile file = fixture.directory.open(NAME)) {
        for (long length = fixture.log.lengthBytes(); length >= 0; length--) {
          file.setLength(length);
          if (length < checkpoint) {
            assertThatThrownBy(() -> ManifestFixture.read(file, 0))
                .isInstanceOf(CorruptionException.class);
          } else {
            Read read = ManifestFixture.read(file, 0);
            assertThat(read.edits()).isEqualTo(prefix(fixture, read.edits().size()));
            assertThat(read.end().validLengthBytes()).isBetween(checkpoint, length);
          }
        }
      }
    }
  }

  /** Whatever of the unforced pages a loss of power leaves, what was forced is there. */
  @Property(tries = 40)
  void noLossOfPowerIsTakenForDamageOrLosesWhatWasForced(@ForAll long seed) {
    Random choice = new Random(seed);
    RandomEdits source = new RandomEdits(seed);
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      int forced = fixture.edits.size();
      for (int step = 0; step < 12; step++) {
        fixture.append(source.list(choice.nextInt(60)));
        if (choice.nextInt(4) > 0) {
          fixture.log.flushBatch();
          if (choice.nextInt(3) == 0) {
            fixture.log.force();
            forced = fixture.edits.size();
          }
        }
        for (int i = 0; i < 4; i++) {
          Read read = ManifestFixture.read(fixture.directory.crashState(choice.nextLong()));
          assertThat(read.edits()).isEqualTo(prefix(fixture, read.edits().size()));
          assertThat(read.edits().size()).isGreaterThanOrEqualTo(forced);
        }
      }
    }
  }

  @Test
  void laterPagesMaySurviveAHoleInWhatWasNotForced() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.force(random.list(20));
      long end = fixture.log.lengthBytes();
      int count = fixture.edits.size();
      fixture.flush(random.list(80));
      fixture.flush(random.list(80));
      byte[] bytes = fixture.bytes();
      int hole = (int) (end + 4095) / 4096 * 4096;
      Arrays.fill(bytes, hole, hole + 4096, (byte) 0);
      Read read = ManifestFixture.read(ManifestFixture.directoryOf(bytes));
      assertThat(read.edits()).isEqualTo(prefix(fixture, count));
      assertThat(read.end().tail()).isEqualTo(ManifestEnd.Tail.TORN);
      assertThat(read.end().validLengthBytes()).isEqualTo(end);
      assertThat(end + read.end().tailBytes())
          .isBetween(fixture.log.lengthBytes() - 8, fixture.log.lengthBytes());
      assertThat(read.end().tailReason()).isNotEmpty();
    }
  }

  @Test
  void theSameHoleIsDamageWhereALaterMarkOrTheCallerProvesItDurable() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.force(random.list(20));
      long end = fixture.log.lengthBytes();
      fixture.flush(random.list(200));
      byte[] unproven = fixture.bytes();
      fixture.log.force();
      long durable = fixture.log.durableLengthBytes();
      fixture.flush(random.list(1));
      byte[] proven = fixture.bytes();
      int hole = (int) (end + 4095) / 4096 * 4096;
      Arrays.fill(unproven, hole, hole + 4096, (byte) 0);
      Arrays.fill(proven, hole, hole + 4096, (byte) 0);
      ManifestFixture.read(ManifestFixture.directoryOf(unproven), end);
      assertThatThrownBy(() -> ManifestFixture.read(ManifestFixture.directoryOf(unproven), durable))
          .isInstanceOf(CorruptionException.class);
      assertThatThrownBy(() -> ManifestFixture.read(ManifestFixture.directoryOf(proven)))
          .isInstanceOf(CorruptionException.class)
          .hasMessageContaining("durable");
    }
  }

  @Test
  void aBatchWithoutItsMarkDoesNotCount() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      int count = fixture.edits.size();
      fixture.flush(random.list(5));
      byte[] bytes = fixture.bytes();
      int mark = (int) fixture.log.lengthBytes() - BatchMark.FRAME_BYTES;
      Arrays.fill(bytes, mark, mark + BatchMark.FRAME_BYTES, (byte) 0);
      Read read = ManifestFixture.read(ManifestFixture.directoryOf(bytes));
      assertThat(read.edits()).hasSize(count);
      assertThat(read.end().tail()).isEqualTo(ManifestEnd.Tail.TORN);
    }
  }

  @Test
  void aMarkInsideATextIsNotTakenForOne() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      long end = fixture.log.lengthBytes();
      byte[] bytes = Arrays.copyOf(fixture.bytes(), (int) end + 512);
      UnsafeBuffer buffer = new UnsafeBuffer(bytes);
      buffer.putByte((int) end, (byte) 1);
      int at = (int) end + 80;
      new BatchMark(at + 8, at, 0).encode(buffer, at, TAG);
      assertThat(ManifestFixture.read(ManifestFixture.directoryOf(bytes)).end().tail())
          .isEqualTo(ManifestEnd.Tail.TORN);
      new BatchMark(at, at, 0).encode(buffer, at, TAG);
      assertThatThrownBy(() -> ManifestFixture.read(ManifestFixture.directoryOf(bytes)))
          .isInstanceOf(CorruptionException.class);
    }
  }

  @Test
  void validMarksThatDoNotFitAreDamage() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      int end = (int) fixture.log.lengthBytes();
      for (BatchMark mark :
          List.of(
              new BatchMark(end, 0, 1),
              new BatchMark(end, end + 48, 0),
              new BatchMark(end + 8, 0, 0))) {
        byte[] bytes = fixture.bytes();
        mark.encode(new UnsafeBuffer(bytes), end, TAG);
        assertThatThrownBy(() -> ManifestFixture.read(ManifestFixture.directoryOf(bytes)))
            .as("%s", mark)
            .isInstanceOf(CorruptionException.class);
      }
    }
  }

  @Test
  void unknownTemplatesAreSkippedOrRefusedByTheirNumber() {
    assertThat(withTemplate(0x8001).edits()).hasSize(1);
    assertThatThrownBy(() -> withTemplate(0x7001)).isInstanceOf(UnsupportedFormatException.class);
  }

  @Test
  void anotherStoresOrAnotherManifestsFileIsRefused() {
    try (ManifestFixture fixture = ManifestFixture.empty();
        StoreFile file = fixture.directory.openReadOnly(NAME)) {
      assertThatThrownBy(
              () -> ManifestReader.read(file, ManifestFixture.ID, new StoreId(0, 1), 0, e -> {}))
          .isInstanceOf(CorruptionException.class);
      for (long id : new long[] {8, ManifestFixture.ID + (1L << 32)}) {
        assertThatThrownBy(() -> ManifestReader.read(file, id, STORE, 0, e -> {}))
            .isInstanceOf(CorruptionException.class);
      }
      assertThat(ManifestReader.readHeader(file, ManifestFixture.ID).storeId()).isEqualTo(STORE);
    }
  }

  @Test
  void whatIsPublishedIsReadWhileMoreIsWritten() {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      fixture.force(random.list(5));
      long published = fixture.log.durableLengthBytes();
      int count = fixture.edits.size();
      fixture.flush(random.list(5));
      try (StoreFile file = fixture.directory.openReadOnly(NAME)) {
        List<Edit> edits = new ArrayList<>();
        ManifestEnd end =
            ManifestReader.readPrefix(file, ManifestFixture.ID, STORE, published, edits::add);
        assertThat(edits).isEqualTo(prefix(fixture, count));
        assertThat(end.validLengthBytes()).isEqualTo(published);
        assertThatThrownBy(
                () ->
                    ManifestReader.readPrefix(
                        file, ManifestFixture.ID, STORE, published + 8, e -> {}))
            .isInstanceOf(CorruptionException.class);
      }
    }
  }

  private static Read withTemplate(int templateId) {
    try (ManifestFixture fixture = ManifestFixture.empty()) {
      byte[] bytes = fixture.bytes();
      UnsafeBuffer buffer = new UnsafeBuffer(bytes);
      int at = (int) fixture.log.lengthBytes();
      Frame.putMessageHeader(buffer, at, 8, templateId);
      buffer.putLong(at + Frame.HEADER_BYTES, 5, ByteOrder.LITTLE_ENDIAN);
      Frame.seal(buffer, at, Frame.HEADER_BYTES + 8, TAG);
      new BatchMark(at + 32, at, 1).encode(buffer, at + 32, TAG);
      return ManifestFixture.read(ManifestFixture.directoryOf(bytes));
    }
  }

  private static List<Edit> prefix(ManifestFixture fixture, int size) {
    return fixture.edits.subList(0, size);
  }
}
