package dev.waymark.jmh;

import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.internal.codec.CodecScratch;
import dev.waymark.jmh.Report.Goal;
import dev.waymark.layout.Codec;
import dev.waymark.layout.DType;
import dev.waymark.layout.TensorSpec;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Encoding and decoding of chunks of 1 MiB of normals, beside memcpy of the same raw bytes. The
 * chunks together are larger than a core's share of the caches, as a prefill's are.
 *
 * <p>The methods are for profiling one codec. Ratios to memcpy come from {@link #main} and the
 * suite, which take turns in shuffled order within one run, and count the thread's own processor
 * time, so that neighbours on the machine do not decide them.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@OperationsPerInvocation(CodecBench.CHUNKS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CodecBench {
  static final int CHUNKS = 64;
  private static final int CHUNK_BYTES = 1 << 20;
  private static final int ROW_WIDTH = 128;
  private static final int ROUNDS = 31;
  private static final String RATIO = "ratio";
  private static final String ENCODE = "encode";
  private static final String DECODE = "decode";
  private static final String COPY = "memcpy";
  private static final Map<String, Map<String, Double>> GOALS =
      Map.of(
          "PLANES_BF16", Map.of(ENCODE, 0.035, DECODE, 0.12),
          "RHT_INT8_F32", Map.of(ENCODE, 0.08, DECODE, 0.10));

  /** Codec and element type. */
  @Param({
    "PLANES_BF16",
    "PLANES_F32",
    "BF16_F32",
    "INT8_F32",
    "INT8_BF16",
    "RHT_INT8_F32",
    "RHT_INT8_BF16",
    "RHT_INT16_F32"
  })
  public String subject;

  private final int[] storedLengths = new int[CHUNKS];
  private ChunkCodec codec;
  private CodecScratch scratch;
  private UnsafeBuffer raw;
  private UnsafeBuffer stored;
  private UnsafeBuffer decoded;

  /** Fills the raw chunks, and the stored ones, so that decoding has what to decode. */
  @Setup(Level.Trial)
  public void setUp() {
    int split = subject.lastIndexOf('_');
    DType dtype = DType.valueOf(subject.substring(split + 1));
    TensorSpec tensor = TensorSpec.fixed("t", dtype, CHUNK_BYTES, ROW_WIDTH);
    codec = ChunkCodecs.of(Codec.valueOf(subject.substring(0, split)), tensor);
    scratch = new CodecScratch();
    raw = normals(dtype);
    stored = new UnsafeBuffer(ByteBuffer.allocateDirect(CHUNKS * CHUNK_BYTES));
    decoded = new UnsafeBuffer(ByteBuffer.allocateDirect(CHUNKS * CHUNK_BYTES));
    encode();
    decode();
  }

  /** Gives the scratch back. */
  @TearDown(Level.Trial)
  public void tearDown() {
    scratch.close();
  }

  /** Copies the raw chunks, one by one. */
  @Benchmark
  public void memcpy() {
    for (int i = 0; i < CHUNKS; i++) {
      decoded.putBytes(i * CHUNK_BYTES, raw, i * CHUNK_BYTES, CHUNK_BYTES);
    }
  }

  /** Encodes the raw chunks. */
  @Benchmark
  public void encode() {
    for (int i = 0; i < CHUNKS; i++) {
      int at = i * CHUNK_BYTES;
      storedLengths[i] = codec.encode(scratch, raw, at, CHUNK_BYTES, stored, at);
      if (storedLengths[i] < 0) {
        throw new IllegalStateException("a chunk of normals was left raw");
      }
    }
  }

  /** Decodes the stored chunks. */
  @Benchmark
  public void decode() {
    for (int i = 0; i < CHUNKS; i++) {
      int at = i * CHUNK_BYTES;
      codec.decode(scratch, stored, at, storedLengths[i], decoded, at, CHUNK_BYTES);
    }
  }

  /**
   * Prints, for each codec, its speed over memcpy's, on one thread. With {@code threads} as the
   * first argument, how much two threads do over one, by the clock: for an idle machine only.
   * Further arguments name the subjects.
   */
  public static void main(String[] args) throws Exception {
    boolean threads = args.length > 0 && args[0].equals("threads");
    String[] subjects = Arrays.copyOfRange(args, threads ? 1 : 0, args.length);
    if (subjects.length == 0) {
      subjects = CodecBench.class.getField("subject").getAnnotation(Param.class).value();
    }
    if (threads) {
      System.out.println("two threads over one, wall time: min / median / max");
    }
    for (String subject : subjects) {
      if (threads) {
        twoThreads(subject);
      } else {
        row(new Bed(Form.WHOLE, Path.of(""), Report.empty(Form.WHOLE, "", 1)), subject);
      }
    }
  }

  static void run(Bed bed) throws Exception {
    String[] subjects = CodecBench.class.getField("subject").getAnnotation(Param.class).value();
    for (String subject : bed.form().isSmoke() ? GOALS.keySet() : List.of(subjects)) {
      row(bed, subject);
    }
  }

  private static void row(Bed bed, String subject) throws Exception {
    CodecBench bench = of(subject);
    Map<String, Bed.Turn> turns = new LinkedHashMap<>();
    turns.put(ENCODE, () -> processorRate(bench::encode));
    turns.put(DECODE, () -> processorRate(bench::decode));
    turns.put(COPY, () -> processorRate(bench::memcpy));
    boolean smoke = bed.form().isSmoke();
    int rounds = smoke ? 1 : bed.form() == Form.SHORT ? ROUNDS / 2 : ROUNDS;
    Map<String, double[]> rates = bed.turns(turns, smoke ? 0 : 5, rounds);
    for (String direction : List.of(ENCODE, DECODE)) {
      Map<String, double[]> series = new LinkedHashMap<>();
      series.put(direction, rates.get(direction));
      series.put(COPY, rates.get(COPY));
      Double bound = GOALS.getOrDefault(subject, Map.of()).get(direction);
      bed.add(
          new Report.Row(
              "codecs",
              subject,
              "GB/s of processor time",
              series,
              bound == null ? List.of() : List.of(new Goal(direction, List.of(COPY), true, bound)),
              "one thread, %d MiB of normals in chunks of 1 MiB".formatted(CHUNKS)));
    }
    double stored = Arrays.stream(bench.storedLengths).asLongStream().sum();
    bed.add(
        new Report.Row(
            "codecs",
            subject + ", size",
            "raw bytes over stored ones",
            Map.of(RATIO, new double[] {(double) CHUNKS * CHUNK_BYTES / stored}),
            subject.equals("PLANES_BF16")
                ? List.of(new Goal(RATIO, List.of(), true, 1.44))
                : List.of(),
            ""));
    bench.tearDown();
  }

  private static double processorRate(Runnable turn) {
    ThreadMXBean time = ManagementFactory.getThreadMXBean();
    long start = time.getCurrentThreadCpuTime();
    turn.run();
    return (double) CHUNKS * CHUNK_BYTES / (time.getCurrentThreadCpuTime() - start);
  }

  private static void twoThreads(String subject) throws Exception {
    CodecBench a = of(subject);
    CodecBench b = of(subject);
    ExecutorService pool = Executors.newFixedThreadPool(2);
    double[] encode = new double[ROUNDS];
    double[] decode = new double[ROUNDS];
    for (int round = -3; round < ROUNDS; round++) {
      double encodeGain = 2 * wall(pool, a::encode) / wall(pool, a::encode, b::encode);
      double decodeGain = 2 * wall(pool, a::decode) / wall(pool, a::decode, b::decode);
      if (round >= 0) {
        encode[round] = encodeGain;
        decode[round] = decodeGain;
      }
    }
    pool.shutdown();
    System.out.printf("%-14s encode %s  decode %s%n", subject, spread(encode), spread(decode));
    a.tearDown();
    b.tearDown();
  }

  /** Nanoseconds until all have run, each on its thread, started together. */
  private static double wall(ExecutorService pool, Runnable... all) throws Exception {
    CyclicBarrier start = new CyclicBarrier(all.length + 1);
    List<Future<Void>> results = new ArrayList<>();
    for (Runnable one : all) {
      Callable<Void> call =
          () -> {
            start.await();
            one.run();
            return null;
          };
      results.add(pool.submit(call));
    }
    start.await();
    long from = System.nanoTime();
    for (Future<Void> result : results) {
      result.get();
    }
    return System.nanoTime() - from;
  }

  private static CodecBench of(String subject) {
    CodecBench bench = new CodecBench();
    bench.subject = subject;
    bench.setUp();
    return bench;
  }

  private static String spread(double[] ratios) {
    Arrays.sort(ratios);
    return "%.3f / %.3f / %.3f"
        .formatted(ratios[0], ratios[ratios.length / 2], ratios[ratios.length - 1]);
  }

  private static UnsafeBuffer normals(DType dtype) {
    ByteBuffer buffer =
        ByteBuffer.allocateDirect(CHUNKS * CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    Random random = new Random(7);
    while (buffer.hasRemaining()) {
      float value = (float) random.nextGaussian();
      if (dtype == DType.F32) {
        buffer.putFloat(value);
      } else {
        int bits = Float.floatToRawIntBits(value);
        buffer.putShort((short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16));
      }
    }
    return new UnsafeBuffer(buffer);
  }
}
