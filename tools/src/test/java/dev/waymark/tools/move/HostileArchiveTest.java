package dev.waymark.tools.move;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import dev.waymark.tools.Progress;
import dev.waymark.tools.Run;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an archive may hold that is not what export wrote: none of it is stored. */
class HostileArchiveTest {
  private static final String KEY = "ab".repeat(32);
  private static final String ROOT = "cd".repeat(32);
  private static final Layout ROWS =
      Layout.of(2, TensorSpec.rows("k", DType.U8, 1, TensorSpec.TOKEN_AXIS, 2));

  @TempDir Path dir;

  private Path store() {
    return dir.resolve("store");
  }

  private JsonNode error(Path archive) throws IOException {
    Run run = Run.of("import", store(), archive, "--create", "--quota", "64MiB", "--json");
    JsonNode error = new ObjectMapper().readTree(run.out()).path("error");
    assertThat(error.isObject()).as(run.out() + run.err()).isTrue();
    assertThat(run.exitCode()).isEqualTo(error.path("exit_code").asInt());
    assertThat(store()).doesNotExist();
    return error;
  }

  private String fault(Path archive) throws IOException {
    return error(archive).path("fault").asText();
  }

  private Path real() throws IOException {
    Path source = dir.resolve("source");
    MadeState state = new MadeState(MadeState.mixed(4));
    try (SnapshotStore opened =
        SnapshotStore.open(source, StoreOptions.builder().quota("64MiB").build())) {
      state.store(
          opened.namespace(ModelIdentity.builder().weights("w").build(), MadeState.mixed(4)),
          new Random(3).ints(12, 0, 100).toArray(),
          RestorePolicy.EVERY);
    }
    Path archive = dir.resolve("real");
    assertThat(Run.of("export", source, "-o", archive).exitCode()).isZero();
    return archive;
  }

