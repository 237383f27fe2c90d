package dev.waymark.tools.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.InvalidSettingException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceReaderTest {
  private static final String BAILIAN =
      "{\"chat_id\": 159, \"parent_chat_id\": -1, \"timestamp\": 61.114, \"input_length\": 521,"
          + " \"output_length\": 132, \"type\": \"text\", \"turn\": 1, \"hash_ids\": [7, 8, 9]}";
  private static final String MOONCAKE =
      "{\"timestamp\": 1500, \"input_length\": 9, \"output_length\": 1, \"hash_ids\": [4, 5]}";

  @TempDir Path folder;

  @Test
  void sessionsAndTheirSubAgentsInOrder() throws IOException {
    Path file =
        TraceFiles.write(
            folder,
            "t.jsonl",
            "{\"id\": \"one\", \"requests\": ["
                + "{\"t\": 0.5, \"type\": \"n\", \"in\": 3, \"hash_ids\": [1, 2, 3]},"
                + "{\"t\": 10, \"type\": \"subagent\", \"requests\": ["
                + "{\"t\": 0, \"hash_ids\": [9]},"
                + "{\"t\": 2, \"requests\": [{\"t\": 1, \"hash_ids\": []}]}]},"
                + "{\"t\": 11, \"type\": \"n\", \"hash_ids\": [1, 2, 3, 4]}], \"block_size\": 64}",
            "",
            "{\"id\": \"two\", \"block_size\": 64, \"requests\": ["
                + "{\"t\": 0, \"hash_ids\": [1]}]}");
    List<TraceRequest> requests = TraceFiles.readAll(file, OptionalInt.empty());
    assertThat(requests).extracting(TraceRequest::blocks).containsExactly(3, 1, 0, 4, 1);
    assertThat(requests)
        .extracting(TraceRequest::timeSeconds)
        .containsExactly(0.5, 10.0, 13.0, 11.0, 0.0);
    assertThat(requests)
        .extracting(TraceRequest::isSubAgent)
        .containsExactly(false, true, true, false, false);
    assertThat(requests)
        .extracting(TraceRequest::scope)
        .containsExactly("one", "one", "one", "one", "two");
    assertThat(requests).extracting(TraceRequest::lineNumber).containsExactly(1L, 1L, 1L, 1L, 3L);
    // The same id in another session, or behind another prefix, is another block.
    TraceKeys keys = new TraceKeys();
    assertThat(keys.keysOf(requests.get(0))).isEqualTo(keys.keysOf(requests.get(3)).subList(0, 3));
    assertThat(keys.keysOf(requests.get(4)).get(0))
        .isNotEqualTo(keys.keysOf(requests.get(0)).get(0));
  }

  @Test
  void mooncakeTimesAreMilliseconds() throws IOException {
    Path file = TraceFiles.write(folder, "t.jsonl", MOONCAKE);
    try (TraceReader reader = TraceReader.open(file, OptionalInt.empty())) {
      assertThat(reader.kind()).isEqualTo(TraceKind.MOONCAKE);
      assertThat(reader.traceBlockTokens()).isEqualTo(512);
      TraceRequest request = reader.next();
      assertThat(request.timeSeconds()).isEqualTo(1.5);
      assertThat(request.scope()).isEmpty();
      assertThat(request.hashIds()).containsExactly(4, 5);
      assertThat(reader.next()).isNull();
      assertThat(reader.next()).isNull();
    }
  }

  @Test
  void bailianTimesAreSecondsAndBlocksHave16Tokens() throws IOException {
    Path file = TraceFiles.write(folder, "t.jsonl", BAILIAN);
    try (TraceReader reader = TraceReader.open(file, OptionalInt.empty())) {
      assertThat(reader.kind()).isEqualTo(TraceKind.BAILIAN);
      assertThat(reader.blockTokens()).isEqualTo(16);
      TraceRequest request = reader.next();
      assertThat(request.timeSeconds()).isEqualTo(61.114);
      assertThat(request.hashIds()).containsExactly(7, 8, 9);
    }
  }

  @Test
  void gzipIsToldByItsBytes() throws IOException {
    Path file = folder.resolve("misnamed.jsonl");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      out.write((MOONCAKE + "\n" + MOONCAKE).getBytes(StandardCharsets.UTF_8));
    }
    assertThat(TraceFiles.readAll(file, OptionalInt.empty())).hasSize(2);
    byte[] bytes = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(bytes, bytes.length - 12));
    assertThatThrownBy(() -> TraceFiles.readAll(file, OptionalInt.empty()))
        .isInstanceOf(BadTraceException.class);
    Files.write(file, Arrays.copyOf(bytes, 5));
    assertThatThrownBy(() -> TraceFiles.readAll(file, OptionalInt.empty()))
        .isInstanceOf(BadTraceException.class);
  }

  @Test
  void groupsBlocksAndDropsWhatIsNotWhole() throws IOException {
    Path file =
        TraceFiles.write(
            folder,
            "t.jsonl",
            "{\"timestamp\": 0, \"hash_ids\": [1, 2, 3, 4, 5]}",
            "{\"timestamp\": 0, \"hash_ids\": [1]}",
            "{\"timestamp\": 0, \"hash_ids\": [1, 2, 3, 5]}");
    List<TraceRequest> requests = TraceFiles.readAll(file, OptionalInt.of(1_024));
    assertThat(requests).extracting(TraceRequest::blocks).containsExactly(2, 0, 2);
    assertThat(requests.get(0).hashIds()).containsExactly(1, 2, 3, 4);
    TraceKeys keys = new TraceKeys();
    assertThat(keys.keysOf(requests.get(0)).get(0)).isEqualTo(keys.keysOf(requests.get(2)).get(0));
    assertThat(keys.keysOf(requests.get(0)).get(1))
        .isNotEqualTo(keys.keysOf(requests.get(2)).get(1));
    for (int refused : new int[] {1, 256, 768, 1_025}) {
      assertThatThrownBy(() -> TraceReader.open(file, OptionalInt.of(refused)))
          .isInstanceOf(InvalidSettingException.class)
          .hasMessageContaining("a multiple of 512");
    }
  }

  @Test
  void idsOfAnySizeCount() throws IOException {
    Path file =
        TraceFiles.write(
            folder,
            "t.jsonl",
            "{\"timestamp\": 0, \"hash_ids\": [4294967297]}",
            "{\"timestamp\": 0, \"hash_ids\": [1]}",
            "{\"timestamp\": 0, \"hash_ids\": [-9223372036854775808]}");
    DistinctBlocks distinct = new DistinctBlocks();
    TraceKeys keys = new TraceKeys();
    for (TraceRequest request : TraceFiles.readAll(file, OptionalInt.empty())) {
      distinct.addAll(keys.keysOf(request));
    }
    assertThat(distinct.count()).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SECRET",
        "\"SECRET\"",
        "[1, 2]",
        "17",
        "{\"SECRET\": 1}",
        "{\"timestamp\": 1, \"hash_ids\": [1, \"SECRET\"]}",
        "{\"timestamp\": 1, \"hash_ids\": [1, 2.5]}",
        "{\"timestamp\": 1, \"hash_ids\": [1, 9223372036854775808]}",
        "{\"timestamp\": 1, \"hash_ids\": \"SECRET\"}",
        "{\"timestamp\": 1, \"hash_ids\": null}",
        "{\"timestamp\": \"SECRET\", \"hash_ids\": [1]}",
        "{\"timestamp\": 1, \"hash_ids\": [1]",
        "{\"timestamp\": 1, \"hash_ids\": [1, ",
        "{\"timestamp\": 1, \"hash_ids\": [1]}}",
        "{\"timestamp\": 1, \"timestamp\": 2, \"hash_ids\": [1]}",
        "{\"hash_ids\": [1]}",
        "{\"timestamp\": 1}",
        "{\"chat_id\": 1, \"timestamp\": 1, \"hash_ids\": [1]}",
        "{\"block_size\": 64, \"requests\": []}",
        "{\"block_size\": 0, \"requests\": []}",
        "{\"block_size\": 64, \"requests\": 7}",
        "{\"block_size\": 64, \"requests\": [7]}",
        "{\"block_size\": 64, \"requests\": [{\"t\": 1}]}",
        "{\"timestamp\": 1, \"SECRET\": \"\\u12\", \"hash_ids\": [1]}",
      })
  void badLinesAreNamedAndNotQuoted(String line) throws IOException {
    Path file = TraceFiles.write(folder, "t.jsonl", MOONCAKE, MOONCAKE, line, MOONCAKE);
    assertThatThrownBy(() -> TraceFiles.readAll(file, OptionalInt.empty()))
        .isInstanceOfSatisfying(
            BadTraceException.class,
            e -> assertThat(e.lineNumber()).as(line).isBetween(3L, line.endsWith("}}") ? 4L : 3L))
        .hasMessageNotContaining("SECRET")
        .hasMessageNotContaining("17")
        .hasNoCause();
  }

  @Test
  void badBytesAreNotQuoted() throws IOException {
    Path file = folder.resolve("t.jsonl");
    Files.write(file, new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}'});
    assertThatThrownBy(() -> TraceReader.open(file, OptionalInt.empty()))
        .isInstanceOf(BadTraceException.class)
        .hasNoCause();
  }

  @Test
  void anEmptyTraceAndAMissingOneAreRefused() throws IOException {
    Path file = TraceFiles.write(folder, "t.jsonl", "");
    assertThatThrownBy(() -> TraceReader.open(file, OptionalInt.empty()))
        .isInstanceOf(BadTraceException.class);
    assertThatThrownBy(() -> TraceReader.open(folder.resolve("none"), OptionalInt.empty()))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void sessionsOfAnotherBlockSizeAreRefused() throws IOException {
    Path file =
        TraceFiles.write(
            folder,
            "t.jsonl",
            "{\"block_size\": 64, \"requests\": []}",
            "{\"block_size\": 32, \"requests\": []}");
    assertThatThrownBy(() -> TraceFiles.readAll(file, OptionalInt.empty()))
        .isInstanceOfSatisfying(
            BadTraceException.class, e -> assertThat(e.lineNumber()).isEqualTo(2));
  }
}
