package dev.waymark.tools.replay;

import static dev.waymark.layout.TensorSpec.TOKEN_AXIS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.math.BigInteger;
import org.junit.jupiter.api.Test;

class BundleCostsTest {
  private static final Layout LAYOUT =
      Layout.of(
          8,
          TensorSpec.rows("k", DType.BF16, 1, 2, TOKEN_AXIS, 3),
          TensorSpec.rows("pool", DType.F32, 16, TOKEN_AXIS),
          TensorSpec.window("w", DType.U8, 20, 4, TOKEN_AXIS, 1),
          TensorSpec.fixed("s", DType.F32, 5));

  @Test
  void eachBundleHoldsThePrefixItsWindowAndItsState() {
    BundleCosts costs = new BundleCosts(LAYOUT);
    long sum = 0;
    for (int blocks = 1; blocks <= 6; blocks++) {
      int tokens = 8 * blocks;
      long bundle = 12L * tokens + 4L * (tokens / 16) + Math.min(tokens, 24) + 20;
      assertThat(costs.bundleBytes(blocks)).isEqualTo(BigInteger.valueOf(bundle));
      assertThat(bundle)
          .isEqualTo(
              LAYOUT.rowBytes(0, tokens) + LAYOUT.windowBytes(0, tokens) + LAYOUT.fixedBytes());
      sum += bundle;
    }
    costs.add(6);
    costs.add(0);
    assertThat(costs.everyBoundaryBytes()).isEqualTo(BigInteger.valueOf(sum));
    assertThat(costs.everyRequestBytes()).isEqualTo(costs.bundleBytes(6));
    costs.add(1);
    costs.add(6);
    BigInteger first = costs.bundleBytes(1);
    assertThat(costs.everyBoundaryBytes()).isEqualTo(BigInteger.valueOf(2 * sum).add(first));
    assertThat(costs.everyRequestBytes())
        .isEqualTo(costs.bundleBytes(6).multiply(BigInteger.TWO).add(first));
  }

  @Test
  void anUnsliceableComposite() {
    // 41 boundaries of 2,048 tokens: the whole prefix in each file is 21 times what is new.
    BundleCosts costs = new BundleCosts(LayoutCatalog.layout(LayoutCatalog.Entry.L5, 2_048));
    costs.add(41);
    assertThat(costs.everyBoundaryBytes())
        .isEqualTo(BigInteger.valueOf(21L * 41 * 2_048 * 163_840));
  }

  @Test
  void countsBeyond64Bits() {
    Layout wide = Layout.of(1 << 30, TensorSpec.rows("k", DType.U8, 1, TOKEN_AXIS, 1L << 40));
    BundleCosts costs = new BundleCosts(wide);
    costs.add(3);
    assertThat(costs.everyBoundaryBytes())
        .isEqualTo(BigInteger.ONE.shiftLeft(70).multiply(BigInteger.valueOf(6)));
  }
}
