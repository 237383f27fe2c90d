package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What the tool says to a command line that makes no sense, and to a program that asks. */
class UsageTest {
  @TempDir Path dir;

  @Test
  void helpKnowsEveryVerb() {
    for (String verb : Segtool.commandLine().getSubcommands().keySet()) {
      Run help = Run.of("help", verb);

      assertThat(help.exitCode()).as(verb).isZero();
      assertThat(help.out()).contains("Usage: segtool " + verb);
      if (!verb.equals("help")) {
        assertThat(Run.of(verb, "--help").out()).isEqualTo(help.out());
      }
    }
  }

  @Test
  void aTypoInAnyVerbIsOneLineWithTheVerbThatIsMeant() {
    for (String verb : Segtool.commandLine().getSubcommands().keySet()) {
      if (verb.length() > 3) {
        requireOneLine(Run.of(verb.substring(0, 2) + verb.substring(3)), verb + "?", "--help");
      }
    }
  }

  @Test
  void aTypoInAnyOptionIsOneLineWithTheOptionThatIsMeant() {
    Segtool.commandLine()
        .getSubcommands()
        .forEach(
            (verb, line) ->
                line.getCommandSpec()
                    .optionsMap()
                    .keySet()
                    .forEach(
                        option -> {
                          if (option.length() > 5 && !verb.equals("help")) {
                            String typo = option.substring(0, 4) + option.substring(5);
                            requireOneLine(
                                Run.of(verb, typo),
                                "'" + typo + "', did you mean " + option + "?",
                                "segtool " + verb + " --help");
                          }
                        }));
    requireOneLine(Run.of("verify", "--lvel", "all", dir), "did you mean --level?");
    requireOneLine(Run.of("demo", "--token=3000"), "'--token', did you mean --tokens?");
    assertThat(Run.of("verify", dir, "--nothing-like-it").err()).doesNotContain("mean");
  }

  @Test
  void anyOtherWrongUsageIsOneLineToo() {
    requireOneLine(Run.of(), "a verb is missing");
    requireOneLine(Run.of("inspect"), "STORE");
    requireOneLine(Run.of("inspect", dir, dir), "one argument too many");
    requireOneLine(Run.of("verify", dir, "--level", "deep"), "--level");
    requireOneLine(Run.of("demo", "--tokens", "many"), "--tokens");
    requireOneLine(Run.of("demo", "--tokens", "2047"), "2048 to 1000000", "2047");
    requireOneLine(Run.of("demo", "--tokens", "1000001"), "2048 to 1000000");
    requireOneLine(Run.of("compact", dir, "--target-live-ratio", "1.5"), "0 to 1", "1.5");
    requireOneLine(Run.of("compact", dir, "--target-live-ratio", "NaN"), "0 to 1");
    requireOneLine(Run.of("compact", dir, "--max-bytes-written", "lots"), "lots");
    requireOneLine(Run.of("pin", dir, "--keep", "x"), "--boundary", "--deepest");
    requireOneLine(Run.of("pin", dir, "--deepest"), "--keep");
    requireOneLine(
        Run.of("pin", dir, "--keep", "x", "--boundary", "abcdef1"), "8 to 64 hex digits");
  }

  @Test
  void aNumberOrSizeThatIsNoneNamesItsOptionInEveryVerb() {
    Set<Class<?>> numbers =
        Set.of(int.class, Integer.class, long.class, Long.class, double.class, Duration.class);
    Set<String> tried = new TreeSet<>();
    Segtool.commandLine()
        .getSubcommands()
        .forEach(
            (verb, line) ->
                line.getCommandSpec().options().stream()
                    .filter(
                        option ->
                            numbers.contains(option.type())
                                || option.paramLabel().matches("SIZE|AGE|TOKENS"))
                    .forEach(
                        option -> {
                          tried.add(verb + " " + option.longestName());
                          requireOneLine(
                              Run.of(verb, option.longestName(), "abc"),
                              option.longestName(),
                              "abc");
                        }));
    assertThat(tried)
        .contains("estimate --tokens", "import --quota", "serve --memory", "tree --depth");
  }

