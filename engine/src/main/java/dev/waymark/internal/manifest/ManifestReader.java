package dev.waymark.internal.manifest;

import dev.waymark.internal.io.StoreFile;
import java.util.function.Consumer;

/** Stub. */
public final class ManifestReader {
  private ManifestReader() {}

  /**
   * Reads a whole manifest.
   *
   * @param provenDurableBytes what else says how much of it was durable ({@link Status}), or 0
   */
  public static ManifestEnd read(
      StoreFile file,
      long manifestId,
      StoreId storeId,
      long provenDurableBytes,
      Consumer<? super Edit> edits) {
    throw new UnsupportedOperationException();
  }

  /** Reads the first bytes of a manifest that another process is writing, as it published them. */
  public static ManifestEnd readPrefix(
      StoreFile file,
      long manifestId,
      StoreId storeId,
      long prefixBytes,
      Consumer<? super Edit> edits) {
    throw new UnsupportedOperationException();
  }

  /** Reads the first frame only. */
  public static ManifestHeader readHeader(StoreFile file, long manifestId) {
    throw new UnsupportedOperationException();
  }
}
