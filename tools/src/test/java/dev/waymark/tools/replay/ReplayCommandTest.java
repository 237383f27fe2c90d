package dev.waymark.tools.replay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import dev.waymark.tools.JavaProcess;
import dev.waymark.tools.Main;
import dev.waymark.tools.Segtool;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ReplayCommandTest {
  /** Bytes a block of 64 tokens of L4, made 1,024 times smaller: rows, and as many window rows. */
  private static final long L4_ROWS = 64 * 160;

  private static final long L4_WINDOW = 64 * 800;

  private static final String SESSIONS =
      """
      {"id": "one", "block_size": 64, "requests": [\
      {"t": 0, "type": "n", "hash_ids": [1, 2, 3]},\
      {"t": 1, "type": "n", "hash_ids": [1, 2, 3, 4, 5]},\
      {"t": 2, "type": "subagent", "requests": [\
      {"t": 0, "hash_ids": [9, 2, 3]}, {"t": 1, "hash_ids": [9, 2, 3]}]},\
      {"t": 3, "type": "n", "hash_ids": []},\
      {"t": 4, "type": "n", "hash_ids": [1, 2, 7]}]}
      {"id": "two", "block_size": 64, "requests": [{"t": 0, "hash_ids": [1, 2]}]}
      """;

  @TempDir Path folder;
  private Path temporaryRoot;

  @BeforeEach
  void makeTemporaryRoot() throws IOException {
    temporaryRoot = Files.createDirectory(folder.resolve("temporary"));
  }

  /** What a run left: its exit code and what it printed. */
  private record Run(int exitCode, String out, String err) {
    JsonNode json() throws IOException {
      return new ObjectMapper().readTree(out);
    }

    long number(String field) throws IOException {
      JsonNode value = json().get(field);
      assertThat(value.isIntegralNumber()).as(field).isTrue();
      return value.longValue();
    }
  }

  private Run run(String... args) {
    return run(new Replayer.Watcher() {}, args);
  }

  private Run run(Replayer.Watcher watcher, String... args) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        Segtool.prepare(new CommandLine(new ReplayCommand(temporaryRoot, watcher)))
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(args);
    try (Stream<Path> left = Files.list(temporaryRoot)) {
      assertThat(left).as("temporary stores left behind").isEmpty();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return new Run(exitCode, out.toString(), err.toString());
  }

  private String file(String name, String text) throws IOException {
    return Files.writeString(folder.resolve(name), text).toString();
  }

  @Test
  void sessionsWithAPointAtEveryBoundary() throws IOException {
    Run run = run(file("t.jsonl", SESSIONS), "--layout=L4", "--policy=every", "--json");
    assertThat(run.err()).contains("120 tensors in blocks of 64 tokens").doesNotContain("wrong");
    assertThat(run.exitCode()).isZero();
    assertThat(run.number("output_version")).isEqualTo(1);
    assertThat(run.number("requests")).isEqualTo(7);
    assertThat(run.number("blocks_total")).isEqualTo(3 + 5 + 3 + 3 + 3 + 2);
    assertThat(run.number("blocks_unique")).isEqualTo(5 + 3 + 1 + 2);
    assertThat(run.number("blocks_hit")).isEqualTo(3 + 3 + 2);
    // One block less where the whole request is stored: a token's logits are needed.
    assertThat(run.number("blocks_restored")).isEqualTo(3 + 2 + 2);
    assertThat(run.number("restore_points")).isEqualTo(11);
    assertThat(run.number("restores")).isEqualTo(3);
    assertThat(run.number("restores_verified")).isEqualTo(3);
    assertThat(run.number("mismatches")).isZero();
    assertThat(run.number("appended_bytes")).isEqualTo(11 * (L4_ROWS + L4_WINDOW));
    assertThat(run.number("written_bytes"))
        .isBetween(11 * (L4_ROWS + L4_WINDOW), 15 * (L4_ROWS + L4_WINDOW));
    assertThat(run.number("allocated_bytes")).isGreaterThan(run.number("written_bytes") / 4_096);
    // A bundle of n blocks has n of rows and n of the window, which no request here outgrows.
    long perRequest = 3 + 5 + 3 + 3 + 3 + 2;
    long perBoundary = 6 + 15 + 6 + 6 + 6 + 3;
    assertThat(run.number("bundle_bytes_per_request"))
        .isEqualTo(perRequest * (L4_ROWS + L4_WINDOW));
    assertThat(run.number("bundle_bytes")).isEqualTo(perBoundary * (L4_ROWS + L4_WINDOW));
    assertThat(run.json().get("seconds").isNumber()).isTrue();
    assertThat(run.json().get("seconds").doubleValue()).isBetween(0.0, 60.0);
  }

  @Test
  void mooncakeWithOnlyTheLastPoint() throws IOException {
    String trace =
        file(
            "t.jsonl",
            """
            {"timestamp": 0, "input_length": 9, "output_length": 1, "hash_ids": [0, 1, 2, 3]}
            {"timestamp": 5, "input_length": 9, "output_length": 1, "hash_ids": [0, 1, 2, 3, 4]}
            {"timestamp": 6, "input_length": 9, "output_length": 1, "hash_ids": [0, 8, 9]}
            {"timestamp": 7, "input_length": 9, "output_length": 1, "hash_ids": [0, 8, 7]}
            """);
    Run run = run(trace, "--layout=L3", "--policy=last", "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.number("requests")).isEqualTo(4);
    assertThat(run.number("blocks_total")).isEqualTo(15);
    assertThat(run.number("blocks_unique")).isEqualTo(8);
    assertThat(run.number("blocks_hit")).isEqualTo(4 + 1 + 2);
    // The first leaves a point at 3, the second one at 4 instead; the third finds none below its
    // branch and adds points at the branch and at 2; the fourth restores there.
    assertThat(run.number("blocks_restored")).isEqualTo(3 + 2);
    assertThat(run.number("restores")).isEqualTo(2);
    assertThat(run.number("restores_verified")).isEqualTo(2);
    assertThat(run.number("mismatches")).isZero();
    // At 4, at the branch behind block 0, and at 2 behind it.
    assertThat(run.number("restore_points")).isEqualTo(3);
    long fixed = 62_880;
    assertThat(run.number("appended_bytes")).isEqualTo(8 * 512 * 20 + 4 * fixed);
    assertThat(run.number("bundle_bytes_per_request")).isEqualTo(15 * 512 * 20 + 4 * fixed);
    assertThat(run.number("bundle_bytes")).isEqualTo((10 + 15 + 6 + 6) * 512 * 20 + 15 * fixed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"every", "stride:3", "lattice", "lattice:1000", "last"})
  void bailianWithSinksPoolsAndCarries(String policy) throws IOException {
    Layout layout =
        Layout.of(
            16,
            TensorSpec.rows("keys", DType.BF16, 1, 2, -1, 6),
            TensorSpec.rows("pooled", DType.BF16, 4, -1, 10),
            TensorSpec.rows("pooled_far", DType.F32, 24, 3, -1, 1),
            TensorSpec.window("near", DType.BF16, 20, 5, 3, -1, 4),
            TensorSpec.window("far", DType.F32, 70, 0, -1, 3),
            TensorSpec.window("sinks_beyond_a_block", DType.BF16, 24, 40, 2, -1, 2),
            TensorSpec.fixed("carry", DType.F32, 7),
            TensorSpec.fixed("nothing", DType.F32, 0, 3));
    String trace = file("t.jsonl", bailian(60, 11));
    PrefixCounter expected = count(Path.of(trace), 16);
    Run run =
        run(
            trace,
            "--layout=" + file("layout.json", layout.toJson()),
            "--scale=1",
            "--policy=" + policy,
            "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.number("requests")).isEqualTo(60);
    assertThat(run.number("blocks_total")).isEqualTo(expected.blocks);
    assertThat(run.number("blocks_unique")).isEqualTo(expected.unique);
    assertThat(run.number("blocks_hit")).isEqualTo(expected.hits);
    assertThat(run.number("blocks_restored")).isBetween(expected.hits / 4, expected.hits);
    assertThat(run.number("restores")).isGreaterThan(20);
    assertThat(run.number("restores_verified")).isEqualTo(run.number("restores"));
    assertThat(run.number("mismatches")).isZero();
    assertThat(run.number("restore_points")).isBetween(1L, expected.unique);
    assertThat(run.json().get("bundle_bytes").bigIntegerValue())
        .isGreaterThan(BigInteger.valueOf(run.number("bundle_bytes_per_request")));
  }

  /** Chats of several turns, which share some system prompts. */
  private static String bailian(int requests, long seed) {
    Random random = new Random(seed);
    StringBuilder lines = new StringBuilder();
    List<List<Integer>> chats = new ArrayList<>();
    int nextId = 100;
    for (int i = 0; i < requests; i++) {
      List<Integer> ids;
      int parent = -1;
      if (!chats.isEmpty() && random.nextInt(3) > 0) {
        parent = random.nextInt(chats.size());
        ids = new ArrayList<>(chats.get(parent));
      } else {
        int system = random.nextInt(3);
        ids = new ArrayList<>(List.of(system, 10 + system));
      }
      int more = random.nextInt(6);
      for (int j = 0; j < more; j++) {
        ids.add(nextId++);
      }
      lines.append(
          "{\"chat_id\": %d, \"parent_chat_id\": %d, \"timestamp\": %d.5, \"turn\": 1,"
                  .formatted(i, parent, i)
              + " \"input_length\": 1, \"output_length\": 1, \"type\": \"text\", \"hash_ids\": "
              + ids
              + "}\n");
      chats.add(ids);
    }
    return lines.toString();
  }

  private static PrefixCounter count(Path trace, int blockTokens) throws IOException {
    PrefixCounter counter = new PrefixCounter();
    TraceFiles.readAll(trace, OptionalInt.of(blockTokens)).forEach(counter::add);
    return counter;
  }

  @ParameterizedTest
  @CsvSource({"layer_0_keys", "layer_5_values"})
  void aWrongByteIsSeen(String tensor) throws IOException {
    Layout layout =
        LayoutScaler.scale(LayoutCatalog.layout(LayoutCatalog.Entry.L4, 64), 1_024).layout();
    int index = layout.indexOf(tensor);
    Replayer.Watcher spoiler =
        new Replayer.Watcher() {
          @Override
          public void storing(long request, StateBuffers state, int toTokens) {
            if (request == 0 && toTokens == 64) {
              byte right = state.memoryOf(index).getByte(10);
              state.memoryOf(index).putByte(10, (byte) (right ^ 1));
            }
          }
        };
    Run run = run(spoiler, file("t.jsonl", SESSIONS), "--policy=every", "--json");
    assertThat(run.exitCode()).isEqualTo(1);
    // Of the restores, those of session one's own chain hold its first block.
    assertThat(run.number("restores")).isEqualTo(3);
    assertThat(run.number("mismatches")).isEqualTo(2);
    assertThat(run.err())
        .contains("wrong bytes restored for a request of line 1, at 192 tokens")
        .contains("tensor '" + tensor + "', byte 10");
    Run unseen = run(spoiler, file("t.jsonl", SESSIONS), "--verify=none", "--json");
    assertThat(unseen.exitCode()).isZero();
    assertThat(unseen.number("restores_verified")).isZero();
  }

  @Test
  void aStoreThatStaysIsFoundAgain() throws IOException {
    String trace = file("t.jsonl", SESSIONS);
    Path store = folder.resolve("store");
    Run first = run(trace, "--store=" + store, "--policy=every", "--json");
    Run second = run(trace, "--store=" + store, "--policy=every", "--json", "--verify=sample:2");
    assertThat(first.exitCode() + second.exitCode()).isZero();
    assertThat(second.number("blocks_hit")).isEqualTo(19);
    assertThat(second.number("blocks_restored")).isEqualTo(19 - 6);
    assertThat(second.number("appended_bytes")).isZero();
    assertThat(second.number("restores")).isEqualTo(6);
    assertThat(second.number("restores_verified")).isEqualTo(3);
    assertThat(second.number("restore_points")).isEqualTo(11);
    assertThat(store.resolve("CURRENT")).isRegularFile();
  }

  @Test
  void aShallowerPointWhereTheDeepestCannotBeGivenBack() throws IOException {
    String trace = file("t.jsonl", SESSIONS);
    Path store = folder.resolve("store");
    assertThat(run(trace, "--store=" + store, "--policy=every").exitCode()).isZero();
    List<Path> segments;
    try (Stream<Path> files = Files.list(store)) {
      segments = files.filter(file -> file.getFileName().toString().startsWith("delta")).toList();
    }
    assertThat(segments).isNotEmpty();
    for (Path segment : segments) {
      // What the first two blocks of the first request wrote stays whole.
      byte[] bytes = Files.readAllBytes(segment);
      for (int i = bytes.length / 4; i < bytes.length / 4 * 3; i++) {
        bytes[i] ^= 0x55;
      }
      Files.write(segment, bytes);
    }
    Run run = run(trace, "--store=" + store, "--policy=every", "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.number("restores_missed")).isPositive();
    assertThat(run.number("restores")).isPositive();
    assertThat(run.number("mismatches")).isZero();
    // What was missing is stored again.
    Run again = run(trace, "--store=" + store, "--policy=every", "--json");
    assertThat(again.exitCode()).isZero();
    assertThat(again.number("restores_missed")).isZero();
    assertThat(again.number("restores")).isEqualTo(6);
    assertThat(again.number("mismatches")).isZero();
  }

  @Test
  void regroupedAndCutOff() throws IOException {
    Run run = run(file("t.jsonl", SESSIONS), "--block=128", "--limit=2", "--layout=L5", "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.number("requests")).isEqualTo(2);
    assertThat(run.number("blocks_total")).isEqualTo(1 + 2);
    assertThat(run.number("blocks_unique")).isEqualTo(2);
    assertThat(run.number("restores")).isEqualTo(1);
    assertThat(run.number("mismatches")).isZero();
  }

  @Test
  void aTableForPeople() throws IOException {
    Run run = run(file("t.jsonl", SESSIONS), "--layout=L9");
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .contains("scale: 1/1,024 asked")
        .contains("mismatches")
        .contains("blocks");
    assertThat(run.err()).isEmpty();
  }

  @Test
  void whatIsWrongIsSaid() throws IOException {
    Run missing = run(folder.resolve("none.jsonl").toString());
    assertThat(missing.exitCode()).isEqualTo(1);
    assertThat(missing.err()).contains("there is no file").contains("none.jsonl");
    Run cut = run(file("cut.jsonl", SESSIONS + "{\"id\": \"thr"));
    assertThat(cut.exitCode()).isEqualTo(1);
    assertThat(cut.err()).contains("line 3").doesNotContain("\tat ");
    Run stopped =
        run(
            new Replayer.Watcher() {
              @Override
              public boolean stops() {
                return true;
              }
            },
            file("t.jsonl", SESSIONS));
    assertThat(stopped.exitCode()).isEqualTo(130);
    Run notAStore = run(file("t.jsonl", SESSIONS), "--store=" + file("a-file", ""));
    assertThat(notAStore.exitCode()).isEqualTo(1);
    assertThat(run("t.jsonl", "--policy=some").exitCode()).isEqualTo(2);
  }

  @Test
  void codingSessionsAsRecorded() throws IOException {
    Path trace = TraceFiles.recorded("coding-sessions.jsonl.gz");
    Run run = run(trace.toString(), "--layout=L4", "--policy=every", "--limit=20", "--json");
    PrefixCounter expected = new PrefixCounter();
    TraceFiles.readAll(trace, OptionalInt.empty()).stream().limit(20).forEach(expected::add);
    assertCounts(run, expected);
    assertThat(run.number("blocks_restored")).isEqualTo(expected.hits);
    assertThat(run.number("appended_bytes")).isEqualTo(expected.unique * (L4_ROWS + L4_WINDOW));
    assertThat(run.number("allocated_bytes")).isLessThan(run.number("appended_bytes") * 5 / 4);
  }

  @Test
  void mooncakeConversationAsRecorded() throws IOException {
    Path trace = TraceFiles.recorded("mooncake-conversation.jsonl.gz");
    Run run = run(trace.toString(), "--layout=L3", "--policy=last", "--limit=60", "--json");
    PrefixCounter expected = new PrefixCounter();
    TraceFiles.readAll(trace, OptionalInt.empty()).stream().limit(60).forEach(expected::add);
    assertCounts(run, expected);
  }

  private static void assertCounts(Run run, PrefixCounter expected) throws IOException {
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.number("requests")).isEqualTo(expected.requests);
    assertThat(run.number("blocks_total")).isEqualTo(expected.blocks);
    assertThat(run.number("blocks_unique")).isEqualTo(expected.unique);
    assertThat(run.number("blocks_hit")).isEqualTo(expected.hits);
    assertThat(run.number("restores_verified")).isEqualTo(run.number("restores"));
    assertThat(run.number("mismatches")).isZero();
  }

  @Test
  void aProcessThatIsToldToGoTakesItsStoreAlong() throws Exception {
    Path trace = Path.of(file("long.jsonl", bailian(20_000, 3)));
    Process process =
        JavaProcess.of(
                "-Djava.io.tmpdir=" + temporaryRoot,
                Main.class.getName(),
                "replay",
                trace,
                "--layout=L9")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    try {
      while (process.isAlive() && !holdsSegments()) {
        Thread.sleep(20);
      }
      assertThat(process.isAlive()).as(Files.readString(folder.resolve("log"))).isTrue();
      process.destroy();
      assertThat(process.waitFor()).isEqualTo(143);
    } finally {
      process.destroyForcibly();
    }
    try (Stream<Path> left = Files.list(temporaryRoot)) {
      assertThat(left.filter(path -> path.toString().contains("waymark-replay-"))).isEmpty();
    }
  }

  private boolean holdsSegments() throws IOException {
    try (Stream<Path> files = Files.walk(temporaryRoot)) {
      return files.anyMatch(path -> path.toString().endsWith(".seg"));
    }
  }
}
