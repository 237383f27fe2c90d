package dev.waymark.internal.manifest;

import dev.waymark.internal.io.StoreDirectory;

/** Stub. */
public final class CurrentFile {
  /** Its name. */
  public static final String NAME = "CURRENT";

  /** What it is called until it is complete; a leftover of that name is worth nothing. */
  public static final String TEMPORARY_NAME = "CURRENT.tmp";

  private CurrentFile() {}

  /** Reads it; NotAStoreException where it is missing. */
  public static Current read(StoreDirectory directory) {
    throw new UnsupportedOperationException();
  }

  /** Replaces it, durably. */
  public static void write(StoreDirectory directory, Current current) {
    throw new UnsupportedOperationException();
  }
}
