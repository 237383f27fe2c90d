package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.TensorInspector.TensorReport;
import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.internal.codec.CodecScratch;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Codecs from a caller's memory into the files of a real store and back. */
class CodecStoreTest {
  private static final int BLOCK = 16;
  private static final int TOKENS = 80;
  private static final int WIDTH = 64;
  private static final long AXIS = TensorSpec.TOKEN_AXIS;
  private static final DType[] FLOATS = {DType.F32, DType.BF16, DType.F16};

  @TempDir Path dir;

  /**
   * Rows, windows and fixed state of each type, from strides and rings into others. What comes back
   * is to the bit what the codec makes of each row alone.
   */
  @ParameterizedTest
  @EnumSource(Codec.class)
  void everyTypeAndGrowth(Codec codec) {
    List<TensorSpec> specs = new ArrayList<>();
    for (DType dtype : FLOATS) {
      specs.add(TensorSpec.rows("rows " + dtype, dtype, 1, 2, AXIS, WIDTH));
      specs.add(TensorSpec.rows("pool " + dtype, dtype, 4, 1, AXIS, WIDTH));
      specs.add(TensorSpec.window("window " + dtype, dtype, 24, 2, 2, AXIS, WIDTH));
      specs.add(TensorSpec.fixed("state " + dtype, dtype, 5, WIDTH));
    }
    Layout layout = Layout.of(BLOCK, specs);
    CodecPlan plan = new CodecPlan(codec, codec, codec, Map.of());
    Random random = new Random(codec.ordinal());
    int[] prompt = random.ints(TOKENS + 1, 0, 1_000_000).toArray();
    for (boolean verify : new boolean[] {false, true}) {
      Path path = dir.resolve("store " + verify);
      try (SnapshotStore store = SnapshotStore.open(path, options().verifyLossy(verify).build())) {
        Namespace ns = store.namespace(TestStore.identity("w"), layout, plan);
        PrefillPlan prefill = PrefillPlan.tokens(prompt.length).policy(RestorePolicy.EVERY);
        try (PrefillSession session = ns.prefill(ns.match(prompt), prefill)) {
          for (int from = 0; from < TOKENS; from += BLOCK) {
            session.append(
                Arrays.copyOfRange(prompt, from, from + BLOCK),
                sources(random, layout, from, from + BLOCK));
          }
          session.promptComplete();
        }
        long unfit = specs.stream().filter(s -> !ChunkCodecs.applicable(codec, s)).count();
        assertThat(store.stats().chunksLeftRaw() > 0).isEqualTo(unfit > 0);
      }
      try (SnapshotStore store = SnapshotStore.open(path, options().build())) {
        Namespace ns = store.namespace(TestStore.identity("w"), layout, plan);
        for (int at : ns.match(prompt).points()) {
          assertRestores(random, ns.match(prompt), at, codec);
        }
        assertThat(ns.match(prompt).points()).contains(TOKENS);
      }
      for (TensorReport tensor : TensorInspector.inspect(path).tensors()) {
        boolean fits = ChunkCodecs.applicable(codec, tensor.spec());
        assertThat(tensor.asked()).isEqualTo(codec);
        assertThat(tensor.parts()).as(tensor.spec().name()).isPositive();
        assertThat(tensor.partsRaw()).isEqualTo(fits ? 0 : tensor.parts());
        assertThat(tensor.storedBytes() < tensor.rawBytes())
            .as("%s", tensor)
            .isEqualTo(fits && codec != Codec.RAW);
      }
    }
  }

  private static StateViews sources(Random random, Layout layout, int from, int to) {
    StateViews.Builder views = StateViews.builder();
    for (TensorSpec spec : layout.tensors()) {
      CallerTensor tensor = CallerTensor.source(random, spec, from, to);
      int elements = tensor.cellBytes() / spec.dtype().sizeBytes();
      for (int outer = 0; outer < spec.outer(); outer++) {
        for (long row : tensor.rows()) {
          tensor.put(outer, row, values(spec, outer, row, elements));
        }
      }
      views.put(spec, tensor.view());
    }
    return views.build();
  }

  private static void assertRestores(Random random, PrefixMatch match, int at, Codec codec) {
    try (RestoredState state = match.restore(at);
        CodecScratch scratch = new CodecScratch()) {
      List<CallerTensor> targets = new ArrayList<>();
      for (TensorSpec spec : match.namespace().layout().tensors()) {
        CallerTensor target = CallerTensor.target(random, spec, at);
        state.read(spec, target.view());
        targets.add(target);
      }
      state.finish();
      for (CallerTensor target : targets) {
        TensorSpec spec = target.spec();
        byte[] found = new byte[target.cellBytes()];
        for (int outer = 0; outer < spec.outer(); outer++) {
          for (long row = state.firstRow(spec); row < state.endRow(spec); row++) {
            if (spec.isFixed() && row > 0) {
              break;
            }
            target.get(outer, row, found);
            byte[] raw = values(spec, outer, row, found.length / spec.dtype().sizeBytes());
            assertThat(found)
                .as("row %s of %s at %s tokens", row, spec.name(), at)
                .isEqualTo(decoded(codec, spec, raw, scratch));
          }
        }
      }
    }
  }

