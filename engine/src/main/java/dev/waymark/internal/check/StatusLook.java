package dev.waymark.internal.check;

import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.Status;
import dev.waymark.internal.manifest.StatusFile;
import dev.waymark.internal.recover.Finding;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a store's writer last said of it: CURRENT and STATUS, and how long the manifest is. Costs
 * the same whatever the store holds. Takes no lock and writes nothing.
 *
 * @param current what CURRENT says
 * @param status what the writer published last, whichever manifest it is about
 * @param manifestBytes length of the file of the manifest in force
 * @param allocatedBytes what all files occupy, by the file system's own count
 * @param findings what is wrong, as far as that shows from here
 */
public record StatusLook(
    Current current,
    Optional<Status> status,
    long manifestBytes,
    long allocatedBytes,
    List<Finding> findings) {
  private static final int TRIES = 8;

  /**
   * Looks.
   *
   * @throws dev.waymark.error.NotAStoreException if there is none
   * @throws dev.waymark.error.UnsupportedFormatException if it needs a newer version
   * @throws dev.waymark.error.CorruptionException if CURRENT is damaged
   */
  public static StatusLook at(StoreDirectory directory, long nowMillis) {
    StatusLook look = look(directory, nowMillis);
    for (int i = 1; i < TRIES && !look.findings().isEmpty(); i++) {
      // The writer may just have begun another manifest, or be writing STATUS.
      Thread.yield();
      look = look(directory, nowMillis);
    }
    return look;
  }

  private static StatusLook look(StoreDirectory directory, long nowMillis) {
    Current current = CurrentFile.read(directory);
    String manifest = ManifestLog.fileName(current.manifestId());
    Optional<Status> status = StatusFile.read(directory, current.storeId());
    List<Finding> findings = new ArrayList<>();
    Optional<String> fault = StatusFile.fault(directory, current.storeId());
    if (fault.isPresent()) {
      findings.add(StoreLook.statusDamaged(fault.get()));
    } else if (!directory.exists(StatusFile.NAME)) {
      findings.add(
          new Finding(
              "STATUS_MISSING",
              Finding.Severity.WARNING,
              StatusFile.NAME,
              -1,
              "no writer's status is there; nothing stored rests on it, and a writer writes it"
                  + " anew, within a second or with the next open"));
    }
    status
        .filter(s -> isAhead(s, nowMillis))
        .ifPresent(
            s ->
                findings.add(
                    new Finding(
                        "STATUS_AHEAD",
                        Finding.Severity.WARNING,
                        StatusFile.NAME,
                        -1,
                        "it was published "
                            + (s.heartbeatMillis() - nowMillis) / 1_000
                            + " s after what this machine's clock says: one of the two was set, or"
                            + " is another machine's"
                            + (s.isClosed() ? "" : "; whether the writer lives does not show"))));
    status
        .filter(s -> !s.isClosed() && !StoreLook.isRecent(s, nowMillis) && !isAhead(s, nowMillis))
        .ifPresent(
            s ->
                findings.add(
                    new Finding(
                        "WRITER_SILENT",
                        Finding.Severity.WARNING,
                        StatusFile.NAME,
                        -1,
                        "process "
                            + s.processId()
                            + " did not close the store and says nothing any more: it died, or"
                            + " hangs; the next open recovers what was acknowledged")));
    long length = directory.exists(manifest) ? directory.lengthBytes(manifest) : -1;
    long promised =
        status
            .filter(s -> s.manifestId() == current.manifestId())
            .map(Status::manifestLengthBytes)
            .orElse(0L);
    if (length < promised) {
      findings.add(
          new Finding(
              length < 0 ? "MANIFEST_MISSING" : "MANIFEST_SHORT",
              Finding.Severity.ERROR,
              manifest,
              -1,
              "the manifest in force "
                  + (length < 0 ? "is missing" : "has " + length + " bytes")
                  + ", and "
                  + promised
                  + " were durable"));
    }
    return new StatusLook(
        current, status, Math.max(0, length), directory.allocatedBytes(), List.copyOf(findings));
  }

  /** Whether it is of a time that has not come here. */
  private static boolean isAhead(Status status, long nowMillis) {
    return status.heartbeatMillis() > nowMillis && !StoreLook.isRecent(status, nowMillis);
  }
}