  @Test
  void everyByteThatChangesIsFound() throws IOException {
    byte[] right = Files.readAllBytes(real());
    Random random = new Random(Long.getLong("seed", 5));
    for (int i = 0; i < 80; i++) {
      byte[] bytes = right.clone();
      bytes[i < 40 ? i : random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      Path changed = Files.write(dir.resolve("changed"), bytes);
      assertThat(error(changed).path("code").asText()).as("round " + i).isNotEqualTo("BUG");
    }
  }

  @Test
  void everyLengthButTheRightOneIsFound() throws IOException {
    byte[] right = Files.readAllBytes(real());
    Path cut = dir.resolve("short");
    for (int length = 4; length < right.length; length++) {
      Files.write(cut, Arrays.copyOf(right, length));
      BadImportException e =
          catchThrowableOfType(
              BadImportException.class, () -> new ArchiveImport(cut).check(Progress.none()));
      assertThat(e).as("length " + length).isNotNull();
      assertThat(e.fault()).as("length " + length).isEqualTo(ImportFault.ARCHIVE_CUT_SHORT);
    }
    assertThat(fault(cut)).isEqualTo("ARCHIVE_CUT_SHORT");
    byte[] longer = Arrays.copyOf(right, right.length + 1);
    assertThat(fault(Files.write(dir.resolve("long"), longer))).isEqualTo("ARCHIVE_TRAILING_BYTES");
  }

  @Test
  void recordsThatChangedPlacesAreFound() throws IOException {
    Path archive = write(start(), namespace(ROWS), boundary(KEY, ROOT, 2, 4), end(1));
    byte[] bytes = Files.readAllBytes(archive);
    ArchiveReader in = ArchiveReader.open(archive);
    in.next();
    int first = (int) in.position();
    in.next();
    int second = (int) in.position();
    in.close();
    byte[] without = new byte[bytes.length - (second - first)];
    System.arraycopy(bytes, 0, without, 0, first);
    System.arraycopy(bytes, second, without, first, bytes.length - second);

    assertThat(fault(Files.write(archive, without))).isEqualTo("ARCHIVE_HASH_DIFFERS");
  }

  @Test
  void numbersThatLieAreFound() throws IOException {
    Layout vast =
        Layout.of(
            Integer.MAX_VALUE,
            TensorSpec.rows("k", DType.F64, 1, 1 << 20, TensorSpec.TOKEN_AXIS, 1 << 20));
    String contradicts = "ARCHIVE_CONTRADICTS";
    assertThat(fault(write(start(), namespace(vast), boundary(KEY, ROOT, Integer.MAX_VALUE, 4))))
        .isEqualTo(contradicts);
    assertThat(fault(write(start(), namespace(ROWS), boundary(KEY, ROOT, 2, 3))))
        .isEqualTo(contradicts);
    assertThat(fault(write(start(), namespace(ROWS), boundary(KEY, ROOT, 4, 8))))
        .isEqualTo(contradicts);
    assertThat(fault(write(start(), boundary(KEY, ROOT, 2, 4)))).isEqualTo(contradicts);
    assertThat(
            fault(
                write(
                    start(),
                    namespace(ROWS),
                    boundary(KEY, ROOT, 2, 4),
                    boundary(KEY, ROOT, 2, 4))))
        .isEqualTo(contradicts);
    assertThat(fault(write(start(), namespace(ROWS), namespace(ROWS)))).isEqualTo(contradicts);
    assertThat(fault(write(start(), namespace(ROWS), boundary(KEY, ROOT, 2, 4), end(2))))
        .isEqualTo(contradicts);
  }

  @Test
  void namesThatCannotBeAreFound() throws IOException {
    Record kept = boundary(KEY, ROOT, 2, 4);
    kept.head().putArray("kept").add("a").add("b");
    assertThat(fault(write(start(), namespace(ROWS), kept, end(1, 1))))
        .isEqualTo("ARCHIVE_CONTRADICTS");
    kept.head().putArray("kept").add("a").add("a");
    assertThat(fault(write(start(), namespace(ROWS), kept, end(1, 2))))
        .isEqualTo("ARCHIVE_CONTRADICTS");
    for (String name : List.of("", " ", "a\nb", "\u001b[31m", "n".repeat(201))) {
      kept.head().putArray("kept").add(name);
      assertThat(fault(write(start(), namespace(ROWS), kept, end(1, 1))))
          .isEqualTo("ARCHIVE_BAD_RECORD");
    }
    kept.head().put("kept", "a");
    assertThat(fault(write(start(), namespace(ROWS), kept, end(1, 1))))
        .isEqualTo("ARCHIVE_BAD_RECORD");
    kept.head().put("point", false).putArray("kept").add("a");
    assertThat(fault(write(start(), namespace(ROWS), kept, end(1, 1))))
        .isEqualTo("ARCHIVE_CONTRADICTS");
  }

  @Test
  void oneNamespaceUnderTwoNumbersIsFound() throws IOException {
    Record again = namespace(ROWS);
    again.head().put("id", 2);

    assertThat(fault(write(start(), namespace(ROWS), again))).isEqualTo("ARCHIVE_CONTRADICTS");
  }

  @Test
  void aPointWithoutItsWindowsOrStateIsFound() throws IOException {
    Layout window =
        Layout.of(
            2,
            TensorSpec.window("w", DType.U8, 1 << 30, 0, TensorSpec.TOKEN_AXIS, 2),
            TensorSpec.fixed("s", DType.U8, 4));
    assertThat(fault(write(start(), namespace(window), boundary(KEY, ROOT, 2, 0))))
        .isEqualTo("ARCHIVE_CONTRADICTS");
  }

  @Test
  void otherThingsThanArchivesAndNewerOnesAreSaidToBeSo() throws IOException {
    Record newer = start();
    newer.head().put("version", 2);
    JsonNode error = error(write(newer));
    assertThat(error.path("fault").asText()).isEqualTo("ARCHIVE_VERSION");
    assertThat(error.path("exit_code").asInt()).isEqualTo(6);
    assertThat(fault(write(start(), namespace(ROWS)))).isEqualTo("ARCHIVE_CUT_SHORT");
    Record deep = new Record(ArchiveFormat.Kind.START, start().head(), 0);
    deep.head().set("version", nested(900));
    assertThat(fault(write(deep))).isEqualTo("ARCHIVE_BAD_RECORD");
    assertThat(fault(Files.write(dir.resolve("empty"), new byte[0]))).isEqualTo("TRUNCATED");
  }

  @Test
  void aLinkIsNotFollowed() throws IOException {
    Path archive = write(start(), namespace(ROWS), boundary(KEY, ROOT, 2, 4), end(1));
    Path link = Files.createSymbolicLink(dir.resolve("link"), archive);

    assertThat(fault(link)).isEqualTo("NOT_A_PLAIN_FILE");
    assertThat(Run.of("import", store(), archive, "--create", "--quota", "64MiB").exitCode())
        .isZero();
  }

  private record Record(ArchiveFormat.Kind kind, ObjectNode head, int bodyBytes) {}

  private static ObjectNode node() {
    return JsonNodeFactory.instance.objectNode();
  }

  private static JsonNode nested(int depth) {
    JsonNode node = JsonNodeFactory.instance.arrayNode();
    for (int i = 0; i < depth; i++) {
      node = JsonNodeFactory.instance.arrayNode().add(node);
    }
    return node;
  }

  private static Record start() {
    return new Record(ArchiveFormat.Kind.START, node().put("version", 1), 0);
  }

  private static Record namespace(Layout layout) {
    ObjectNode head = node().put("id", 1).put("identity", "{}").put("layout", layout.toJson());
    head.put("codecs", "{\"rows\":\"RAW\",\"window\":\"RAW\",\"fixed\":\"RAW\",\"tensors\":{}}");
    return new Record(ArchiveFormat.Kind.NAMESPACE, head, 0);
  }

  private static Record boundary(String key, String parent, int tokens, int bytes) {
    ObjectNode head = node().put("namespace", 1).put("key", key).put("parent", parent);
    head.put("tokens", tokens).put("point", true).put("state", false);
    return new Record(ArchiveFormat.Kind.BOUNDARY, head, bytes);
  }

  private static Record end(int boundaries) {
    return end(boundaries, 0);
  }

  private static Record end(int boundaries, int names) {
    return new Record(
        ArchiveFormat.Kind.END,
        node().put("boundaries", boundaries).put("points", boundaries).put("names", names),
        0);
  }

  private Path write(Record... records) throws IOException {
    Path path = dir.resolve("archive");
    Files.deleteIfExists(path);
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ArchiveWriter out = new ArchiveWriter(channel);
      for (Record record : records) {
        out.write(record.kind(), record.head(), List.of(ByteBuffer.allocate(record.bodyBytes())));
      }
    }
    return path;
  }
}
