package dev.waymark.tools.dump;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.tools.Run;
import dev.waymark.tools.ToyStore;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DumpCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path dir;
  private Path path;
  private JsonNode record;

  @BeforeEach
  void fill() throws IOException {
    path = ToyStore.make(dir.resolve("store"), 1);
    JsonNode records =
        JSON.readTree(Run.of("inspect", path, "--segment", "1", "--json").out()).path("records");
    record = records.path(0);
  }

  @Test
  void everyFieldIsWhatStandsAtItsPlace() throws IOException {
    JsonNode dump = dump(place());

    assertThat(dump.path("message").asText()).isEqualTo("Record");
    assertThat(dump.path("lives").asBoolean()).isTrue();
    assertThat(dump.path("length_bytes").asLong()).isEqualTo(record.path("length_bytes").asLong());
    try (RandomAccessFile file = new RandomAccessFile(file().toFile(), "r")) {
      long end = record.path("offset_bytes").asLong();
      for (JsonNode field : dump.path("fields")) {
        // No gaps: what is not shown would be a field that nobody looks at.
        assertThat(field.path("offset_bytes").asLong()).isEqualTo(end);
        int length = field.path("length_bytes").asInt();
        end += length;
        byte[] bytes = new byte[length];
        file.seek(field.path("offset_bytes").asLong());
        file.readFully(bytes);
        String value = field.path("value").asText();
        if (length == 32) {
          assertThat(value).isEqualTo(HexFormat.of().formatHex(bytes).substring(0, 8) + "...");
        } else if (!value.startsWith("0x")) {
          assertThat(Long.parseLong(value.replaceFirst(" .*", ""))).isEqualTo(number(bytes));
        }
      }
    }
  }

  @Test
  void elementsAreCountedAndNotShown() throws IOException {
    JsonNode part = dump(place()).path("parts").path(0);
    long offset = part.path("offset_bytes").asLong();
    int length = part.path("raw_bytes").asInt();

    assertThat(part.path("dtype").asText()).isEqualTo("BF16");
    byte[] bytes = new byte[length];
    try (RandomAccessFile file = new RandomAccessFile(file().toFile(), "r")) {
      file.seek(offset);
      file.readFully(bytes);
    }
    double least = Double.MAX_VALUE;
    double sum = 0;
    for (int i = 0; i < length; i += 2) {
      float value = Float.intBitsToFloat((bytes[i] & 0xFF | bytes[i + 1] << 8) << 16);
      least = Math.min(least, value);
      sum += value;
    }
    JsonNode statistics = part.path("statistics");
    assertThat(statistics.path("elements").asLong()).isEqualTo(length / 2);
    assertThat(statistics.path("least").asDouble()).isEqualTo(least);
    assertThat(statistics.path("mean").asDouble()).isEqualTo(sum / (length / 2));
    assertThat(part.path("head").asText()).isEqualTo(HexFormat.of().formatHex(bytes, 0, 32));
  }

  @Test
  void aRecordIsNamedByItsBoundaryToo() throws IOException {
    String key = record.path("key").asText();

    assertThat(dump(key + ":append")).isEqualTo(dump(place()));
    assertThat(Run.of("dump", path, key + ":delta:7").exitCode()).isEqualTo(1);
    assertThat(Run.of("dump", path, "0000000f").exitCode()).isEqualTo(1);
    assertThat(Run.of("dump", path, "nonsense").exitCode()).isEqualTo(2);
  }

  @Test
  void wholeKeysAreShownWhereTheyAreAskedFor() {
    String key = record.path("key").asText();

    assertThat(Run.of("dump", path, place()).out()).contains(key + "...");
    assertThat(Run.of("dump", path, place(), "--whole-keys").out())
        .containsPattern(key + "[0-9a-f]{56}");
  }

  @Test
  void whatIsDamagedIsSaidWhereItIs() throws IOException {
    JsonNode part = dump(place()).path("parts").path(1);
    flip(part.path("offset_bytes").asLong());

    Run run = Run.of("dump", path, place());

    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.out()).contains(part.path("tensor").asText(), "DAMAGED", "checksum");
  }

  @Test
  void aDamagedHeaderIsShownAsItIs() {
    flip(record.path("offset_bytes").asLong() + 30);

    Run run = Run.of("dump", path, place());

    assertThat(run.exitCode()).isEqualTo(3);
    assertThat(run.out()).contains("DAMAGED", "sequence", "lengthBytes");
  }

  @Test
  void whereNothingStartsItSaysSo() {
    Run run = Run.of("dump", path, "1:" + (record.path("offset_bytes").asLong() + 64));

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("no whole record starts at byte", "inspect");
    assertThat(Run.of("dump", path, "99:0").err()).contains("no segment 99");
  }

  private JsonNode dump(String name) throws IOException {
    Run run = Run.of("dump", path, name, "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    return JSON.readTree(run.out()).path("records").path(0);
  }

  private String place() {
    return record.path("segment").asText() + ":" + record.path("offset_bytes").asText();
  }

  private Path file() {
    return path.resolve(record.path("file").asText());
  }

  private void flip(long offset) {
    try (RandomAccessFile file = new RandomAccessFile(file().toFile(), "rw")) {
      file.seek(offset);
      int before = file.read();
      file.seek(offset);
      file.write(before ^ 1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long number(byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
    buffer.put(bytes.length > 8 ? new byte[8] : bytes);
    return buffer.getLong(0);
  }
}
