package dev.waymark.internal.recover;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.StoreIoException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.internal.log.SegmentHeader;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.StoreId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Carries a plan out, around the manifest that its caller goes on with: before it, whatever was
 * read is made durable; after it, what the plan says goes. Every step may be cut short and done
 * again.
 */
public final class Recovery {
  private Recovery() {}

  /** The files of a directory as they are. */
  public static List<FileOnDisk> files(StoreDirectory directory) {
    List<FileOnDisk> files = new ArrayList<>();
    for (String name : directory.list()) {
      if (name.equals("LOCK")) {
        continue;
      }
      try (StoreFile file = directory.openReadOnly(name)) {
        files.add(new FileOnDisk(name, file.lengthBytes(), file.allocatedBytes()));
      }
    }
    return files;
  }

  /**
   * Refuses files that are, by their own headers, not the segments that their names say: what a
   * plan cuts and punches would be another segment's records. A header that cannot be read proves
   * nothing, and is met again where a record is read.
   *
   * @throws CorruptionException naming the file, and both segments
   */
  public static void requireOwnNames(
      LoadedStore loaded, Current current, StoreDirectory directory) {
    StoreId storeId = current.storeId();
    for (SegmentInfo info : loaded.segments().infos()) {
      SegmentHeader header =
          directory.exists(info.fileName()) ? header(directory, info.fileName()) : null;
      if (header == null) {
        continue;
      }
      boolean ours = header.isOf(storeId.high(), storeId.low());
      if (!ours || header.segmentId() != info.segmentId()) {
        throw new CorruptionException(
            ErrorDetail.of("a file is not the segment that its name says")
                .at(info.fileName(), 0)
                .expected("segment " + info.segmentId())
                .found("segment " + header.segmentId() + (ours ? "" : " of another store"))
                .remedy(
                    ours
                        ? "name it "
                            + header.fileName()
                            + " again, or run segtool repair --rebuild-manifest"
                        : "put the right file in its place"));
      }
    }
  }

  private static SegmentHeader header(StoreDirectory directory, String fileName) {
    try (StoreFile file = directory.openReadOnly(fileName)) {
      return SegmentHeader.read(file);
    } catch (StoreIoException e) {
      return null;
    }
  }

  /**
   * Forces what may be only in the page cache.
   *
   * @throws WaymarkException if that fails: then nothing that was read may be built on
   */
  public static void force(RecoveryPlan plan, StoreDirectory directory, YieldPoints yields) {
    for (String name : plan.force()) {
      try (StoreFile file = directory.open(name)) {
        file.force();
      }
      yields.reached("recovered segment forced");
    }
    directory.force();
  }

  /**
   * Cuts off and deletes what the manifest in force does not name, for a disk too full to take the
   * next one.
   *
   * @param plan of {@link RecoveryPlanner#planTrim}
   * @return whether there was any
   */
  public static boolean trim(
      RecoveryPlan plan, List<FileOnDisk> files, StoreDirectory directory, YieldPoints yields) {
    Map<String, Long> lengths = new HashMap<>();
    files.forEach(file -> lengths.put(file.name(), file.lengthBytes()));
    boolean any = false;
    for (RecoveryPlan.Cut cut : plan.cuts()) {
      if (lengths.get(cut.fileName()) > cut.lengthBytes()) {
        try (StoreFile file = directory.open(cut.fileName())) {
          file.setLength(cut.lengthBytes());
        }
        any = true;
        yields.reached("segment trimmed on a full disk");
      }
    }
    for (String name : plan.deletes()) {
      directory.delete(name);
      any = true;
      yields.reached("unnamed file deleted on a full disk");
    }
    return any;
  }

  /** Cuts, punches and deletes; the manifest that says so is durable. */
  public static void clean(
      RecoveryPlan plan, StoreDirectory directory, LoadedStore loaded, YieldPoints yields) {
    for (RecoveryPlan.Cut cut : plan.cuts()) {
      boolean punched = !cut.punch();
      if (cut.shorten() || cut.punch()) {
        try (StoreFile file = directory.open(cut.fileName())) {
          if (cut.shorten()) {
            file.setLength(cut.lengthBytes());
          }
          if (cut.punch() && directory.traits().canPunch()) {
            punched = true;
            for (long[] gap : cut.gaps()) {
              punched &= file.punch(gap[0], gap[1] - gap[0]);
            }
          }
        }
        yields.reached("recovered segment cut");
      }
      loaded
          .segments()
          .settle(cut.segmentId(), cut.lengthBytes(), cut.footerOffsetBytes(), cut.gaps(), punched);
    }
    for (String name : plan.deletes()) {
      // Writing CURRENT took away what an earlier attempt at it had left.
      if (directory.exists(name)) {
        directory.delete(name);
      }
      yields.reached("unnamed file deleted");
    }
  }
}
