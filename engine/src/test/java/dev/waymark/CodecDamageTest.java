package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.management.ThreadMXBean;
import dev.waymark.error.RestoreMissException;
import dev.waymark.internal.codec.ChunkCodec;
import dev.waymark.internal.codec.ChunkCodecs;
import dev.waymark.internal.codec.CodecScratch;
import dev.waymark.internal.codec.LyingFrames;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.internal.wire.RecordDecoder;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Records in the files of a real store are changed, and then restored. A store holds as many points
 * of the same state as there are changes, so that it is opened once for all of them.
 */
class CodecDamageTest {
  private static final int BLOCK = 16;
  private static final byte UNTOUCHED = 0x5A;

  /** Four rows of 32, so that every codec takes it and the planes have something to gain. */
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.F32, 4, 32);

  private static final Layout LAYOUT = Layout.of(BLOCK, STATE);
  private static final int PARTS = Frame.HEADER_BYTES + RecordDecoder.BLOCK_LENGTH;
  private static final int PART = PARTS + 4;
  private static final int CHUNKS = PART + 48;
  private static final int CHUNK = CHUNKS + 4;

  @TempDir Path dir;

  /** The one record of a point, as bytes; what is changed in them is written back. */
  private static final class StoredRecord {
    final RecordLocation location;
    final ByteBuffer bytes;

    StoredRecord(RecordLocation location, byte[] bytes) {
      this.location = location;
      this.bytes = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    int partOffset() {
      return (int) bytes.getLong(PART + 40);
    }

    int partBytes() {
      return (int) bytes.getLong(PART + 32);
    }

    /** Makes all checksums those of what is there. */
    void seal() {
      CRC32C crc = new CRC32C();
      crc.update(bytes.array(), partOffset(), partBytes());
      bytes.putInt(CHUNK + 4, (int) crc.getValue());
      sealFront();
    }

    /** Makes the front's checksum that of what is there. */
    void sealFront() {
      UnsafeBuffer front = new UnsafeBuffer(bytes.array());
      Frame.seal(front, 0, Frame.lengthBytes(front, 0), Frame.tagOf(location.segmentId()));
    }
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void everyFlippedBitOfAStoredPartIsRefused(Codec codec) throws IOException {
    List<Consumer<StoredRecord>> flips = new ArrayList<>();
    int bits = 8 * storedBytes(codec);
    for (int bit = 0; bit < bits; bit++) {
      int at = bit;
      flips.add(
          record -> {
            int index = record.partOffset() + at / 8;
            record.bytes.put(index, (byte) (record.bytes.get(index) ^ 1 << at % 8));
          });
    }
    assertThat(flips).hasSizeGreaterThan(500);
    List<Throwable> failures = restoreChanged(codec, flips);
    for (int bit = 0; bit < bits; bit++) {
      assertThat(failures.get(bit)).as("bit %s", bit).isInstanceOf(RestoreMissException.class);
      assertThat(failures.get(bit).getCause()).hasMessageContaining("checksum");
    }
  }

  /** Content that a checksum vouches for, and that no encoder makes. */
  @Test
  void planesThatLieAreRefused() throws IOException {
    Map<String, Consumer<StoredRecord>> lies = new LinkedHashMap<>();
    int[] lengths = new int[4];
    forOneRecord(
        Codec.PLANES,
        record -> {
          for (int k = 0; k < 4; k++) {
            lengths[k] = record.bytes.getInt(record.partOffset() + 4 * k);
          }
        });
    assertThat(lengths[0]).as("a frame with room for lies").isBetween(24, 127);
    LyingFrames.of(lengths[0], 128)
        .forEach(
            (lie, frame) ->
                lies.put(
                    lie,
                    record -> {
                      System.arraycopy(
                          frame, 0, record.bytes.array(), record.partOffset() + 16, frame.length);
                      record.seal();
                    }));
    int[][] headers = {
      {0, lengths[1], lengths[2], lengths[3]},
      {-1, lengths[1], lengths[2], lengths[3]},
      {Integer.MIN_VALUE, Integer.MIN_VALUE, lengths[2], lengths[3]},
      {Integer.MAX_VALUE, lengths[1], lengths[2], lengths[3]},
      {129, lengths[1], lengths[2], lengths[3]},
      {lengths[0] - 1, lengths[1], lengths[2], lengths[3]},
      {lengths[0] + 1, lengths[1], lengths[2], lengths[3]},
      {lengths[0], lengths[1], lengths[2], lengths[3] + 1},
      {1 << 30, 1 << 30, 1 << 30, (1 << 30) + Arrays.stream(lengths).sum()},
    };
    for (int[] header : headers) {
      lies.put(
          "planes of " + Arrays.toString(header),
          record -> {
            for (int k = 0; k < 4; k++) {
              record.bytes.putInt(record.partOffset() + 4 * k, header[k]);
            }
            record.seal();
          });
    }
    assertRefused(Codec.PLANES, lies);
  }

  @ParameterizedTest
  @EnumSource(names = {"INT8", "RHT_INT8", "RHT_INT16"})
  void scalesThatCannotBeAreRefused(Codec codec) throws IOException {
    Map<String, Consumer<StoredRecord>> lies = new LinkedHashMap<>();
    for (float scale :
        new float[] {Float.NaN, Float.POSITIVE_INFINITY, -1, Float.MIN_VALUE, 1e38f}) {
      for (int row = 0; row < 4; row++) {
        int at = 4 * row;
        lies.put(
            "scale " + scale + " of row " + row,
            record -> {
              record.bytes.putFloat(record.partOffset() + at, scale);
              record.seal();
            });
      }
    }
    assertRefused(codec, lies);
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void frontsThatLieAreRefused(Codec codec) throws IOException {
    Map<String, Consumer<StoredRecord>> lies = new LinkedHashMap<>();
    int stored = storedBytes(codec);
    for (long value :
        new long[] {-1, 0, stored - 1, stored + 1, 1L << 32 | stored, Long.MAX_VALUE}) {
      lie(lies, "stored bytes of the part", PART + 32, 8, value);
    }
    for (long value : new long[] {-64, 0, 1 << 20, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE}) {
      lie(lies, "offset of the part", PART + 40, 8, value);
    }
    for (long value :
        new long[] {-1, 0, 127, 129, 1L << 32 | 128, Long.MAX_VALUE, Long.MIN_VALUE}) {
      lie(lies, "rows", PART + 24, 8, value);
    }
    for (long value : new long[] {-1, 1, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE}) {
      lie(lies, "first row", PART + 16, 8, value);
    }
    for (long value : new long[] {-1, 0, 2, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      lie(lies, "outer positions", PART + 8, 4, value);
      lie(lies, "chunks of the part", PART + 12, 4, value);
    }
    for (long value : new long[] {-1, 1, Integer.MAX_VALUE}) {
      lie(lies, "first outer position", PART + 4, 4, value);
    }
    for (long value : new long[] {1, 0x7FFF, 0xFFFF}) {
      lie(lies, "tensor", PART, 2, value);
    }
    for (long value : new long[] {6, 0x7F, 0xFF}) {
      lie(lies, "codec", PART + 2, 1, value);
    }
    lie(lies, "flags", PART + 3, 1, 1);
    for (long value :
        new long[] {
          0,
          stored - 1,
          stored + 1,
          1 << 20,
          Integer.MAX_VALUE,
          Integer.MIN_VALUE,
          Integer.MIN_VALUE | stored,
          -1
        }) {
      lie(lies, "stored bytes of the chunk", CHUNK, 4, value);
    }
    for (long value : new long[] {0, 2, 0x7FFF, 0xFFFF}) {
      lie(lies, "number of parts", PARTS + 2, 2, value);
      lie(lies, "number of chunks", CHUNKS + 2, 2, value);
    }
    assertRefused(codec, lies);
  }

  private static void lie(
      Map<String, Consumer<StoredRecord>> lies, String what, int at, int bytes, long value) {
    lies.put(
        what + " " + value,
        record -> {
          switch (bytes) {
            case 1 -> record.bytes.put(at, (byte) value);
            case 2 -> record.bytes.putShort(at, (short) value);
            case 4 -> record.bytes.putInt(at, (int) value);
            default -> record.bytes.putLong(at, value);
          }
          record.sealFront();
        });
  }

  private void assertRefused(Codec codec, Map<String, Consumer<StoredRecord>> lies)
      throws IOException {
    List<Throwable> failures = restoreChanged(codec, new ArrayList<>(lies.values()));
    int i = 0;
    for (String lie : lies.keySet()) {
      assertThat(failures.get(i++)).as(lie).isInstanceOf(RestoreMissException.class);
    }
  }

  /** What each restore throws, of points of which each had its record changed in its way. */
  private List<Throwable> restoreChanged(Codec codec, List<Consumer<StoredRecord>> changes)
      throws IOException {
    Path path = dir.resolve("changed");
    byte[] state = state();
    List<RecordLocation> records = store(path, codec, state, changes.size() + 1);
    for (int i = 0; i < changes.size(); i++) {
      change(path, records.get(i), changes.get(i));
    }
    List<Throwable> failures = new ArrayList<>();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (SnapshotStore store = SnapshotStore.open(path, options())) {
      Namespace ns = namespace(store, codec);
      // The last one was left alone; it also makes what room a restore takes.
      byte[] restored = restore(ns, changes.size());
      assertThat(restored).isEqualTo(decoded(codec, state));
      for (int i = 0; i < changes.size(); i++) {
        int point = i;
        long before = threads.getCurrentThreadAllocatedBytes();
        failures.add(catchThrowable(() -> restore(ns, point)));
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1 << 20);
      }
      assertThat(restore(ns, changes.size())).isEqualTo(restored);
      assertThat(store.stats().restoreMisses()).isEqualTo(changes.size());
    }
    return failures;
  }

  private static byte[] decoded(Codec codec, byte[] state) {
    if (codec == Codec.RAW) {
      return state;
    }
    ChunkCodec chunks = ChunkCodecs.of(codec, STATE);
    UnsafeBuffer stored = new UnsafeBuffer(new byte[state.length]);
    UnsafeBuffer decoded = new UnsafeBuffer(new byte[state.length]);
    try (CodecScratch scratch = new CodecScratch()) {
      int length = chunks.encode(scratch, new UnsafeBuffer(state), 0, state.length, stored, 0);
      chunks.decode(scratch, stored, 0, length, decoded, 0, state.length);
    }
    return decoded.byteArray();
  }

  private int storedBytes(Codec codec) throws IOException {
    int[] bytes = new int[1];
    forOneRecord(codec, record -> bytes[0] = record.partBytes());
    return bytes[0];
  }

  private void forOneRecord(Codec codec, Consumer<StoredRecord> look) throws IOException {
    Path path = dir.resolve("one");
    change(path, store(path, codec, state(), 1).get(0), look);
  }

  private static List<RecordLocation> store(Path path, Codec codec, byte[] state, int points) {
    List<RecordLocation> records = new ArrayList<>();
    try (SnapshotStore store = SnapshotStore.open(path, options())) {
      Namespace ns = namespace(store, codec);
      StateViews views =
          StateViews.builder().put(STATE, TensorView.value(STATE, ByteBuffer.wrap(state))).build();
      for (int i = 0; i < points; i++) {
        int[] prompt = prompt(i);
        PrefillPlan plan = PrefillPlan.tokens(prompt.length).policy(RestorePolicy.EVERY);
        try (PrefillSession session = ns.prefill(ns.match(prompt), plan)) {
          session.append(Arrays.copyOf(prompt, BLOCK), views);
          session.promptComplete();
        }
        var forest = store.engine().forest;
        records.add(forest.stateRecords(forest.find(1, ns.match(prompt).keyAt(BLOCK))).get(0));
      }
      assertThat(store.stats().chunksLeftRaw()).isZero();
    }
    return records;
  }

  private static void change(Path path, RecordLocation at, Consumer<StoredRecord> change)
      throws IOException {
    Path file = path.resolve(SegmentKind.DELTA.fileName(at.segmentId()));
    try (RandomAccessFile segment = new RandomAccessFile(file.toFile(), "rw")) {
      byte[] bytes = new byte[(int) at.lengthBytes()];
      segment.seek(at.offsetBytes());
      segment.readFully(bytes);
      change.accept(new StoredRecord(at, bytes));
      segment.seek(at.offsetBytes());
      segment.write(bytes);
    }
  }

  /** Nothing of what is refused may have reached the caller. */
  private static byte[] restore(Namespace ns, int point) {
    byte[] target = new byte[(int) LAYOUT.fixedBytes()];
    Arrays.fill(target, UNTOUCHED);
    try (RestoredState state = ns.match(prompt(point)).restore(BLOCK)) {
      state.read(STATE, TensorView.value(STATE, ByteBuffer.wrap(target)));
      state.finish();
      return target;
    } catch (RestoreMissException e) {
      assertThat(target).containsOnly(UNTOUCHED);
      throw e;
    }
  }

  /** Their upper halves are any bf16 from 1 to 2, their lowest bytes repeat themselves. */
  private static byte[] state() {
    ByteBuffer state = ByteBuffer.allocate(512).order(ByteOrder.LITTLE_ENDIAN);
    Random random = new Random(1);
    for (int i = 0; i < 128; i++) {
      state.putInt(0x3F80_0000 | random.nextInt(128) << 16 | i % 40);
    }
    return state.array();
  }

  private static int[] prompt(int point) {
    return new Random(point).ints(BLOCK + 1, 0, 1_000_000).toArray();
  }

  private static Namespace namespace(SnapshotStore store, Codec codec) {
    return store.namespace(TestStore.identity("w"), LAYOUT, CodecPlan.RAW.withFixed(codec));
  }

  /** All in the caller's thread, whose allocations are counted. */
  private static StoreOptions options() {
    return StoreOptions.builder()
        .quota("1GiB")
        .durability(Durability.NONE)
        .backgroundThread(false)
        .restoreThreads(1)
        .build();
  }
}
