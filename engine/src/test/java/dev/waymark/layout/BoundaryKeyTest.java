package dev.waymark.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class BoundaryKeyTest {
  private static final long SEED = 7;

  @Test
  void isItsBytes() {
    Random random = new Random(SEED);
    byte[] bytes = new byte[BoundaryKey.LENGTH_BYTES];
    for (int i = 0; i < 100; i++) {
      random.nextBytes(bytes);
      BoundaryKey key = BoundaryKey.of(bytes);
      assertThat(key.toBytes()).isEqualTo(bytes);
      assertThat(BoundaryKey.ofHex(key.toHex()))
          .isEqualTo(key)
          .hasSameHashCodeAs(key)
          .isNotSameAs(key);
      assertThat(key.abbreviated()).isEqualTo(key.toHex().substring(0, 8)).isEqualTo("" + key);
    }
  }

  @Test
  void everyBitCounts() {
    BoundaryKey key = BoundaryKey.of(new byte[BoundaryKey.LENGTH_BYTES]);
    for (int bit = 0; bit < 8 * BoundaryKey.LENGTH_BYTES; bit++) {
      byte[] other = key.toBytes();
      other[bit / 8] ^= (byte) (1 << bit % 8);
      assertThat(BoundaryKey.of(other)).isNotEqualTo(key).doesNotHaveSameHashCodeAs(key);
    }
    assertThat(key).isNotEqualTo(null).isNotEqualTo("key");
  }
}
