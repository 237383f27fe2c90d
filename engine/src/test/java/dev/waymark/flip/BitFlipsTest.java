package dev.waymark.flip;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.Codec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Some of the flips; the stage {@code bit_flips} makes all. */
class BitFlipsTest {
  private static final int EVERY = 24;

  @Test
  void aFlippedBitIsFoundOrIsInBytesThatTheFormatDeclaresUnread() throws Exception {
    long seed = Long.getLong("waymark.flips.seed", new SplittableRandom().nextInt());
    System.out.println("waymark.flips.seed = " + seed);
    assertThat(BitFlips.run(seed, EVERY))
        .hasSize(Codec.values().length + 1)
        .allSatisfy(count -> assertThat(count.found()).isGreaterThan(5_000))
        .allSatisfy(count -> System.out.println(count));
  }

  @Test
  void thePageStillSaysWhatIsNotRead() throws Exception {
    String page = Files.readString(Path.of("..", "format-spec", "FORMAT.md"));
    assertThat(page).contains(ReadRanges.RULE);
  }
}
