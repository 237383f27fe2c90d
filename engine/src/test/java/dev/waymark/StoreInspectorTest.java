package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.StoreInspector.BoundaryReport;
import dev.waymark.StoreInspector.FindingReport;
import dev.waymark.StoreInspector.SegmentReport;
import dev.waymark.StoreInspector.Totals;
import dev.waymark.error.CorruptionException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.error.StoreLockedException;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.log.FormatVersions;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreInspectorTest {
  private static final int BLOCK = 16;
  private static final int CAPACITY = 512;
  private static final TensorSpec KEYS = TensorSpec.rows("keys", DType.BF16, 1, 2, -1, 8);
  private static final TensorSpec WINDOW = TensorSpec.window("window", DType.BF16, 24, 2, 2, -1, 8);
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.F32, 4, 16);
  private static final Layout LAYOUT = Layout.of(BLOCK, KEYS, WINDOW, STATE);
  private static final ModelIdentity IDENTITY = ModelIdentity.builder().weights("w").build();
  private static final long HOUR_MILLIS = 3_600_000;

  @TempDir Path dir;

  @Test
  void whatItCountsIsWhatWasStored() {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 160, RestorePolicy.EVERY);
      prefill(store, 2, 96, RestorePolicy.LAST);
    }

    StoreInspector inspector = StoreInspector.open(dir);

    assertThat(inspector.summary().boundaries()).isEqualTo(16);
    assertThat(inspector.summary().points()).isEqualTo(11);
    assertThat(inspector.summary().openSessions()).isZero();
    assertThat(inspector.findings()).isEmpty();
    assertThat(inspector.otherFiles()).isEmpty();
    assertThat(inspector.segments()).isNotEmpty().allMatch(SegmentReport::sealed);
    assertThat(inspector.namespaces())
        .singleElement()
        .satisfies(
            namespace -> {
              assertThat(namespace.layout()).isEqualTo(LAYOUT);
              assertThat(namespace.identity()).isEqualTo(IDENTITY);
              assertThat(namespace.boundaries()).isEqualTo(16);
              assertThat(namespace.points()).isEqualTo(11);
              assertThat(namespace.chains()).isEqualTo(2);
              assertThat(namespace.rowRecordBytes() + namespace.pointRecordBytes())
                  .isEqualTo(inspector.totals().liveBytes());
            });
    List<BoundaryReport> boundaries = boundaries(inspector);
    assertThat(boundaries).hasSize(16);
    assertThat(boundaries.stream().filter(BoundaryReport::isPoint)).hasSize(11);
    assertThat(boundaries.stream().mapToInt(BoundaryReport::tokens).max()).hasValue(160);
    for (int i = 1; i < boundaries.size(); i++) {
      BoundaryReport at = boundaries.get(i);
      if (at.tokens() > BLOCK) {
        assertThat(at.parentKey()).isEqualTo(boundaries.get(i - 1).key());
      }
    }
  }

  @Test
  void totalsAddUpToWhatTheFileSystemCounts() throws IOException {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 160, RestorePolicy.EVERY);
      Namespace ns = store.namespace(IDENTITY, LAYOUT);
      int[] tokens = tokens(3, 96);
      try (PrefillSession session =
          ns.prefill(ns.match(tokens), PrefillPlan.tokens(96).onAbort(AbortMode.DISCARD))) {
        session.append(Arrays.copyOf(tokens, 64), views(3, 64));
      }
      requireSum(StoreInspector.open(dir));
    }
    Files.writeString(dir.resolve("notes.txt"), "not the store's");

    StoreInspector inspector = StoreInspector.open(dir);

    requireSum(inspector);
    assertThat(inspector.totals().allocatedBytes()).isEqualTo(diskUsage());
    assertThat(inspector.otherFiles()).extracting(file -> file.file()).containsExactly("notes.txt");
    assertThat(Math.abs(inspector.totals().unaccountedBytes()))
        .isLessThanOrEqualTo(inspector.totals().allocatedBytes() / 100 + (1 << 20));
  }

  @Test
  void changesNothing() throws IOException {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 160, RestorePolicy.EVERY);
    }
    Map<String, String> before = contents();
    Files.setPosixFilePermissions(
        dir, java.nio.file.attribute.PosixFilePermissions.fromString("r-x------"));

    StoreInspector.open(dir).forEachBoundary(boundary -> {});

    Files.setPosixFilePermissions(
        dir, java.nio.file.attribute.PosixFilePermissions.fromString("rwx------"));
    assertThat(contents()).isEqualTo(before);
  }

  @Test
  void besideALiveWriterItFindsNothingWrong() throws Exception {
    try (SnapshotStore store = open()) {
      prefill(store, 0, 160, RestorePolicy.EVERY);
      store.flush();
      AtomicBoolean stop = new AtomicBoolean();
      List<Throwable> failures = new ArrayList<>();
      Thread writer =
          new Thread(
              () -> {
                try {
                  for (int seed = 1; !stop.get(); seed++) {
                    Namespace ns = store.namespace(IDENTITY, LAYOUT);
                    int[] tokens = tokens(seed, 128);
                    AbortMode mode = seed % 3 == 0 ? AbortMode.KEEP : AbortMode.DISCARD;
                    try (PrefillSession session =
                        ns.prefill(ns.match(tokens), PrefillPlan.tokens(128).onAbort(mode))) {
                      session.append(Arrays.copyOf(tokens, 96), views(seed, 96));
                    }
                    if (seed % 10 == 0) {
                      store.engine().publisher.checkpoint();
                    }
                  }
                } catch (Throwable e) {
                  failures.add(e);
                }
              });
      writer.start();
      long boundaries = 0;
      try {
        for (int i = 0; i < 200; i++) {
          StoreInspector inspector = StoreInspector.open(dir);
          assertThat(inspector.findings()).isEmpty();
          requireSum(inspector);
          boundaries = Math.max(boundaries, inspector.summary().boundaries());
        }
      } finally {
        stop.set(true);
        writer.join();
      }
      assertThat(failures).isEmpty();
      assertThat(boundaries).isGreaterThanOrEqualTo(10);
      assertThatThrownBy(this::open).isInstanceOf(StoreLockedException.class);
    }
  }

  @Test
  void aTornTailIsSaidOnceNoWriterIsThere() throws IOException {
    SnapshotStore store = open();
    prefill(store, 1, 160, RestorePolicy.EVERY);
    store.flush();
    long end = store.stats().manifestBytes();
    store.abandon();
    Path manifest = dir.resolve(StoreInspector.open(dir).summary().manifest());
    try (RandomAccessFile file = new RandomAccessFile(manifest.toFile(), "rw")) {
      file.seek(end);
      file.write(new byte[] {1, 2, 3});
    }

    StoreInspector inspector = later();

    assertThat(inspector.summary().manifestIsTorn()).isTrue();
    assertThat(inspector.summary().boundaries()).isEqualTo(10);
    assertThat(inspector.findings())
        .extracting(FindingReport::id)
        .containsExactly("MANIFEST_TORN_TAIL");
  }

  @Test
  void aMissingSegmentIsAFinding() throws IOException {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 160, RestorePolicy.EVERY);
    }
    String gone = StoreInspector.open(dir).segments().get(0).file();
    Files.delete(dir.resolve(gone));

    StoreInspector inspector = StoreInspector.open(dir);

    assertThat(inspector.findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.id()).isEqualTo("SEGMENT_MISSING");
              assertThat(finding.file()).isEqualTo(gone);
            });
  }

  @Test
  void aSegmentThatWasCutIsAFinding() throws IOException {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 160, RestorePolicy.EVERY);
    }
    String cut = StoreInspector.open(dir).segments().get(0).file();
    try (RandomAccessFile file = new RandomAccessFile(dir.resolve(cut).toFile(), "rw")) {
      file.setLength(12_288);
    }

    assertThat(StoreInspector.open(dir).findings())
        .extracting(FindingReport::id)
        .containsExactly("SEGMENT_SHORT");
  }

  @Test
  void aDamagedManifestIsCorruption() throws IOException {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 160, RestorePolicy.EVERY);
    }
    Path manifest = dir.resolve(StoreInspector.open(dir).summary().manifest());
    try (RandomAccessFile file = new RandomAccessFile(manifest.toFile(), "rw")) {
      file.seek(200);
      file.write(0x5a);
    }

    assertThatThrownBy(() -> StoreInspector.open(dir))
        .isInstanceOf(CorruptionException.class)
        .hasMessageContaining("manifest-");
  }

  @Test
  void whatIsNoStoreIsSaid() throws IOException {
    Path file = Files.createFile(dir.resolve("file"));

    assertThatThrownBy(() -> StoreInspector.open(dir.resolve("missing")))
        .isInstanceOf(NotAStoreException.class);
    assertThatThrownBy(() -> StoreInspector.open(file)).isInstanceOf(NotAStoreException.class);
    assertThatThrownBy(() -> StoreInspector.open(dir)).isInstanceOf(NotAStoreException.class);
  }

  @Test
  void aNewerFormatIsRefused() {
    try (SnapshotStore store = open()) {
      prefill(store, 1, 32, RestorePolicy.EVERY);
    }
    try (StoreDirectory directory = RealDirectory.openForWriting(dir, false)) {
      Current current = CurrentFile.read(directory);
      CurrentFile.write(
          directory,
          new Current(current.storeId(), current.manifestId(), new FormatVersions(2, 2)));
    }

    assertThatThrownBy(() -> StoreInspector.open(dir))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("newer version");
  }

  private SnapshotStore open() {
    return SnapshotStore.open(dir, StoreOptions.builder().quota("64MiB").build());
  }

  /** Looks at it when its writer has been silent for long. */
  private StoreInspector later() {
    try (StoreDirectory directory = RealDirectory.openReadOnly(dir)) {
      return StoreInspector.open(directory, () -> System.currentTimeMillis() + HOUR_MILLIS);
    }
  }

  private static void prefill(SnapshotStore store, int seed, int count, RestorePolicy policy) {
    Namespace ns = store.namespace(IDENTITY, LAYOUT);
    int[] tokens = tokens(seed, count);
    try (PrefillSession session =
        ns.prefill(ns.match(tokens), PrefillPlan.tokens(count).policy(policy))) {
      for (int to = BLOCK; to <= count; to += BLOCK) {
        session.append(Arrays.copyOfRange(tokens, to - BLOCK, to), views(seed, to));
      }
      session.promptComplete();
    }
  }

  private static int[] tokens(int seed, int count) {
    return new Random(seed).ints(count, 0, 1_000_000).toArray();
  }

  private static StateViews views(int seed, int to) {
    byte[] rows = new byte[2 * CAPACITY * 16];
    new Random(seed).nextBytes(rows);
    TensorView view =
        TensorView.linear(Memory.of(ByteBuffer.wrap(rows)), 0, CAPACITY * 16L, 16, 0, to);
    return StateViews.builder()
        .put(KEYS, view)
        .put(WINDOW, view)
        .put(STATE, TensorView.value(STATE, ByteBuffer.wrap(rows, 0, 256)))
        .build();
  }

  private static List<BoundaryReport> boundaries(StoreInspector inspector) {
    List<BoundaryReport> list = new ArrayList<>();
    inspector.forEachBoundary(list::add);
    return list;
  }

  private static void requireSum(StoreInspector inspector) {
    Totals totals = inspector.totals();
    assertThat(
            totals.liveBytes()
                + totals.deadBytes()
                + totals.framingBytes()
                + totals.reservedBytes()
                + totals.unaccountedBytes())
        .isEqualTo(totals.allocatedBytes());
  }

  private long diskUsage() throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      long blocks = 0;
      for (Path file : files.toList()) {
        Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
        blocks += Long.parseLong(new String(stat.getInputStream().readAllBytes()).trim());
      }
      return blocks * 512;
    }
  }

  private Map<String, String> contents() throws IOException {
    Map<String, String> contents = new TreeMap<>();
    try (Stream<Path> files = Files.list(dir)) {
      for (Path file : files.toList()) {
        contents.put(
            file.getFileName().toString(),
            Files.getLastModifiedTime(file) + " " + Arrays.hashCode(Files.readAllBytes(file)));
      }
    }
    return contents;
  }
}
