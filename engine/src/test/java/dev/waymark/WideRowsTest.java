package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.InvalidSettingException;
import dev.waymark.internal.codec.CodecScratch;
import dev.waymark.internal.codec.LossyCheck;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Row codecs on rows that are large beside a record, which here is of about 200 KiB: no row is cut
 * in two where it fits one, and one that does not is stored as it is, and counted as such.
 */
class WideRowsTest {
  private static final int ROWS = 7;

  @ParameterizedTest
  @CsvSource({
    "RHT_INT8, 4096, false",
    "RHT_INT16, 4096, false",
    "INT8, 4096, false",
    // 51 KiB are a quarter of a record.
    "INT8, 13100, false",
    "INT8, 16384, false",
    "INT8, 26000, false",
    "INT8, 40000, false",
    "INT8, 51900, false",
    // No record has room for one.
    "INT8, 65536, true",
    "INT8, 262144, true",
    // Too wide for the transform, or for the codec: stored raw from the start.
    "RHT_INT8, 8192, true",
    "INT8, 262145, true"
  })
  void fixedState(Codec codec, int width, boolean leftRaw) {
    TensorSpec spec = TensorSpec.fixed("s", DType.F32, ROWS, width);
    Layout layout = Layout.of(4, TensorSpec.rows("k", DType.BF16, 1, 1, -1, 8), spec);
    roundTrip(layout, spec, codec, leftRaw);
  }

  @ParameterizedTest
  @CsvSource({"RHT_INT8, 4096", "RHT_INT16, 4096", "INT8, 4096", "INT8, 6500"})
  void rowsOfTokens(Codec codec, int width) {
    TensorSpec spec = TensorSpec.rows("k", DType.F32, 1, ROWS, -1, width);
    roundTrip(Layout.of(4, spec), spec, codec, false);
  }

  @ParameterizedTest
  @CsvSource({"RHT_INT8, 4096", "RHT_INT16, 4096", "INT8, 6500"})
  void rowsOfAWindow(Codec codec, int width) {
    TensorSpec spec = TensorSpec.window("w", DType.F32, 4, 0, ROWS, -1, width);
    roundTrip(
        Layout.of(4, TensorSpec.rows("k", DType.BF16, 1, 1, -1, 8), spec), spec, codec, false);
  }

  @Test
  void aTokensRowThatDoesNotFitARecordIsRefused() {
    TensorSpec spec = TensorSpec.rows("k", DType.F32, 1, ROWS, -1, 65_536);
    try (TestStore test = new TestStore(TestStore.options("16MiB").build())) {
      assertThatThrownBy(
              () -> test.namespace(Layout.of(4, spec), CodecPlan.RAW.withTensor("k", Codec.INT8)))
          .isInstanceOf(InvalidSettingException.class)
          .hasMessageContaining("does not fit a segment");
    }
  }

  private static void roundTrip(Layout layout, TensorSpec spec, Codec codec, boolean leftRaw) {
    CodecPlan codecs = CodecPlan.RAW.withTensor(spec.name(), codec);
    int bytes = Math.toIntExact(spec.bytesOfRows(spec.rowsAfter(4)));
    ByteBuffer source = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    Random random = new Random(codec.ordinal() * 31L + bytes);
    int row = Math.toIntExact(spec.rowWidth());
    for (int i = 0; i < bytes / Float.BYTES; i++) {
      // Rows of very different magnitude: a scale that is not a row's own would show.
      source.putFloat(4 * i, (float) (random.nextGaussian() * Math.pow(1_000, i / row % 5 - 2)));
    }
    ByteBuffer target = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int[] prompt = {1, 2, 3, 4};
    try (TestStore test = new TestStore(TestStore.options("16MiB").verifyLossy(true).build())) {
      assertThat(test.store().engine().segments.sizing().segmentBytes()).isEqualTo(256 << 10);
      Namespace ns = test.namespace(layout, codecs);
      PrefillPlan plan = PrefillPlan.tokens(4).policy(RestorePolicy.EVERY);
      try (PrefillSession session = ns.prefill(ns.match(prompt), plan)) {
        session.append(prompt, views(layout, spec, source));
        session.promptComplete();
      }
      assertThat(test.store().stats().chunksLeftRaw() > 0).isEqualTo(leftRaw);
      try (RestoredState state = ns.match(Prompt.ofTokens(prompt), 4).restore()) {
        state.read(views(layout, spec, target));
        state.finish();
      }
      test.check();
    }
    boolean exact = leftRaw || source.equals(target);
    if (exact) {
      assertThat(target).isEqualTo(source);
      return;
    }
    double bound = LossyCheck.maxRelativeL2(codec, spec);
    try (CodecScratch scratch = new CodecScratch()) {
      for (int at = 0; at < bytes; at += row * Float.BYTES) {
        assertThat(
                LossyCheck.measure(
                        scratch,
                        codec,
                        spec,
                        new UnsafeBuffer(source),
                        at,
                        new UnsafeBuffer(target),
                        at,
                        row * Float.BYTES)
                    .isWithinBound())
            .as("row %d within %f", at / row / Float.BYTES, bound)
            .isTrue();
      }
    }
  }

  private static StateViews views(Layout layout, TensorSpec spec, ByteBuffer bytes) {
    StateViews.Builder builder = StateViews.builder();
    for (TensorSpec each : layout.tensors()) {
      ByteBuffer memory =
          each.equals(spec)
              ? bytes
              : ByteBuffer.allocate(Math.toIntExact(each.bytesOfRows(each.rowsAfter(4))));
      builder.put(
          each,
          each.isFixed()
              ? TensorView.value(each, memory)
              : TensorView.linear(
                  Memory.of(memory), 0, 4 * each.innerBytes(), each.innerBytes(), 0, 4));
    }
    return builder.build();
  }
}
