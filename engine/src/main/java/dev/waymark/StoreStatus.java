package dev.waymark;

import dev.waymark.internal.check.StatusLook;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.Status;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * What a store's writer last published, every second while it runs. It costs the same whatever the
 * store holds: neither the manifest nor a segment is read. Takes no lock, writes nothing, and works
 * beside a live writer.
 *
 * @param storeId drawn when it was made
 * @param readVersion least version of the format that a reader has to know
 * @param manifest name of the manifest in force
 * @param manifestBytes length of its file, what is allocated ahead included
 * @param allocatedBytes what all files occupy, by the file system's own count, now
 * @param publishedMillis when the rest was published, wall clock; empty where STATUS is of no use
 * @param processId of the writer; empty once it closed the store
 * @param isClosed whether the last writer closed the store cleanly
 * @param counters what it counted, a JSON object of numbers; {@code {}} where STATUS is of no use
 * @param findings what is wrong, as far as it shows from here; {@link StoreInspector} and {@link
 *     StoreVerifier} look deeper
 */
public record StoreStatus(
    String storeId,
    int readVersion,
    String manifest,
    long manifestBytes,
    long allocatedBytes,
    OptionalLong publishedMillis,
    OptionalLong processId,
    boolean isClosed,
    String counters,
    List<StoreInspector.FindingReport> findings) {

  /**
   * Reads it.
   *
   * @param path the directory of the store
   * @return what was published last, and what shows from here
   * @throws dev.waymark.error.NotAStoreException if there is no store
   * @throws dev.waymark.error.UnsupportedFormatException if a newer version wrote it
   * @throws dev.waymark.error.CorruptionException if CURRENT is damaged
   */
  public static StoreStatus read(Path path) {
    try (StoreDirectory directory = RealDirectory.openReadOnly(path)) {
      return read(directory, System.currentTimeMillis());
    }
  }

  static StoreStatus read(StoreDirectory directory, long nowMillis) {
    StatusLook look = StatusLook.at(directory, nowMillis);
    return new StoreStatus(
        look.current().storeId().toString(),
        look.current().versions().readVersion(),
        ManifestLog.fileName(look.current().manifestId()),
        look.manifestBytes(),
        look.allocatedBytes(),
        look.status()
            .map(status -> OptionalLong.of(status.heartbeatMillis()))
            .orElse(OptionalLong.empty()),
        look.status()
            .filter(status -> !status.isClosed())
            .map(status -> OptionalLong.of(status.processId()))
            .orElse(OptionalLong.empty()),
        look.status().filter(Status::isClosed).isPresent(),
        look.status().map(Status::counters).orElse("{}"),
        look.findings().stream().map(StoreInspector::report).toList());
  }
}
