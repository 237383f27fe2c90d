package dev.waymark.internal.check;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.MovingException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.error.StoreIoException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.log.SpaceGate;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.ManifestEnd;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.Status;
import dev.waymark.internal.manifest.StatusFile;
import dev.waymark.internal.recover.Finding;
import dev.waymark.internal.recover.LoadedStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Looks at a store as a reader may: no lock, no write, also while a writer goes on.
 *
 * <p>Anything odd may be the writer's doing, and makes it look again, then at all of the manifest,
 * since the edits that explain it are written before the bytes go. Only what is as odd in a state
 * that has not moved since the last look is a finding. Where every look meets another state, it
 * says so and gives no result.
 */
public final class StoreLook {
  private static final int TRIES = 8;
  private static final long PAUSE_MILLIS = 20;

  /** A writer publishes its status every second; one that is silent for longer is taken as gone. */
  private static final long SILENT_MILLIS = 10_000;

  private static final String STATUS_DAMAGED = "STATUS_DAMAGED";

  private final StoreDirectory directory;
  private final LongSupplier clockMillis;

  private StoreLook(StoreDirectory directory, LongSupplier clockMillis) {
    this.directory = directory;
    this.clockMillis = clockMillis;
  }

  /**
   * Looks.
   *
   * @throws NotAStoreException if there is none
   * @throws dev.waymark.error.UnsupportedFormatException if it needs a newer version
   * @throws CorruptionException if CURRENT or the manifest is damaged
   * @throws MovingException if the writer moved on at every look
   */
  public static ReadOnlyStore at(StoreDirectory directory, LongSupplier clockMillis) {
    return new StoreLook(directory, clockMillis).look();
  }

  /** What one look met, by which the next one tells whether the writer moved on. */
  private record Seen(Current current, String oddity) {}

  private ReadOnlyStore look() {
    Seen before = null;
    for (int attempt = 1; attempt <= TRIES; attempt++) {
      Current current = CurrentFile.read(directory);
      String oddity;
      WaymarkException failure = null;
      ReadOnlyStore store = null;
      try {
        store = read(current, attempt > 1);
        List<Finding> odd = store.findings().stream().filter(StoreLook::isOdd).toList();
        if (odd.isEmpty()) {
          return store;
        }
        oddity = odd.toString();
      } catch (CorruptionException | StoreIoException e) {
        failure = e;
        oddity = String.valueOf(e.getMessage());
      }
      // The first look may have been at a prefix only; from the second on, all edits were read.
      Seen seen = new Seen(current, oddity);
      if (attempt > 2 && seen.equals(before)) {
        if (failure != null) {
          throw failure;
        }
        return store;
      }
      before = seen;
      pause();
    }
    throw new MovingException(
        ErrorDetail.of("the store changed at each of " + TRIES + " looks")
            .remedy("try again when its writer does less"));
  }

