package dev.waymark.internal.manifest;

import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;

/** Removal of a file that could not be completed, where the failure that led there counts more. */
final class Leftovers {
  private Leftovers() {}

  /** Closes and removes the file; what goes wrong in doing so is added to the failure. */
  static void remove(StoreDirectory directory, StoreFile file, Throwable failure) {
    try (file) {
      directory.delete(file.name());
    } catch (RuntimeException e) {
      if (e != failure) {
        failure.addSuppressed(e);
      }
    }
  }
}
