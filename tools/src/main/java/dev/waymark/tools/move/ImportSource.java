package dev.waymark.tools.move;

import dev.waymark.SnapshotStore;
import dev.waymark.tools.Progress;
import java.io.IOException;

/** Something that can be brought into a store. */
interface ImportSource {
  /** What it is, for programs. */
  String kind();

  /**
   * Finds all that can be found to be wrong with it, before anything is stored.
   *
   * @throws BadImportException if anything is
   * @throws BadSafetensorsException if anything is
   */
  void check(Progress progress) throws IOException;

  /** Stores it. */
  void store(SnapshotStore store, ImportTally tally, Progress progress) throws IOException;
}
