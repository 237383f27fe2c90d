package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.StoreLockedException;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.TensorSpec;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose state may stand for whose, and who may write. */
class IdentityTest {
  private static final TensorSpec KEYS = TensorSpec.rows("k", DType.BF16, 1, 2, -1, 8);
  private static final TensorSpec STATE = TensorSpec.fixed("s", DType.F32, 2, 16);
  private static final Layout LAYOUT = Layout.of(4, KEYS, STATE);

  private final int[] prompt = new Random(1).ints(21, 0, 1_000).toArray();

  private static ModelIdentity.Builder identity() {
    return ModelIdentity.builder()
        .weights("sha256:00")
        .tokenizer("t")
        .rope("base 10000, factor 1")
        .quantisation("none")
        .parallel("tp 2, rank 0")
        .engine("e 1")
        .property("rotation", "none");
  }

  @Test
  void anyDifferenceIsAnotherNamespace() {
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      SnapshotStore store = test.store();
      Namespace ns = store.namespace(identity().build(), LAYOUT);
      FakeModel model = new FakeModel(LAYOUT);
      PrefillPlan plan = PrefillPlan.tokens(21).policy(RestorePolicy.EVERY);
      try (PrefillSession session = ns.prefill(ns.match(prompt), plan)) {
        for (int end = 4; end <= 20; end += 4) {
          session.append(
              java.util.Arrays.copyOfRange(prompt, end - 4, end), model.plainViews(prompt, end));
        }
      }
      byte[] salt = "sixteen bytes or more".getBytes(StandardCharsets.UTF_8);
      List<Namespace> others = new ArrayList<>();
      others.add(store.namespace(identity().weights("sha256:01").build(), LAYOUT));
      others.add(store.namespace(identity().parallel("tp 2, rank 1").build(), LAYOUT));
      others.add(store.namespace(identity().parallel("tp 4, rank 0").build(), LAYOUT));
      others.add(store.namespace(identity().property("rotation", "hadamard").build(), LAYOUT));
      others.add(store.namespace(identity().rope("base 10000, factor 4").build(), LAYOUT));
      others.add(store.namespace(identity().tokenizer("u").build(), LAYOUT));
      others.add(store.namespace(identity().engine("e 2").build(), LAYOUT));
      others.add(store.namespace(identity().quantisation("int8").build(), LAYOUT));
      others.add(store.namespace(identity().property("more", "").build(), LAYOUT));
      TensorSpec paged = TensorSpec.rows("k", DType.BF16, 1, -1, 2, 8);
      TensorSpec halves = TensorSpec.rows("k", DType.F16, 1, 2, -1, 8);
      others.add(store.namespace(identity().build(), Layout.of(4, paged, STATE)));
      others.add(store.namespace(identity().build(), Layout.of(4, halves, STATE)));
      others.add(store.namespace(identity().build(), Layout.of(4, STATE, KEYS)));
      others.add(store.namespace(identity().build(), Layout.of(2, KEYS, STATE)));
      others.add(store.namespace(identity().build(), LAYOUT, CodecPlan.RAW.withFixed(Codec.BF16)));
      others.add(ns.tenant(salt));
      others.add(ns.tenant("another salt of a tenant".getBytes(StandardCharsets.UTF_8)));
      for (Namespace other : others) {
        PrefixMatch match = other.match(prompt);
        assertThat(match.storedTokens()).isZero();
        assertThat(match.points()).isEmpty();
      }
      assertThat(others.get(0).match(prompt).why()).isEqualTo(MissReason.OTHER_NAMESPACE);
      // A lossless codec is no other state, and neither is another order of properties.
      ModelIdentity same = ModelIdentity.of(identity().build().properties());
      assertThat(store.namespace(same, LAYOUT, CodecPlan.PLANES).match(prompt).points())
          .containsExactly(4, 8, 12, 16, 20);
    }
  }

  @Test
  void anExtraKeyTellsBlocksOfTheSameTokensApart() {
    FakeModel model = new FakeModel(LAYOUT);
    byte[] image = {1, 2, 3};
    try (TestStore test = new TestStore(TestStore.options("64MiB").build())) {
      Namespace ns = test.namespace(LAYOUT);
      Prompt with = Prompt.ofTokens(prompt, Map.of(0, image));
      PrefillPlan plan = PrefillPlan.tokens(21).policy(RestorePolicy.EVERY);
      try (PrefillSession session = ns.prefill(ns.match(with), plan)) {
        session.append(java.util.Arrays.copyOf(prompt, 4), image, model.plainViews(prompt, 4));
        session.append(java.util.Arrays.copyOfRange(prompt, 4, 8), model.plainViews(prompt, 8));
      }
      assertThat(ns.match(prompt).storedTokens()).isZero();
      assertThat(ns.match(with).points()).containsExactly(4, 8);
      model.assertRestores(new Random(1), ns.match(with), 8, prompt);
    }
  }

  @Test
  void aSecondWriterChangesNothing(@TempDir Path dir) throws java.io.IOException {
    Path path = dir.resolve("store");
    StoreOptions options = TestStore.options("64MiB").build();
    try (SnapshotStore store = SnapshotStore.open(path, options)) {
      store.namespace(identity().build(), LAYOUT);
      store.flush();
      Map<String, String> before = content(path);
      assertThatThrownBy(() -> SnapshotStore.open(path, options))
          .isInstanceOf(StoreLockedException.class);
      assertThat(content(path)).isEqualTo(before);
      // The lock is still held: a third is refused as the second was.
      assertThatThrownBy(() -> SnapshotStore.open(path, options))
          .isInstanceOf(StoreLockedException.class);
      store.flush();
    }
    SnapshotStore.open(path, options).close();
  }

  private static Map<String, String> content(Path path) throws java.io.IOException {
    Map<String, String> content = new TreeMap<>();
    try (var files = Files.list(path)) {
      for (Path file : files.toList()) {
        // Reading LOCK would give it away.
        if (!file.endsWith("LOCK")) {
          content.put(
              file.getFileName().toString(),
              java.util.Arrays.hashCode(Files.readAllBytes(file))
                  + " "
                  + Files.getLastModifiedTime(file));
        }
      }
    }
    return content;
  }
}
