package dev.waymark;

import dev.waymark.internal.check.Verifier;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Says whether a store is what its manifest says, and where every byte of every file is. Reads
 * only: takes no lock, heals nothing, and works beside a live writer.
 */
public final class StoreVerifier {
  private StoreVerifier() {}

  /** How closely to look. */
  public enum Level {
    /** The manifest, what it adds up to, and the place of every byte. */
    STRUCTURE,
    /** Also headers, descriptions of namespaces, and every record's front and checksums. */
    CHECKSUM,
    /** Also whether each chunk can be decoded, and the footers of segments. */
    ALL
  }

  /**
   * What was found.
   *
   * @param findings what is wrong, or worth knowing
   * @param files where the bytes of each file are; each adds up to what is allocated
   * @param boundaries boundaries that are there
   * @param points restore points that are there
   * @param recordsChecked records that were read
   * @param bytesChecked their stored bytes
   */
  public record Report(
      List<StoreInspector.FindingReport> findings,
      List<FileBytes> files,
      long boundaries,
      long points,
      long recordsChecked,
      long bytesChecked) {

    /** {@return whether something that was stored is lost or wrong} */
    public boolean isDamaged() {
      return findings.stream().anyMatch(finding -> finding.severity().equals("ERROR"));
    }

    /** {@return whether edits that were never acknowledged stand at the manifest's end} */
    public boolean isTorn() {
      return findings.stream().anyMatch(finding -> finding.id().equals("MANIFEST_TORN_TAIL"));
    }
  }

  /**
   * Where the bytes of one file are: {@code allocated = live + dead + framing + reserved +
   * unaccounted}.
   *
   * @param lengthBytes of the file, holes counted
   * @param allocatedBytes what the file system says that it occupies
   * @param liveBytes records that live
   * @param deadBytes what nothing needs and did not come back yet
   * @param framingBytes headers, descriptions, footers, padding, edits, the small files
   * @param reservedBytes allocated ahead
   * @param unaccountedBytes what none of these explains; all of a file that nothing names
   */
  public record FileBytes(
      String file,
      long lengthBytes,
      long allocatedBytes,
      long liveBytes,
      long deadBytes,
      long framingBytes,
      long reservedBytes,
      long unaccountedBytes) {}

  /**
   * Verifies the store in a directory.
   *
   * @param path the directory of the store
   * @param level how closely to look
   * @param progressBytes told of stored bytes that were checked, record by record
   * @return what was found
   * @throws dev.waymark.error.NotAStoreException if there is none
   * @throws dev.waymark.error.UnsupportedFormatException if a newer version wrote it
   * @throws dev.waymark.error.CorruptionException if CURRENT or its manifest is damaged
   * @throws dev.waymark.error.MovingException if a writer moved on at every look
   */
  public static Report verify(Path path, Level level, LongConsumer progressBytes) {
    try (StoreDirectory directory = RealDirectory.openReadOnly(path)) {
      return verify(directory, System::currentTimeMillis, level, progressBytes);
    }
  }

  static Report verify(
      StoreDirectory directory, LongSupplier clockMillis, Level level, LongConsumer progressBytes) {
    Verifier.Result result =
        Verifier.verify(
            directory, clockMillis, Verifier.Level.valueOf(level.name()), progressBytes);
    return new Report(
        result.findings().stream()
            .map(
                f ->
                    new StoreInspector.FindingReport(
                        f.id(), f.severity().name(), f.file(), f.offsetBytes(), f.text()))
            .toList(),
        result.files().stream()
            .map(
                f ->
                    new FileBytes(
                        f.file(),
                        f.lengthBytes(),
                        f.allocatedBytes(),
                        f.liveBytes(),
                        f.deadBytes(),
                        f.framingBytes(),
                        f.reservedBytes(),
                        f.unaccountedBytes()))
            .toList(),
        result.boundaries(),
        result.points(),
        result.recordsChecked(),
        result.bytesChecked());
  }
}