  private static byte[] decoded(Codec codec, TensorSpec spec, byte[] raw, CodecScratch scratch) {
    if (!codec.isLossy() || !ChunkCodecs.applicable(codec, spec)) {
      return raw;
    }
    ChunkCodec chunks = ChunkCodecs.of(codec, spec);
    UnsafeBuffer stored = new UnsafeBuffer(new byte[raw.length]);
    UnsafeBuffer decoded = new UnsafeBuffer(new byte[raw.length]);
    int length = chunks.encode(scratch, new UnsafeBuffer(raw), 0, raw.length, stored, 0);
    chunks.decode(scratch, stored, 0, length, decoded, 0, raw.length);
    return decoded.byteArray();
  }

  /** Any signs and mantissas from 1/4 to 4, which follow from the place. */
  private static byte[] values(TensorSpec spec, int outer, long row, int elements) {
    SplittableRandom random = new SplittableRandom(spec.name().hashCode() + 31 * outer + 977 * row);
    ByteBuffer values =
        ByteBuffer.allocate(elements * spec.dtype().sizeBytes()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < elements; i++) {
      float value = (float) (random.nextBoolean() ? 1 : -1) * (0.25f + 3.75f * random.nextFloat());
      int bits = Float.floatToRawIntBits(value);
      switch (spec.dtype()) {
        case F32 -> values.putInt(bits);
        case BF16 -> values.putShort((short) (bits >>> 16));
        // The exponent is 112 less, and the mantissa 13 bits shorter.
        default ->
            values.putShort(
                (short) (bits >>> 16 & 0x8000 | (bits & 0x7FFF_FFFF) - (112 << 23) >>> 13));
      }
    }
    return values.array();
  }

  /** 48 layers, each with a state of [48, 128, 128] in f32 and a convolution of [3, 10240]. */
  @ParameterizedTest
  @EnumSource(names = {"RHT_INT8", "RHT_INT16"})
  void recurrentStateOfAHybridModelToTheByte(Codec codec) {
    List<TensorSpec> specs = new ArrayList<>();
    for (int i = 0; i < 48; i++) {
      specs.add(TensorSpec.fixed("state." + i, DType.F32, 48, 128, 128));
      specs.add(TensorSpec.fixed("conv." + i, DType.BF16, 3, 10_240));
    }
    Layout layout = Layout.of(BLOCK, specs);
    // All layers look at the same values.
    byte[] state = values(specs.get(0), 0, 0, 48 * 128 * 128);
    byte[] conv = values(specs.get(1), 0, 0, 3 * 10_240);
    StateViews.Builder views = StateViews.builder();
    for (TensorSpec spec : specs) {
      byte[] bytes = spec.dtype() == DType.F32 ? state : conv;
      views.put(spec, TensorView.value(spec, ByteBuffer.wrap(bytes)));
    }
    store(dir, layout, CodecPlan.RAW.withFixed(codec), views.build());

    List<TensorReport> tensors = TensorInspector.inspect(dir).tensors();

    assertThat(tensors.stream().mapToLong(TensorReport::rawBytes).sum()).isEqualTo(153_944_064L);
    assertThat(tensors.stream().mapToLong(TensorReport::storedBytes).sum())
        .isEqualTo(codec == Codec.RHT_INT8 ? 41_877_504L : 79_626_240L);
    for (TensorReport tensor : tensors) {
      if (tensor.spec().dtype() == DType.BF16) {
        assertThat(tensor.storedBytes()).isEqualTo(tensor.rawBytes());
        assertThat(tensor.chunksRaw()).isEqualTo(tensor.chunks());
      } else {
        assertThat(tensor.chunksRaw()).isZero();
      }
    }
  }

