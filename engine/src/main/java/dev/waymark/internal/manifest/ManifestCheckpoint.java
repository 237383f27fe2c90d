package dev.waymark.internal.manifest;

import dev.waymark.internal.io.StoreDirectory;
import java.util.Iterator;

/** Stub. */
public final class ManifestCheckpoint {
  private ManifestCheckpoint() {}

  /** Writes the state into a new manifest, forces it, and then CURRENT, which names it. */
  public static ManifestLog write(
      StoreDirectory directory,
      long manifestId,
      StoreId storeId,
      long createdMillis,
      Iterator<? extends Edit> state,
      NextIds nextIds) {
    throw new UnsupportedOperationException();
  }
}
