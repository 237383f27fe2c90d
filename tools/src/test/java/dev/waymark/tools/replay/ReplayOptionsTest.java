package dev.waymark.tools.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

class ReplayOptionsTest {
  @TempDir Path folder;

  @Command(name = "replay")
  static final class Host {
    @Mixin private ReplayOptions options;
  }

  private static ReplayOptions parse(String... args) {
    Host host = new Host();
    new CommandLine(host).parseArgs(args);
    return host.options;
  }

  @Test
  void defaults() {
    ReplayOptions options = parse("trace.jsonl");
    assertThat(options.trace()).isEqualTo(Path.of("trace.jsonl"));
    assertThat(options.layoutName()).isEqualTo("L4");
    assertThat(options.layout(64).layout().rowBytes(0, 1)).isEqualTo(160);
    assertThat(options.blockTokens()).isEmpty();
    assertThat(options.policy()).isEqualTo(new Policy.Lattice(OptionalDouble.empty()));
    assertThat(options.store()).isEmpty();
    assertThat(options.verification().includes(17)).isTrue();
    assertThat(options.limitRequests()).isEqualTo(Long.MAX_VALUE);
    assertThat(options.json()).isFalse();
  }

  @Test
  void everythingSaid() {
    ReplayOptions options =
        parse(
            "--layout=l3",
            "--scale",
            "64",
            "--block=1_024",
            "--policy=stride:3",
            "--store=d",
            "--verify=sample:10",
            "--limit",
            "5",
            "--json",
            "t.gz");
    assertThat(options.layoutName()).isEqualTo("L3");
    assertThat(options.layout(1_024).askedFactor()).isEqualTo(64);
    assertThat(options.layout(1_024).layout().blockTokens()).isEqualTo(1_024);
    assertThat(options.blockTokens()).isEqualTo(OptionalInt.of(1_024));
    assertThat(options.policy()).isEqualTo(new Policy.Stride(3));
    assertThat(options.store()).contains(Path.of("d"));
    assertThat(options.verification().includes(20)).isTrue();
    assertThat(options.verification().includes(21)).isFalse();
    assertThat(options.limitRequests()).isEqualTo(5);
    assertThat(options.json()).isTrue();
  }

  @Test
  void layoutOfAFileBringsItsBlock() throws IOException {
    Path file = folder.resolve("mine.json");
    Files.writeString(file, LayoutCatalog.layout(LayoutCatalog.Entry.L7, 256).toJson());
    ReplayOptions options = parse("--layout", file.toString(), "--scale=1", "t");
    assertThat(options.layoutName()).isEqualTo("mine.json");
    assertThat(options.blockTokens()).isEqualTo(OptionalInt.of(256));
    assertThat(options.layout(256).layout())
        .isEqualTo(LayoutCatalog.layout(LayoutCatalog.Entry.L7, 256));
    assertThat(parse("--layout", file.toString(), "--block=512", "t").blockTokens())
        .isEqualTo(OptionalInt.of(512));
    Files.writeString(file, "{\"block_tokens\": 4}");
    assertThatThrownBy(() -> parse("--layout", file.toString(), "t"))
        .isInstanceOf(ParameterException.class)
        .hasMessageContaining("tensors");
  }

  @ParameterizedTest
  @CsvSource({"lattice:0.5,0.5", "lattice:25%,0.25", "lattice:2,2"})
  void latticeBudgets(String text, double fraction) {
    assertThat(parse("--policy", text, "t").policy())
        .isEqualTo(new Policy.Lattice(OptionalDouble.of(fraction)));
  }

  @Test
  void otherPolicies() {
    assertThat(parse("--policy=every", "t").policy()).isEqualTo(new Policy.Every());
    assertThat(parse("--policy=last", "t").policy()).isEqualTo(new Policy.Last());
    assertThat(parse("--verify=none", "t").verification().includes(0)).isFalse();
    assertThat(parse("--verify=all", "t").verification().includes(1)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--layout=L10",
        "--layout=",
        "--layout=none.json",
        "--scale=0",
        "--scale=-3",
        "--scale=1.5",
        "--scale=2147483648",
        "--block=0",
        "--block=x",
        "--policy=all",
        "--policy=stride",
        "--policy=stride:0",
        "--policy=every:2",
        "--policy=last:",
        "--policy=lattice:",
        "--policy=lattice:0",
        "--policy=lattice:-1%",
        "--policy=lattice:NaN",
        "--verify=some",
        "--verify=sample",
        "--verify=sample:0",
        "--limit=0",
        "--unknown",
      })
  void wrongOnesAreRefused(String option) {
    assertThatThrownBy(() -> parse(option, "t")).isInstanceOf(ParameterException.class);
  }

  @Test
  void theTraceIsNeeded() {
    assertThatThrownBy(() -> parse()).isInstanceOf(ParameterException.class);
  }
}
