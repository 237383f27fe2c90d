package dev.waymark.fuzz;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.NamespaceDescriptor;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.internal.wire.NamespaceRecordDecoder;
import dev.waymark.internal.wire.RecordDecoder;
import dev.waymark.layout.Layout;
import dev.waymark.vectors.Vector;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Makes the corpora from the vectors: each manifest, segment, record, chunk and text that is in
 * one, once. What {@link Sealer} would change in it is there as it was, too.
 */
final class Seeds {
  private static final int SEALED =
      Sealer.FRAMES | Sealer.CHUNKS | Sealer.FINGERPRINTS | Sealer.COUNTS;
  private static final int PAGE_BYTES = 4096;

  /** Longer ones would be most of the tree, and slow; what is special about them is tested. */
  private static final int MOST_BYTES = 6000;

  private final List<String> layouts = new ArrayList<>();
  private final Map<String, Map<String, byte[]>> seeds = new HashMap<>();
  private final Set<String> seen = new HashSet<>();

  private Seeds() {}

  /** Writes them below {@code src/test/fuzz}, beside those that were found. */
  public static void main(String[] arguments) throws IOException {
    Seeds seeds = new Seeds();
    List<Vector> vectors = new ArrayList<>(Vector.all("valid"));
    vectors.addAll(Vector.all("invalid"));
    for (Vector vector : vectors) {
      String name = vector.name().replace('/', '-');
      for (Map.Entry<String, byte[]> file : vector.files().entrySet()) {
        if (file.getKey().startsWith("manifest-")) {
          seeds.manifest(name, file.getValue());
        } else if (file.getKey().endsWith(".seg")) {
          String kind = file.getKey().substring(0, file.getKey().indexOf('.'));
          seeds.segment(name + "-" + kind, file.getValue());
        }
      }
    }
    seeds.write();
  }

  private void write() throws IOException {
    Files.createDirectories(Corpora.root());
    Files.write(Corpora.layoutsFile(), layouts);
    for (Map.Entry<String, Map<String, byte[]>> target : seeds.entrySet()) {
      Path folder = Files.createDirectories(Corpora.root().resolve(target.getKey()));
      for (Path file : Corpora.of(target.getKey())) {
        if (!file.getFileName().toString().startsWith("found-")) {
          Files.delete(file);
        }
      }
      for (Map.Entry<String, byte[]> seed : target.getValue().entrySet()) {
        Files.write(folder.resolve(seed.getKey()), seed.getValue());
      }
    }
  }

  private void add(String target, String name, byte[] input) {
    if (input.length <= MOST_BYTES && seen.add(target + Arrays.toString(input))) {
      Map<String, byte[]> map = seeds.computeIfAbsent(target, t -> new HashMap<>());
      String unique = name;
      for (int i = 2; map.containsKey(unique); i++) {
        unique = name + "-" + i;
      }
      map.put(unique, input);
    }
  }

  private void manifest(String name, byte[] file) {
    int end = file.length;
    while (end > 0 && file[end - 1] == 0) {
      end--;
    }
    byte[] content = Arrays.copyOf(file, Math.min(file.length, (end + 7) & -8));
    add("manifest", name, concat(new byte[] {SEALED | ManifestTarget.PROVEN}, content));
    byte[] sealed = content.clone();
    Sealer.manifest(sealed, SEALED);
    if (!Arrays.equals(sealed, content)) {
      add("manifest", name + "-as-it-was", concat(new byte[] {ManifestTarget.ZEROS}, content));
    }
  }