  @Test
  void whatIsStoredRawComesBackWholeIsCountedAndSaysWhy() {
    TensorSpec nan = TensorSpec.fixed("nan", DType.F32, 4, 64);
    TensorSpec infinite = TensorSpec.fixed("infinite", DType.BF16, 4, 64);
    TensorSpec odd = TensorSpec.fixed("odd", DType.F32, 4, 96);
    TensorSpec ints = TensorSpec.fixed("ints", DType.I32, 4, 64);
    TensorSpec good = TensorSpec.fixed("good", DType.F32, 4, 64);
    Layout layout = Layout.of(BLOCK, nan, infinite, odd, ints, good);
    StateViews.Builder views = StateViews.builder();
    List<byte[]> raw = new ArrayList<>();
    for (TensorSpec spec : layout.tensors()) {
      byte[] bytes = values(good, 0, 0, (int) spec.bytesOfRows(spec.rowsAfter(0)) / 4);
      raw.add(bytes);
      views.put(spec, TensorView.value(spec, ByteBuffer.wrap(bytes)));
    }
    ByteBuffer.wrap(raw.get(0)).order(ByteOrder.LITTLE_ENDIAN).putFloat(77 * 4, Float.NaN);
    // Random bits of f32 are no bf16 near one: what they are is replaced.
    byte[] halves = values(infinite, 0, 0, 256);
    ByteBuffer.wrap(halves).order(ByteOrder.LITTLE_ENDIAN).putShort(510, (short) 0xFF80);
    raw.set(1, halves);
    views.put(infinite, TensorView.value(infinite, ByteBuffer.wrap(halves)));
    StoreStats stats = store(dir, layout, CodecPlan.RAW.withFixed(Codec.RHT_INT8), views.build());

    assertThat(stats.chunksLeftRaw()).isEqualTo(4);
    Map<String, Map<String, Long>> reasons = new java.util.HashMap<>();
    for (TensorReport tensor : TensorInspector.inspect(dir).tensors()) {
      reasons.put(tensor.spec().name(), tensor.reasons());
      assertThat(tensor.partsRaw()).isEqualTo(tensor.reasons().isEmpty() ? 0 : 1);
    }
    assertThat(reasons)
        .containsEntry("nan", Map.of("a value is not finite", 1L))
        .containsEntry("infinite", Map.of("a value is not finite", 1L))
        .containsEntry("odd", Map.of("the row is not a power of two wide", 1L))
        .containsEntry("ints", Map.of("the codec does not take this element type", 1L))
        .containsEntry("good", Map.of());
    try (SnapshotStore store = SnapshotStore.open(dir, options().build())) {
      Namespace ns =
          store.namespace(TestStore.identity("w"), layout, CodecPlan.RAW.withFixed(Codec.RHT_INT8));
      try (RestoredState state = ns.match(prompt()).restore(BLOCK)) {
        List<byte[]> restored = new ArrayList<>();
        for (TensorSpec spec : layout.tensors()) {
          byte[] bytes = new byte[(int) spec.bytesOfRows(spec.rowsAfter(0))];
          restored.add(bytes);
          state.read(spec, TensorView.value(spec, ByteBuffer.wrap(bytes)));
        }
        state.finish();
        for (int i = 0; i < 4; i++) {
          assertThat(restored.get(i)).isEqualTo(raw.get(i));
        }
        assertThat(restored.get(4)).isNotEqualTo(raw.get(4));
      }
    }
  }

  @Test
  void noiseInPlanesTakesNoMoreThanRaw() {
    TensorSpec spec = TensorSpec.fixed("noise", DType.BF16, 300, 1024);
    Layout layout = Layout.of(BLOCK, spec);
    byte[] noise = new byte[300 * 1024 * 2];
    new Random(4).nextBytes(noise);
    StateViews views =
        StateViews.builder().put(spec, TensorView.value(spec, ByteBuffer.wrap(noise))).build();
    long raw = store(dir.resolve("raw"), layout, CodecPlan.RAW, views).liveBytes();
    StoreStats planes = store(dir.resolve("planes"), layout, CodecPlan.PLANES, views);

    assertThat(planes.liveBytes()).isEqualTo(raw);
    assertThat(planes.chunksLeftRaw()).isEqualTo(1);
    assertThat(TensorInspector.inspect(dir.resolve("planes")).tensors())
        .singleElement()
        .satisfies(
            tensor -> {
              assertThat(tensor.ratio()).isEqualTo(1);
              assertThat(tensor.reasons())
                  .isEqualTo(Map.of("encoding does not make it smaller", 1L));
            });
  }

  /** One point at the end of a prompt of one block. */
  private static StoreStats store(Path path, Layout layout, CodecPlan codecs, StateViews views) {
    try (SnapshotStore store = SnapshotStore.open(path, options().build())) {
      Namespace ns = store.namespace(TestStore.identity("w"), layout, codecs);
      int[] prompt = prompt();
      PrefillPlan plan = PrefillPlan.tokens(prompt.length).policy(RestorePolicy.EVERY);
      try (PrefillSession session = ns.prefill(ns.match(prompt), plan)) {
        session.append(Arrays.copyOf(prompt, BLOCK), views);
        session.promptComplete();
      }
      return store.stats();
    }
  }

  private static int[] prompt() {
    return new Random(1).ints(BLOCK + 1, 0, 1_000_000).toArray();
  }

  private static StoreOptions.Builder options() {
    return TestStore.options("1GiB").durability(Durability.NONE);
  }
}