  private static boolean isOdd(Finding finding) {
    return finding.severity() == Finding.Severity.ERROR || finding.id().equals(STATUS_DAMAGED);
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private ReadOnlyStore read(Current current, boolean wholeManifest) {
    Optional<Status> last = StatusFile.read(directory, current.storeId());
    // A writer that has just begun another manifest may not have said so in STATUS yet.
    boolean writing =
        last.filter(s -> !s.isClosed() && isRecent(s, clockMillis.getAsLong())).isPresent();
    Optional<Status> status = last.filter(s -> s.manifestId() == current.manifestId());
    SegmentSet segments =
        new SegmentSet(
            directory,
            current.storeId().high(),
            current.storeId().low(),
            SegmentSizing.ofQuota(Long.MAX_VALUE),
            SpaceGate.OPEN);
    LoadedStore loaded =
        writing && status.isPresent() && !wholeManifest
            ? LoadedStore.readPrefix(
                directory, current, status.get().manifestLengthBytes(), segments)
            : LoadedStore.read(
                directory, current, status.map(Status::manifestLengthBytes).orElse(0L), segments);
    return account(current, status, writing, loaded);
  }

  /** Whether its writer, if it lives, is taken to. */
  static boolean isRecent(Status status, long nowMillis) {
    return Math.abs(nowMillis - status.heartbeatMillis()) <= SILENT_MILLIS;
  }

  private ReadOnlyStore account(
      Current current, Optional<Status> status, boolean writing, LoadedStore loaded) {
    List<Finding> findings = new ArrayList<>();
    Map<String, Long> allocated = new HashMap<>();
    List<String> names = directory.list();
    for (String name : names) {
      allocated.put(name, directory.allocatedBytes(name));
    }
    List<SegmentAccount> segments = new ArrayList<>();
    Map<Long, Long> shortened = new HashMap<>();
    for (SegmentInfo info : loaded.segments().infos()) {
      allocated.remove(info.fileName());
      Size size = sizeOf(info.fileName());
      if (size == null && info.liveRecords() > 0) {
        findings.add(missing(info));
      }
      if (size != null && size.lengthBytes() < loaded.segments().namedEnd(info.segmentId())) {
        shortened.put(info.segmentId(), size.lengthBytes());
      }
      segments.add(
          SegmentAccount.of(
              info,
              loaded.sealed(info.segmentId()),
              loaded.segments().descriptors(info.segmentId()),
              size == null ? 0 : size.lengthBytes(),
              size == null ? 0 : size.allocatedBytes()));
    }
    if (!shortened.isEmpty()) {
      findCutRecords(loaded.forest(), shortened, names(segments), findings);
    }
    ManifestEnd end = loaded.end();
    String manifest = ManifestLog.fileName(current.manifestId());
    if (end.tail() == ManifestEnd.Tail.TORN && !writing) {
      findings.add(
          new Finding(
              "MANIFEST_TORN_TAIL",
              Finding.Severity.WARNING,
              manifest,
              end.validLengthBytes(),
              end.tailBytes()
                  + " bytes of edits that were never acknowledged; the next open cuts them off"));
    }
    StatusFile.fault(directory, current.storeId())
        .ifPresent(fault -> findings.add(statusDamaged(fault)));
    Long manifestAllocated = allocated.remove(manifest);
    List<ReadOnlyStore.PlainFile> small = new ArrayList<>();
    List<ReadOnlyStore.PlainFile> others = new ArrayList<>();
    for (String name : names) {
      Long bytes = allocated.get(name);
      if (bytes != null) {
        boolean ours = name.equals("LOCK") || name.equals("CURRENT") || name.equals("STATUS");
        (ours ? small : others).add(new ReadOnlyStore.PlainFile(name, bytes));
      }
    }
    return new ReadOnlyStore(
        current,
        status,
        writing,
        end,
        manifestAllocated == null ? 0 : manifestAllocated,
        loaded.forest(),
        loaded.segments().peekSequence(),
        loaded.drops(),
        List.copyOf(segments),
        List.copyOf(small),
        List.copyOf(others),
        List.copyOf(findings));
  }

  static Finding statusDamaged(String fault) {
    return new Finding(
        STATUS_DAMAGED,
        Finding.Severity.WARNING,
        StatusFile.NAME,
        0,
        "what the writer published cannot be used, as "
            + fault
            + "; nothing stored rests on it, and the next open writes it anew");
  }

  private record Size(long lengthBytes, long allocatedBytes) {}

  /** Length and allocated bytes of one moment, or null where the file is not there any more. */
  private Size sizeOf(String name) {
    if (!directory.exists(name)) {
      return null;
    }
    try (StoreFile file = directory.openReadOnly(name)) {
      Size size = null;
      for (int i = 0; i < TRIES; i++) {
        size = new Size(file.lengthBytes(), file.allocatedBytes());
        if (file.lengthBytes() == size.lengthBytes()) {
          break; // it did not grow in between
        }
      }
      return size;
    } catch (StoreIoException e) {
      if (!directory.exists(name)) {
        return null;
      }
      throw e;
    }
  }

  private static Finding missing(SegmentInfo info) {
    return new Finding(
        "SEGMENT_MISSING",
        Finding.Severity.ERROR,
        info.fileName(),
        -1,
        "the file is missing, or is no regular file, and "
            + info.liveRecords()
            + " records that live are in it; if there is a copy, put it back before the store is opened for writing");
  }

  private static Map<Long, String> names(List<SegmentAccount> segments) {
    Map<Long, String> names = new HashMap<>();
    segments.forEach(s -> names.put(s.info().segmentId(), s.info().fileName()));
    return names;
  }

  /** Records behind the end of their file; one finding a file, naming the first of them. */
  private static void findCutRecords(
      Forest forest, Map<Long, Long> lengths, Map<Long, String> names, List<Finding> findings) {
    Map<Long, RecordLocation> first = new HashMap<>();
    forest.forEachBoundary(
        node -> {
          note(forest.rowRecords(node), lengths, first);
          note(forest.deltaRecords(node), lengths, first);
          note(forest.stateRecords(node), lengths, first);
        });
    first.forEach(
        (segmentId, record) ->
            findings.add(
                new Finding(
                    "SEGMENT_SHORT",
                    Finding.Severity.ERROR,
                    names.get(segmentId),
                    record.offsetBytes(),
                    "a record that lives ends behind the file's "
                        + lengths.getOrDefault(segmentId, 0L)
                        + " bytes")));
  }

  private static void note(
      List<RecordLocation> records, Map<Long, Long> lengths, Map<Long, RecordLocation> first) {
    for (RecordLocation record : records) {
      Long length = lengths.get(record.segmentId());
      if (length != null && record.offsetBytes() + record.lengthBytes() > length) {
        first.merge(
            record.segmentId(), record, (a, b) -> a.offsetBytes() <= b.offsetBytes() ? a : b);
      }
    }
  }
}