  private void segment(String name, byte[] file) {
    byte[] whole = Arrays.copyOf(file, (file.length + PAGE_BYTES - 1) & -PAGE_BYTES);
    add("segment", name, Pages.compact(whole, SEALED));
    byte[] sealed = whole.clone();
    Sealer.segment(sealed, SEALED);
    if (!Arrays.equals(sealed, whole)) {
      add("segment", name + "-as-it-was", Pages.compact(whole, 0));
    }
    Map<Integer, Layout> byId = new HashMap<>();
    for (int at = PAGE_BYTES; at < whole.length; at += PAGE_BYTES) {
      int tag = new UnsafeBuffer(whole).getInt(40, ByteOrder.LITTLE_ENDIAN);
      UnsafeBuffer rest = new UnsafeBuffer(whole, at, whole.length - at);
      Frame.Check check = Frame.check(rest, 0, rest.capacity(), tag, rest.capacity());
      if (!check.isValid()) {
        continue;
      }
      if (Frame.templateId(rest, 0) == NamespaceRecordDecoder.TEMPLATE_ID) {
        namespace(name, rest, check.lengthBytes(), tag, byId);
      } else if (Frame.templateId(rest, 0) == RecordDecoder.TEMPLATE_ID) {
        record(name, whole, at, tag, byId);
      }
    }
  }

  private void namespace(
      String name, UnsafeBuffer frame, int length, int segmentId, Map<Integer, Layout> byId) {
    try {
      NamespaceDescriptor descriptor =
          NamespaceDescriptor.parse(frame, length, segmentId, "seed", 0);
      text(name + "-layout", 0, descriptor.layout());
      text(name + "-identity", 1, descriptor.identity());
      text(name + "-codecs", 2, descriptor.codecs());
      byId.put(descriptor.namespaceId(), Layout.ofJson(descriptor.layout()));
    } catch (CorruptionException | InvalidSettingException e) {
      // An invalid vector: no layout to read a record by.
    }
  }

  private void text(String name, int which, String text) {
    add("layout", name, concat(new byte[] {(byte) which}, text.getBytes(StandardCharsets.UTF_8)));
  }

  private void record(String name, byte[] file, int at, int tag, Map<Integer, Layout> byId) {
    UnsafeBuffer buffer = new UnsafeBuffer(file);
    long length = buffer.getLong(at + 40, ByteOrder.LITTLE_ENDIAN);
    Layout layout = byId.get(buffer.getInt(at + 136, ByteOrder.LITTLE_ENDIAN));
    if (layout == null || length < Frame.HEADER_BYTES || length > file.length - at) {
      return;
    }
    byte[] bytes = Arrays.copyOfRange(file, at, at + (int) length);
    parts(name, bytes, tag, layout);
    new UnsafeBuffer(bytes).putLong(32, RecordTarget.SEGMENT_ID, ByteOrder.LITTLE_ENDIAN);
    String json = layout.toJson();
    if (name.startsWith("valid") && bytes.length <= MOST_BYTES && !layouts.contains(json)) {
      layouts.add(json);
    }
    int index = layouts.indexOf(json);
    if (index >= 0 && index < 256) {
      byte how = SEALED | RecordTarget.OWN_LENGTH;
      add("record", name, concat(new byte[] {how, (byte) index}, bytes));
    }
  }

  private void parts(String name, byte[] record, int segmentId, Layout layout) {
    byte[] file = new byte[PAGE_BYTES + ((record.length + PAGE_BYTES - 1) & -PAGE_BYTES)];
    System.arraycopy(record, 0, file, PAGE_BYTES, record.length);
    MappedRegion region = MemoryDirectory.region(file);
    try (Scratch scratch = new Scratch.Pool(1).take()) {
      RecordHeader header =
          new RecordReader(region, "seed", scratch)
              .header(new RecordLocation(segmentId, PAGE_BYTES, record.length), layout);
      for (RecordHeader.Part part : header.parts()) {
        int raw = part.chunkRawBytes(0);
        long width = part.spec().rowWidth();
        if (part.chunkCount() == 1 && !header.isStoredRaw(part, 0) && width < 256) {
          int from = (int) part.offsetBytes();
          add(
              "codec-part",
              name,
              concat(
                  new byte[] {
                    (byte) part.codec().codec().ordinal(),
                    (byte) part.spec().dtype().ordinal(),
                    (byte) width,
                    (byte) raw,
                    (byte) (raw >> 8)
                  },
                  Arrays.copyOfRange(record, from, from + (int) part.storedBytes())));
        }
      }
    } catch (CorruptionException e) {
      // An invalid vector: what is in it cannot be told apart.
    }
  }

  private static byte[] concat(byte[] first, byte[] second) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(first);
    out.writeBytes(second);
    return out.toByteArray();
  }
}
