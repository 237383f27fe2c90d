package dev.waymark.flip;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.fuzz.MemoryDirectory;
import dev.waymark.internal.check.ReadOnlyStore;
import dev.waymark.internal.check.SegmentAccount;
import dev.waymark.internal.check.StoreLook;
import dev.waymark.internal.check.Verifier;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.log.SpaceGate;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.ManifestEnd;
import dev.waymark.internal.manifest.Status;
import dev.waymark.internal.manifest.StatusFile;
import dev.waymark.internal.recover.LoadedStore;
import dev.waymark.layout.Codec;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Flips bits of small stores, one at a time: all bits of the segments of one store for each codec,
 * and of the manifest, CURRENT and STATUS of one with many edits. A flip in a byte that the format
 * says is read has to be found; one in any other byte has to change nothing that is found or
 * restored.
 */
final class BitFlips {
  /** At one byte in so many the whole verifier is asked, too. */
  private static final int VERIFIED_BYTES = 509;

  /**
   * Reading a manifest takes longer than looking at a segment: so many take turns with its bits.
   */
  private static final int EDIT_PARTS = 4;

  private final Map<String, byte[]> files;
  private final String store;
  private final long seed;
  private final int every;
  private final int part;
  private final int parts;

  /** How many flips were found, and how many were in bytes that nothing reads. */
  record Count(String store, long found, long unread) {
    private Count plus(Count other) {
      return new Count(store, found + other.found, unread + other.unread);
    }

    @Override
    public String toString() {
      return store
          + ": "
          + (found + unread)
          + " bits flipped, "
          + found
          + " found, "
          + unread
          + " in bytes that are not read, 0 missed";
    }
  }

  private BitFlips(
      String store, Map<String, byte[]> files, long seed, int every, int part, int parts) {
    this.store = store;
    this.files = new TreeMap<>();
    files.forEach((name, bytes) -> this.files.put(name, bytes.clone()));
    this.seed = seed;
    this.every = every;
    this.part = part;
    this.parts = parts;
  }

  /** Flips every bit. */
  public static void main(String[] arguments) throws Exception {
    int every = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1;
    long seed = arguments.length > 1 ? Long.parseLong(arguments[1]) : 1;
    for (Count count : run(seed, every)) {
      System.out.println(count);
    }
  }

