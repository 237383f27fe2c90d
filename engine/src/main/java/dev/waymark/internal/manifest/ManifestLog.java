package dev.waymark.internal.manifest;

import dev.waymark.internal.io.StoreDirectory;

/** Stub. */
public final class ManifestLog implements AutoCloseable {
  private ManifestLog() {}

  /** The file of a manifest. */
  public static String fileName(long manifestId) {
    return "manifest-" + manifestId + ".log";
  }

  /** Creates the file and writes its header; durable after {@link #force} and the directory's. */
  public static ManifestLog create(
      StoreDirectory directory, long manifestId, StoreId storeId, long createdMillis) {
    throw new UnsupportedOperationException();
  }

  /** Adds an edit to the batch in memory; throws DiskFullException where there is no room. */
  public void append(Edit edit, boolean mayUseReserve) {
    throw new UnsupportedOperationException();
  }

  /** Writes the batch. */
  public void flushBatch() {
    throw new UnsupportedOperationException();
  }

  /** Makes what was flushed durable. */
  public void force() {
    throw new UnsupportedOperationException();
  }

  /** Writes and forces a mark that proves all before it durable; for a clean close. */
  public void proveDurable() {
    throw new UnsupportedOperationException();
  }

  /** The number in its name. */
  public long manifestId() {
    throw new UnsupportedOperationException();
  }

  /** Bytes written. */
  public long lengthBytes() {
    throw new UnsupportedOperationException();
  }

  /** Bytes of the batch in memory. */
  public long pendingBytes() {
    throw new UnsupportedOperationException();
  }

  /** Bytes known to be durable. */
  public long durableLengthBytes() {
    throw new UnsupportedOperationException();
  }

  /** Length of the file, the space allocated ahead included. */
  public long allocatedBytes() {
    throw new UnsupportedOperationException();
  }

  /** Whether a write or a force failed. */
  public boolean isPoisoned() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
