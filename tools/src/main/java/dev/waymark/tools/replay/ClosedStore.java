package dev.waymark.tools.replay;

import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.ManifestLog;
import java.nio.file.Path;

/**
 * What a store leaves behind when it is closed.
 *
 * @param allocatedBytes of all its files, by the file system's count
 * @param manifestBytes length of its manifest
 */
record ClosedStore(long allocatedBytes, long manifestBytes) {

  /** Looks at a store that nobody has open. */
  static ClosedStore look(Path path) {
    try (StoreDirectory directory = RealDirectory.openReadOnly(path)) {
      String manifest = ManifestLog.fileName(CurrentFile.read(directory).manifestId());
      try (StoreFile file = directory.openReadOnly(manifest)) {
        return new ClosedStore(directory.allocatedBytes(), file.lengthBytes());
      }
    }
  }
}
