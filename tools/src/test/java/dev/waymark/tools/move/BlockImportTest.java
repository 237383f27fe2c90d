package dev.waymark.tools.move;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.Namespace;
import dev.waymark.PrefixMatch;
import dev.waymark.RestoredState;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreInspector;
import dev.waymark.StoreOptions;
import dev.waymark.layout.Memory;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.tools.Run;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockImportTest {
  private static final int BLOCK = MadeBlocks.BLOCK;

  @TempDir Path dir;

  private final int[] trunk = new Random(2).ints(6 * BLOCK, 0, 50_000).toArray();

  private Path folder() {
    return dir.resolve("blocks");
  }

  private Path store() {
    return dir.resolve("store");
  }

  private MadeBlocks blocks() {
    return new MadeBlocks(folder());
  }

  private JsonNode run(Object... more) throws IOException {
    Object[] arguments = {
      "import", store(), folder(), "--create", "--quota", "64MiB", "--json",
    };
    Object[] all = Arrays.copyOf(arguments, arguments.length + more.length);
    System.arraycopy(more, 0, all, arguments.length, more.length);
    Run run = Run.of(all);
    JsonNode said = new ObjectMapper().readTree(run.out());
    assertThat(said.isObject()).as(run.out() + run.err()).isTrue();
    assertThat(run.exitCode()).isEqualTo(said.path("error").path("exit_code").asInt());
    return said;
  }

  private String fault() throws IOException {
    JsonNode error = run().path("error");
    assertThat(store()).doesNotExist();
    assertThat(error.path("message").asText()).doesNotContain(Integer.toString(trunk[9]));
    return error.path("fault").asText();
  }

  private SnapshotStore open() {
    return SnapshotStore.open(
        store(), StoreOptions.builder().quota("64MiB").createIfMissing(false).build());
  }

  private Namespace namespace(SnapshotStore opened) {
    StoreInspector.NamespaceReport report = StoreInspector.open(store()).namespaces().get(0);
    assertThat(report.layout()).isEqualTo(MadeBlocks.LAYOUT);
    return opened.namespace(report.identity(), report.layout());
  }

  private static void assertRestores(Namespace namespace, int[] ids, int tokens, MadeState state) {
    PrefixMatch match = namespace.match(ids);
    Map<TensorSpec, byte[]> read = new HashMap<>();
    StateViews.Builder views = StateViews.builder();
    for (TensorSpec spec : namespace.layout().tensors()) {
      byte[] bytes = new byte[(int) PackedState.bytes(spec, tokens)];
      read.put(spec, bytes);
      views.put(spec, PackedState.view(spec, Memory.of(ByteBuffer.wrap(bytes)), tokens));
    }
    try (RestoredState restored = match.restore(tokens)) {
      restored.read(views.build());
      restored.finish();
    }
    read.forEach(
        (spec, bytes) ->
            assertThat(bytes)
                .as(spec.name() + " at " + tokens)
                .isEqualTo(state.packed(spec, ids, tokens)));
  }

  @Test
  void blocksWithCompanionsAreFoundByTheirTokenIds() throws IOException {
    int[] branch = trunk.clone();
    for (int i = 3 * BLOCK; i < branch.length; i++) {
      branch[i]++;
    }
    MadeBlocks blocks = blocks();
    blocks.write(trunk, 0, true, 2 * BLOCK, 4 * BLOCK, 6 * BLOCK);
    blocks.write(branch, 3 * BLOCK, true, 5 * BLOCK);
    int[] more = Arrays.copyOf(trunk, 6 * BLOCK + 3);
    blocks.write(more, 6 * BLOCK, true);

    JsonNode said = run();

    assertThat(said.path("files").asInt()).isEqualTo(10);
    assertThat(said.path("boundaries").asInt()).isEqualTo(9);
    assertThat(said.path("boundaries_added").asInt()).isEqualTo(9);
    assertThat(said.path("restore_points").asInt()).isEqualTo(4);
    assertThat(said.path("left_out").path("shorter than a block of 8 tokens").asInt()).isEqualTo(1);
    assertThat(said.path("file_bytes").asLong()).isGreaterThan(said.path("raw_bytes").asLong());
    assertThat(said.path("record_bytes").asLong()).isPositive();
    try (SnapshotStore opened = open()) {
      Namespace namespace = namespace(opened);
      int[] longer = Arrays.copyOf(trunk, trunk.length + 1);
      assertThat(namespace.match(longer).points()).containsExactly(2 * BLOCK, 4 * BLOCK, 6 * BLOCK);
      for (int tokens : new int[] {2 * BLOCK, 4 * BLOCK, 6 * BLOCK}) {
        assertRestores(namespace, longer, tokens, blocks.state());
      }
      assertThat(namespace.match(branch).storedTokens()).isEqualTo(branch.length);
      assertRestores(namespace, branch, 5 * BLOCK, blocks.state());
    }
    assertThat(Run.of("verify", store(), "--level", "all").exitCode()).isZero();
  }

  @Test
  void anOrderStandsInForCompanionsThatAreNotThere() throws IOException {
    blocks().write(trunk, 0, false, 6 * BLOCK);
    Path order = Files.writeString(dir.resolve("order"), MadeBlocks.order(trunk));

    JsonNode said = run("--order", order);

    assertThat(said.path("chains").asInt()).isEqualTo(1);
    assertThat(said.path("restore_points").asInt()).isEqualTo(1);
    assertThat(said.path("notes").toString()).contains("known by their hashes");
    String out = Run.of("inspect", store(), "--boundaries").out();
    assertThat(out).contains(MadeBlocks.hash(trunk, 6 * BLOCK).substring(0, 8) + " ");
  }

  @Test
  void blocksThatNothingIsKnownOfAreFirstBlocksWithTheirRows() throws IOException {
    int[] ids = Arrays.copyOf(trunk, BLOCK);
    blocks().write(ids, 0, false, BLOCK);

    JsonNode said = run();

    assertThat(said.path("chains").asInt()).isEqualTo(1);
    assertThat(said.path("boundaries").asInt()).isEqualTo(1);
    assertThat(said.path("restore_points").asInt()).isZero();
    assertThat(said.path("notes").toString()).contains("by themselves");
    String text = Run.of("import", store(), folder()).out();
    assertThat(text).contains("there ").contains("written here").contains("by themselves");
  }

  @Test
  void aBlockWhoseParentIsGoneIsStoredByItself() throws IOException {
    MadeBlocks blocks = blocks();
    blocks.write(trunk, 0, true, 6 * BLOCK);
    Files.delete(blocks.file(trunk, 3 * BLOCK));

    JsonNode said = run();

    // The fourth block has sinks neither in its ring's right place nor before it.
    assertThat(said.path("boundaries").asInt()).isEqualTo(2);
    assertThat(said.path("left_out").path("without some of their rows").asInt()).isEqualTo(1);
    assertThat(said.path("left_out").path("what they follow was left out").asInt()).isEqualTo(2);
  }

  @Test
  void linksAreNotFollowed() throws IOException {
    MadeBlocks blocks = blocks();
    blocks.write(trunk, 0, true);
    Path file = blocks.file(trunk, BLOCK);
    Path elsewhere = dir.resolve("elsewhere");
    Files.move(file, elsewhere);
    Files.createSymbolicLink(file, elsewhere);
    assertThat(fault()).isEqualTo("NOT_A_PLAIN_FILE");
    Files.delete(file);
    Files.move(elsewhere, file);
    Files.move(file.getParent(), elsewhere);
    Files.createSymbolicLink(file.getParent(), elsewhere);
    assertThat(fault()).isEqualTo("NOT_A_PLAIN_FILE");
    Files.delete(file.getParent());
    Files.move(elsewhere, file.getParent());
    Path companion = blocks.companion(trunk, BLOCK);
    Files.move(companion, elsewhere);
    Files.createSymbolicLink(companion, elsewhere);
    assertThat(fault()).isEqualTo("NOT_A_PLAIN_FILE");
  }

  @Test
  void namesThatDifferByCaseAreRefused() throws IOException {
    MadeBlocks blocks = blocks();
    blocks.write(trunk, 0, true);
    Path file = blocks.file(trunk, BLOCK);
    String name = file.getFileName().toString();
    Files.copy(file, file.resolveSibling(name.toUpperCase(Locale.ROOT)));

    assertThat(fault()).isEqualTo("NAMES_DIFFER_BY_CASE");
  }

  @Test
  void aBlockInTheWrongPlaceIsRefused() throws IOException {
    MadeBlocks blocks = blocks();
    blocks.write(trunk, 0, true);
    Path file = blocks.file(trunk, BLOCK);
    Path other = file.resolveSibling("ab" + file.getFileName().toString().substring(2));
    Files.move(file, other);
    assertThat(fault()).isEqualTo("BLOCK_MISPLACED");
  }

  @Test
  void companionsThatLieAreRefused() throws IOException {
    MadeBlocks blocks = blocks();
    blocks.write(trunk, 0, true);
    blocks.writeCompanion(trunk, BLOCK, 2 * BLOCK, 5);
    assertThat(fault()).isEqualTo("POSITION_CONTRADICTS");
    Path companion = blocks.companion(trunk, 2 * BLOCK);
    Files.writeString(
        companion, "{\"parent_hash\":\"../../etc\",\"token_start\":8,\"token_ids\":[]}");
    assertThat(fault()).isEqualTo("BAD_COMPANION");
    Files.writeString(companion, "[".repeat(100_000));
    assertThat(fault()).isEqualTo("BAD_COMPANION");
    blocks.writeCompanion(trunk, BLOCK, 2 * BLOCK, 8);
    String ids = Arrays.toString(Arrays.copyOf(trunk, BLOCK));
    Files.writeString(
        blocks.companion(trunk, BLOCK),
        "{\"parent_hash\":\""
            + MadeBlocks.hash(trunk, 2 * BLOCK)
            + "\",\"token_start\":0,\"token_ids\":"
            + ids
            + "}");
    assertThat(fault()).isEqualTo("PARENT_CYCLE");
  }

  @Test
  void metadataThatContradictsItselfIsRefused() throws IOException {
    Map<Map<String, String>, String> cases =
        Map.of(
            Map.of("a_cache_format_version", "4"), "BLOCK_VERSION",
            Map.of("token_count", "9"), "BAD_BLOCK_METADATA",
            Map.of("token_count", "99999999999"), "BAD_BLOCK_METADATA",
            Map.of("num_layers", "4"), "BAD_BLOCK_METADATA",
            Map.of("layer_cache_types", MadeBlocks.TYPES.replace("Arrays", "Odd")),
                "UNKNOWN_CACHE_TYPE",
            Map.of("layer_meta_states", "[[],[\"9\",\"3\",\"1\",\"1\"]]"), "BAD_BLOCK_METADATA",
            Map.of("layer_0_state_count", "3"), "TENSOR_MISSING",
            Map.of("layer_0_state_count", ""), "BAD_BLOCK_METADATA",
            Map.of("layer_4_state_0_zero_dim", "1,2"), "BAD_BLOCK_METADATA",
            Map.of("block_hash", "../x"), "BAD_BLOCK_METADATA");
    for (Map.Entry<Map<String, String>, String> entry : cases.entrySet()) {
      blocks().write(trunk, 0, BLOCK, true, entry.getKey());
      assertThat(fault()).as(entry.getKey().toString()).isEqualTo(entry.getValue());
    }
  }

  @Test
  void badFilesAreLeftOutWhereThatIsAskedFor() throws IOException {
    MadeBlocks blocks = blocks();
    blocks.write(trunk, 0, true, 6 * BLOCK);
    byte[] bytes = Files.readAllBytes(blocks.file(trunk, 6 * BLOCK));
    Files.write(blocks.file(trunk, 6 * BLOCK), Arrays.copyOf(bytes, bytes.length - 1));

    assertThat(fault()).isEqualTo("OFFSETS_BEYOND_FILE");
    JsonNode said = run("--skip-bad");

    assertThat(said.path("boundaries").asInt()).isEqualTo(5);
    assertThat(said.path("left_out").size()).isEqualTo(1);
  }

  @Test
  void aDryRunStoresNothing() throws IOException {
    blocks().write(trunk, 0, true);

    assertThat(run("--dry-run").path("dry_run").asBoolean()).isTrue();

    assertThat(store()).doesNotExist();
  }
}