  @Test
  void everyRangeIsInItsHelp() {
    assertThat(Run.of("demo", "--help").out()).contains("2048", "1000000");
    assertThat(Run.of("compact", "--help").out()).contains("0 to 1", "0.5", "1TiB");
  }

  @Test
  void helpIsWrittenInOneStyle() {
    Segtool.commandLine()
        .getSubcommands()
        .forEach(
            (verb, line) -> {
              if (!verb.equals("help")) {
                line.getCommandSpec()
                    .args()
                    .forEach(
                        arg -> {
                          String text = String.join(" ", arg.description());
                          assertThat(text).as(verb + ": " + arg).isNotEmpty().doesNotEndWith(".");
                          boolean word = Character.isLowerCase(text.charAt(1));
                          assertThat(word && Character.isUpperCase(text.charAt(0)))
                              .as(verb + ": " + text)
                              .isFalse();
                        });
              }
            });
  }

  @Test
  void replaySaysWhatTracesAndLayoutsThereAre() {
    assertThat(Run.of("replay", "--help").out().replaceAll("\\s+", " "))
        .contains("hash_ids", "chat_id", "L1 dense hybrid", "L9 small", "every N blocks");
  }

  @Test
  void withJsonEveryVerbSaysItsErrorsInJson() throws IOException {
    Path empty = Files.createDirectory(dir.resolve("empty"));
    for (List<Object> arguments :
        List.<List<Object>>of(
            List.of("inspect", empty, "--json"),
            List.of("verify", empty, "--json"),
            List.of("repair", empty, "--rebuild-manifest", "--json"),
            List.of("repair", empty, "--rebuild-manifest", "--apply", "--json"),
            List.of("compact", empty, "--json"),
            List.of("pin", empty, "--json"),
            List.of("replay", dir.resolve("none.jsonl"), "--json", "--layout", "qwen3-8b"),
            List.of("demo", "--tokens", "1", "--json"))) {
      Run plain = Run.of(arguments.stream().filter(a -> !a.equals("--json")).toArray());
      Run run = Run.of(arguments.toArray());

      JsonNode json = new ObjectMapper().readTree(run.out());
      String what = arguments.toString();
      assertThat(run.exitCode()).as(what).isEqualTo(plain.exitCode()).isNotZero();
      assertThat(plain.out()).as(what).isEmpty();
      assertThat(json.path("output_version").asInt()).as(what).isEqualTo(1);
      assertThat(json.path("command").asText()).isEqualTo(arguments.get(0));
      assertThat(json.path("error").path("code").asText()).as(what).isNotEmpty();
      assertThat(json.path("error").path("message").asText()).as(what).isNotEmpty();
      assertThat(json.path("error").path("remedy").asText()).as(what).isNotEmpty();
      assertThat(json.path("error").path("exit_code").asInt()).isEqualTo(run.exitCode());
      assertThat(Files.list(empty)).as(what).isEmpty();
    }
  }

  @Test
  void everyVerbThatAnswersHasJson() {
    Segtool.commandLine()
        .getSubcommands()
        .forEach(
            (verb, line) -> {
              if (!(line.getCommand() instanceof CommandLine.HelpCommand)) {
                assertThat(line.getCommandSpec().findOption("--json")).as(verb).isNotNull();
              }
            });
  }

  private static void requireOneLine(Run run, String... parts) {
    assertThat(run.exitCode()).as(run.err()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().strip()).startsWith("segtool: ").contains(parts).doesNotContain("\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--threads=0", "--port=-1", "--port=99999"})
  void serveRefusesNumbersThatAreNone(String option) {
    Run run = Run.of("serve", "nowhere", option);
    assertThat(run.exitCode()).as(run.err()).isEqualTo(2);
    assertThat(run.err()).contains(option.substring(0, option.indexOf('='))).doesNotContain("bug");
  }
}