  /**
   * Flips one in so many bits of all stores, chosen by the seed.
   *
   * @throws AssertionError at the first flip that was missed
   */
  static List<Count> run(long seed, int every) throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      List<Future<Count>> counts = new ArrayList<>();
      Map<String, byte[]> edits = SmallStore.ofEdits();
      for (int part = 0; part < EDIT_PARTS; part++) {
        BitFlips flips = new BitFlips("edits", edits, seed, every, part, EDIT_PARTS);
        counts.add(threads.submit(flips::edits));
      }
      for (Codec codec : Codec.values()) {
        counts.add(
            threads.submit(
                () ->
                    new BitFlips(codec.name(), SmallStore.ofSegments(codec), seed, every, 0, 1)
                        .segments(codec)));
      }
      Map<String, Count> all = new LinkedHashMap<>();
      for (Future<Count> count : counts) {
        all.merge(count.get().store(), count.get(), Count::plus);
      }
      return List.copyOf(all.values());
    } catch (ExecutionException e) {
      throw new AssertionError("flips of seed " + seed + ": " + e.getCause().getMessage(), e);
    } finally {
      threads.shutdownNow();
    }
  }

  private interface Flipped {
    /** Says whether the flip was found. */
    boolean isFound(int offset);
  }

  /** Flips bits of a file, which the directory sees. */
  private Count flip(String name, BitSet read, Flipped look) {
    byte[] bytes = files.get(name);
    SplittableRandom random = new SplittableRandom(seed + name.hashCode());
    long found = 0;
    long unread = 0;
    for (long bit = 0; bit < bytes.length * 8L; bit++) {
      boolean chosen = every == 1 || random.nextInt(every) == 0;
      if (!chosen || bit % parts != part) {
        continue;
      }
      int at = (int) (bit / 8);
      byte mask = (byte) (1 << (bit % 8));
      bytes[at] ^= mask;
      if (look.isFound(at) != read.get(at)) {
        throw new AssertionError(
            "store "
                + store
                + ", "
                + name
                + ", bit "
                + (bit % 8)
                + " of byte "
                + at
                + (read.get(at) ? " was missed" : " was found, though nothing reads it"));
      }
      bytes[at] ^= mask;
      if (read.get(at)) {
        found++;
      } else {
        unread++;
      }
    }
    return new Count(store, found, unread);
  }

  private Count segments(Codec codec) {
    MemoryDirectory directory = new MemoryDirectory(files);
    ReadOnlyStore sound = StoreLook.at(directory, () -> 0);
    requireNothing(verify(directory, Verifier.Level.ALL));
    Count sum = new Count(store, 0, 0);
    boolean used = false;
    for (SegmentAccount segment : sound.segments()) {
      String name = segment.info().fileName();
      BitSet read = ReadRanges.of(sound, segment, files.get(name));
      SegmentLook look = new SegmentLook(sound, segment, files.get(name));
      Map<RecordLocation, byte[]> rows = rows(sound, directory, segment, 0, Long.MAX_VALUE);
      used |= codecUsed(sound, directory, segment, codec);
      Count count =
          flip(
              name,
              read,
              at -> {
                boolean found = look.findsAny();
                // The verifier says the same; all of it each time would take hours.
                if (at % VERIFIED_BYTES == 0
                    && found == verify(directory, Verifier.Level.ALL).findings().isEmpty()) {
                  throw new AssertionError("the verifier says otherwise at byte " + at);
                }
                if (!found) {
                  rows(sound, directory, segment, at, at + 1L)
                      .forEach((record, bytes) -> requireSame(rows.get(record), bytes));
                }
                return found;
              });
      sum = new Count(store, sum.found() + count.found(), sum.unread() + count.unread());
    }
    if (!used) {
      throw new AssertionError("no chunk was stored with " + codec);
    }
    return sum;
  }

  private static Verifier.Result verify(MemoryDirectory directory, Verifier.Level level) {
    return Verifier.verify(directory, () -> 0, level, bytes -> {});
  }

  private static void requireNothing(Verifier.Result result) {
    if (!result.findings().isEmpty()) {
      throw new AssertionError("the sound store is not: " + result.findings());
    }
  }

  private void requireSame(byte[] before, byte[] after) {
    if (!Arrays.equals(before, after)) {
      throw new AssertionError("store " + store + ": a flip that was not found changed a row");
    }
  }

  /** Decoded bytes of the records that occupy any of a range, all of their parts in a row. */
  private static Map<RecordLocation, byte[]> rows(
      ReadOnlyStore store, MemoryDirectory directory, SegmentAccount segment, long from, long to) {
    Map<RecordLocation, byte[]> rows = new HashMap<>();
    forEachRecord(
        store,
        directory,
        segment,
        (reader, record, layout) -> {
          long end = (record.offsetBytes() + record.lengthBytes() + 4095) & -4096;
          if (record.offsetBytes() < to && end > from) {
            rows.put(record, decoded(reader, reader.header(record, layout)));
          }
        });
    return rows;
  }

  private interface RecordVisitor {
    void visit(RecordReader reader, RecordLocation record, Layout layout);
  }

  /** Every record of a segment that lives. */
  private static void forEachRecord(
      ReadOnlyStore store,
      MemoryDirectory directory,
      SegmentAccount segment,
      RecordVisitor visitor) {
    Forest forest = store.forest();
    try (Scratch.Pool scratches = new Scratch.Pool(1);
        StoreFile file = directory.openReadOnly(segment.info().fileName());
        MappedRegion region = file.map(file.lengthBytes(), false);
        Scratch scratch = scratches.take()) {
      RecordReader reader = new RecordReader(region, file.name(), scratch);
      forest.forEachBoundary(
          node -> {
            Layout layout = forest.namespaceOf(node).layout();
            for (RecordKind kind : RecordKind.values()) {
              for (RecordLocation record : forest.records(node, kind)) {
                if (record.segmentId() == segment.info().segmentId()) {
                  visitor.visit(reader, record, layout);
                }
              }
            }
          });
    }
  }

  private static byte[] decoded(RecordReader reader, RecordHeader header) {
    List<ByteBuffer> parts = new ArrayList<>();
    int length = 0;
    for (RecordHeader.Part part : header.parts()) {
      TensorSpec spec = part.spec();
      long first = part.range().rowFrom();
      long end = first + part.range().rowCount();
      ByteBuffer bytes =
          ByteBuffer.allocate((int) (spec.outer() * (end - first) * spec.innerBytes()));
      TensorView view =
          spec.isFixed()
              ? TensorView.value(spec, bytes)
              : TensorView.packed(spec, bytes, first, end);
      reader.readPart(header, part, view, first, end, true);
      parts.add(bytes);
      length += bytes.capacity();
    }
    ByteBuffer all = ByteBuffer.allocate(length);
    parts.forEach(bytes -> all.put(bytes.clear()));
    return all.array();
  }

  /** Whether any rows are stored in a codec, and not raw for want of a gain. */
  private static boolean codecUsed(
      ReadOnlyStore store, MemoryDirectory directory, SegmentAccount segment, Codec codec) {
    boolean[] used = new boolean[1];
    forEachRecord(
        store,
        directory,
        segment,
        (reader, record, layout) -> {
          RecordHeader header = reader.header(record, layout);
          if (header.kind() == RecordKind.APPEND) {
            for (RecordHeader.Part part : header.parts()) {
              used[0] |= part.codec().codec() == codec && !header.isStoredRaw(part, 0);
            }
          }
        });
    return used[0];
  }

  private Count edits() {
    MemoryDirectory directory = new MemoryDirectory(files);
    Current current = CurrentFile.read(directory);
    Status status = StatusFile.read(directory, current.storeId()).orElseThrow();
    LoadedStore sound = load(directory, current, status);
    Count manifest =
        flip(
            SmallStore.manifest(files),
            all(files.get(SmallStore.manifest(files))),
            at -> {
              try {
                LoadedStore loaded = load(directory, current, status);
                // Behind the content nothing was ever acknowledged: a torn tail, which is reported.
                return loaded.end().tail() == ManifestEnd.Tail.TORN
                    && at >= sound.end().validLengthBytes()
                    && loaded.end().validLengthBytes() == sound.end().validLengthBytes()
                    && loaded.forest().boundaryCount() == sound.forest().boundaryCount()
                    && loaded.forest().pointCount() == sound.forest().pointCount();
              } catch (CorruptionException | UnsupportedFormatException e) {
                return true;
              }
            });
    Count name =
        flip(
            CurrentFile.NAME,
            all(files.get(CurrentFile.NAME)),
            at -> {
              try {
                CurrentFile.read(directory);
                return false;
              } catch (CorruptionException | UnsupportedFormatException e) {
                return true;
              }
            });
    Count published =
        flip(
            StatusFile.NAME,
            all(files.get(StatusFile.NAME)),
            at ->
                StatusFile.fault(directory, current.storeId()).isPresent()
                    && StatusFile.read(directory, current.storeId()).isEmpty());
    return new Count(store, manifest.found() + name.found() + published.found(), 0);
  }

  private static BitSet all(byte[] file) {
    BitSet all = new BitSet();
    all.set(0, file.length);
    return all;
  }

  private static LoadedStore load(MemoryDirectory directory, Current current, Status status) {
    return LoadedStore.read(
        directory,
        current,
        status.manifestLengthBytes(),
        new SegmentSet(
            directory,
            current.storeId().high(),
            current.storeId().low(),
            SegmentSizing.ofQuota(Long.MAX_VALUE),
            SpaceGate.OPEN));
  }
}
