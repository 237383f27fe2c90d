package dev.waymark.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.layout.Codec;
import dev.waymark.tools.Output;
import dev.waymark.tools.Progress;
import dev.waymark.tools.Run;
import dev.waymark.tools.model.ModelConfig;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DemoTest {
  @TempDir Path dir;

  @Test
  void restoredAndColdStateSayTheSame() {
    DemoResult result = tiny();

    assertThat(result.identical()).isTrue();
    assertThat(result.steps())
        .extracting(DemoStep::name)
        .containsExactly(
            "cold turn", "warm turn", "aborted prefill", "its retry", "after the reopen");
    DemoStep cold = result.steps().get(0);
    DemoStep warm = result.steps().get(1);
    DemoStep aborted = result.steps().get(2);
    DemoStep retry = result.steps().get(3);
    assertThat(cold.restoredTokens()).isZero();
    assertThat(warm.restoredTokens()).isGreaterThan(cold.promptTokens());
    assertThat(aborted.computedTokens()).isPositive();
    assertThat(retry.restoredTokens())
        .isEqualTo(aborted.restoredTokens() + aborted.computedTokens())
        .isLessThan(retry.promptTokens());
    assertThat(result.last().restoredTokens()).isEqualTo(592);
    assertThat(result.last().computedTokens()).isEqualTo(8);
    assertThat(result.bundleBytes()).isGreaterThan(result.writtenBytes());
  }

  @Test
  void tableAndJsonSayWhatWasFound() {
    DemoResult result = tiny();
    StringWriter text = new StringWriter();

    try (Output out = new Output(new PrintWriter(text))) {
      new DemoReport(result).print(out);
    }
    JsonNode json = new DemoReport(result).toJson();

    assertThat(text.toString())
        .contains("bundles would take", "identical                  yes")
        .containsPattern("time saved .* the last prompt: .* with the store, .* from scratch: ")
        .contains("tools/bin/segtool inspect " + result.store());
    assertThat(json.path("output_version").asInt()).isEqualTo(1);
    assertThat(json.path("identical").asBoolean()).isTrue();
    assertThat(json.path("steps")).hasSize(5);
    assertThat(json.path("bundle_bytes").isIntegralNumber()).isTrue();
  }

  @Test
  void aDifferenceIsNotHidden() {
    DemoStep step = new DemoStep("after the reopen", 600, 592, 8, 16, 1, 1);
    DemoResult tokens = new DemoResult(dir, List.of(step), 1, 1, 1, 1, 1, 1, 16, 3, false, null);
    DemoResult logits = new DemoResult(dir, List.of(step), 1, 1, 1, 1, 1, 1, 16, -1, false, null);
    StringWriter text = new StringWriter();

    try (Output out = new Output(new PrintWriter(text))) {
      new DemoReport(tokens).print(out);
    }

    assertThat(tokens.identical()).isFalse();
    assertThat(logits.identical()).isFalse();
    assertThat(text.toString()).contains("NO", "they differ from token 3 on");
  }

  @Test
  void whatMakesNoSenseIsWrongUsage() throws Exception {
    Files.createFile(dir.resolve("something"));

    Run full = Run.of("demo", "--store", dir);
    Run few = Run.of("demo", "--tokens", "10");
    Run codec = Run.of("demo", "--state-codec", "int4");

    assertThat(full.exitCode()).isEqualTo(2);
    assertThat(full.err()).contains("is not empty").doesNotContain("\tat ");
    assertThat(few.exitCode()).isEqualTo(2);
    assertThat(few.err()).contains("--tokens takes");
    assertThat(codec.exitCode()).isEqualTo(2);
    assertThat(codec.err()).contains("--state-codec", "RHT_INT8").doesNotContain("\tat ");
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void stateThroughACodecIsComparedOverTheWholeConversation(Codec codec) {
    DemoResult result = tiny(codec);

    assertThat(result.identical()).as("the exact conversation").isTrue();
    assertThat(result.lossyState() != null).isEqualTo(codec.isLossy());
    if (codec.isLossy()) {
      LossyState lossy = result.lossyState();
      assertThat(lossy.codec()).isEqualTo(codec);
      assertThat(lossy.comparedTokens()).isEqualTo(20 + 20 + 24);
      assertThat(lossy.firstDifference()).isBetween(-1, lossy.comparedTokens() - 1);
      assertThat(lossy.storedBytes()).isLessThan(lossy.rawBytes());
      JsonNode json = new DemoReport(result).toJson().path("lossy_state");
      assertThat(json.path("codec").asText()).isEqualTo(codec.name());
      assertThat(json.path("identical").asBoolean()).isEqualTo(lossy.identical());
    }
  }

  @Test
  void whereLossyStateDiffersIsSaidAndIsNoFailure() {
    DemoStep step = new DemoStep("after the reopen", 600, 592, 8, 16, 1, 1);
    LossyState same = new LossyState(Codec.RHT_INT8, 64, -1, 4_096, 1_024);
    LossyState other = new LossyState(Codec.INT8, 64, 36, 4_096, 1_024);
    StringWriter text = new StringWriter();

    try (Output out = new Output(new PrintWriter(text))) {
      for (LossyState lossy : List.of(same, other)) {
        DemoResult result =
            new DemoResult(dir, List.of(step), 1, 1, 1, 1, 1, 1, 16, -1, true, lossy);
        assertThat(result.identical()).isTrue();
        new DemoReport(result).print(out);
      }
    }

    assertThat(text.toString())
        .contains("state RHT_INT8            same  all 64 tokens of the answers")
        .contains("4.0 KiB of state in 1.0 KiB")
        .contains("state INT8             differs  from token 37 of the answers' 64 on");
  }

  private DemoResult tiny() {
    return tiny(Codec.RHT_INT8);
  }

  private DemoResult tiny(Codec stateCodec) {
    DemoOptions options =
        new DemoOptions(dir.resolve("store"), ModelConfig.tiny(), 16, 600, 24, stateCodec);
    return new Demo(options, Progress.none()).run();
  }
}
