package dev.waymark.internal.manifest;

import dev.waymark.internal.io.StoreDirectory;
import java.util.Optional;

/** Stub. */
public final class StatusFile implements AutoCloseable {
  /** Its name. */
  public static final String NAME = "STATUS";

  /** Its length, always. */
  public static final int LENGTH_BYTES = 4096;

  private StatusFile() {}

  /** Opens it for publishing, and makes it where it is missing. */
  public static StatusFile open(StoreDirectory directory) {
    throw new UnsupportedOperationException();
  }

  /** Publishes by one write, without a force. */
  public void publish(Status status) {
    throw new UnsupportedOperationException();
  }

  /** Reads what was published last; empty where there is nothing valid of that store. */
  public static Optional<Status> read(StoreDirectory directory, StoreId storeId) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
