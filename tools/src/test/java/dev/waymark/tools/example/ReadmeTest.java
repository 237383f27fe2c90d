package dev.waymark.tools.example;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.io.JvmFlags;
import dev.waymark.tools.example.PrefixCacheExample.MyCache;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadmeTest {
  private static final Path SOURCE =
      Path.of("src/main/java/dev/waymark/tools/example/PrefixCacheExample.java");
  private static final Pattern PART =
      Pattern.compile("(?s)// README: (?!end)[^\n]*\n(.*?)\n *// README: end");
  private static final Pattern BLOCK = Pattern.compile("(?s)```java\n(.*?)\n```");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)\\)");

  @TempDir Path dir;

  @Test
  void itsCodeIsTheExamples() throws IOException {
    List<String> parts =
        found(PART, Files.readString(SOURCE)).stream()
            .map(part -> part.stripTrailing().stripIndent())
            .toList();

    assertThat(found(BLOCK, readme())).hasSize(3).isEqualTo(parts);
  }

  @Test
  void theExampleRestoresWhatItComputed() {
    int[] tokens = new Random(1).ints(3_000, 0, 50_000).toArray();
    MyCache first = new MyCache(4_000);
    MyCache second = new MyCache(3_000);

    PrefixCacheExample.prefill(dir.resolve("store"), Arrays.copyOf(tokens, 2_000), first);
    PrefixCacheExample.prefill(dir.resolve("store"), tokens, second);

    MyCache alone = new MyCache(3_000);
    alone.compute(tokens, 0, tokens.length);
    assertThat(first.computedTokens).isEqualTo(2_000);
    assertThat(second.computedTokens).isEqualTo(3_000 - 1_792);
    assertThat(second.keys).isEqualTo(alone.keys);
    assertThat(second.recent).isEqualTo(alone.recent);
    assertThat(second.recurrent).isEqualTo(alone.recurrent);
  }

  @Test
  void itNamesEveryFlag() throws IOException {
    assertThat(readme()).contains(JvmFlags.line().split(" "));
  }

  @Test
  void whatItLinksToIsThere() throws IOException {
    assertThat(found(LINK, readme()))
        .isNotEmpty()
        .allSatisfy(link -> assertThat(Path.of("..").resolve(link)).exists());
  }

  private static String readme() throws IOException {
    return Files.readString(Path.of("../README.md"));
  }

  private static List<String> found(Pattern pattern, String text) {
    List<String> found = new ArrayList<>();
    Matcher matcher = pattern.matcher(text);
    while (matcher.find()) {
      found.add(matcher.group(1));
    }
    return found;
  }
}
