package dev.waymark;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.NotAStoreException;
import dev.waymark.internal.check.StoreLook;
import dev.waymark.internal.io.JvmFlags;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.recover.ManifestRebuild;
import java.nio.file.Path;
import java.util.List;

/**
 * Gets a store back whose manifest is lost or damaged, from the records alone. Looking changes
 * nothing; applying needs the writer's lock, and moves what it replaces to the quarantine.
 */
public final class StoreRepair {
  private StoreRepair() {}

  /**
   * What a rebuild gives.
   *
   * @param boundaries boundaries that it brings back
   * @param points restore points that it brings back
   * @param segments segments that can be used
   * @param findings what cannot be used, or cannot be known
   * @param applied whether the new manifest is in force; never where the store holds nothing yet,
   *     as there is nothing to rebuild
   */
  public record Report(
      long boundaries,
      long points,
      int segments,
      List<StoreInspector.FindingReport> findings,
      boolean applied) {}

  /**
   * Rebuilds the manifest. Reads and verifies every record of every segment.
   *
   * <p>Records do not say that they were dropped: what was dropped and whose bytes were not given
   * back yet is there again. It is right, but may not be wanted.
   *
   * @param path the directory of the store
   * @param apply whether to put the new manifest in force, or only say what it would hold
   * @return what was found, and what the new manifest holds
   * @throws dev.waymark.error.StoreLockedException if a writer has the store open
   * @throws dev.waymark.error.NotAStoreException if there is no segment; the directory is left as
   *     it is
   * @throws dev.waymark.error.CorruptionException if no segment can be used; likewise
   * @throws dev.waymark.error.UnsupportedFormatException if a newer version wrote the store
   */
  public static Report rebuildManifest(Path path, boolean apply) {
    return rebuildManifest(path, apply, (doneBytes, allBytes) -> {});
  }

  /** Is told how far a rebuild is. */
  @FunctionalInterface
  public interface Progress {
    /**
     * So much of it is done.
     *
     * @param doneBytes bytes of records that were read
     * @param allBytes bytes of all records
     */
    void at(long doneBytes, long allBytes);
  }

  /**
   * Rebuilds the manifest, and says on the way how far it is. Reads and verifies every record of
   * every segment.
   *
   * <p>Records do not say that they were dropped: what was dropped and whose bytes were not given
   * back yet is there again. It is right, but may not be wanted.
   *
   * @param path the directory of the store
   * @param apply whether to put the new manifest in force, or only say what it would hold
   * @param progress is told of every record that was read
   * @return what was found, and what the new manifest holds
   * @throws dev.waymark.error.StoreLockedException if a writer has the store open
   * @throws dev.waymark.error.NotAStoreException if there is no segment; the directory is left as
   *     it is
   * @throws dev.waymark.error.CorruptionException if no segment can be used; likewise
   * @throws dev.waymark.error.UnsupportedFormatException if a newer version wrote the store
   */
  public static Report rebuildManifest(Path path, boolean apply, Progress progress) {
    JvmFlags.check();
    try (StoreDirectory directory =
        apply ? RealDirectory.openForWriting(path, false) : RealDirectory.openReadOnly(path)) {
      return rebuildManifest(directory, apply, progress);
    }
  }

  static Report rebuildManifest(StoreDirectory directory, boolean apply, Progress progress) {
    if (apply) {
      if (!isNamedAStore(directory)) {
        // Before the lock, whose file would be left in a directory that is no store.
        ManifestRebuild.requireSegments(directory);
      }
      // Before any judgement: beside a writer there is nothing to apply.
      directory.lock();
    }
    if (holdsNothingYet(directory)) {
      return new Report(0, 0, 0, List.of(), false);
    }
    ManifestRebuild rebuild = ManifestRebuild.look(directory, progress::at);
    if (apply) {
      rebuild.apply(System.currentTimeMillis());
    }
    return new Report(
        rebuild.forest().boundaryCount(),
        rebuild.forest().pointCount(),
        rebuild.segmentCount(),
        rebuild.findings().stream()
            .map(
                f ->
                    new StoreInspector.FindingReport(
                        f.id(), f.severity().name(), f.file(), f.offsetBytes(), f.text()))
            .toList(),
        apply);
  }

  private static boolean isNamedAStore(StoreDirectory directory) {
    try {
      CurrentFile.read(directory);
      return true;
    } catch (CorruptionException | NotAStoreException e) {
      return false;
    }
  }

  /** A store that was made and never written to has no segment, and a manifest that is right. */
  private static boolean holdsNothingYet(StoreDirectory directory) {
    if (!directory.exists(CurrentFile.NAME)
        || directory.list().stream().anyMatch(name -> name.endsWith(".seg"))) {
      return false;
    }
    try {
      return StoreLook.at(directory, System::currentTimeMillis).forest().boundaryCount() == 0;
    } catch (CorruptionException e) {
      return false;
    }
  }
}
