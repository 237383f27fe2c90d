package dev.waymark.internal.manifest;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.Text;
import dev.waymark.internal.wire.StatusDecoder;
import dev.waymark.internal.wire.StatusEncoder;
import java.util.Arrays;
import java.util.Optional;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * STATUS: one frame in one page, written over by a single write and never forced. A reader that
 * catches it half written sees that by the checksum, and looks again. What it says of the manifest
 * was durable before it was written, so it is true whichever write of it survived.
 *
 * <p>One thread at a time publishes.
 */
public final class StatusFile implements AutoCloseable {
  /** Its name. */
  public static final String NAME = "STATUS";

  /** Its length, always. */
  public static final int LENGTH_BYTES = 4096;

  private static final byte[] ZEROS = new byte[LENGTH_BYTES];
  private static final int READS = 8;
  private static final MessageShape SHAPE = MessageShape.texts(StatusDecoder.BLOCK_LENGTH, 1);
  private static final int MAX_COUNTERS_BYTES =
      LENGTH_BYTES
          - Frame.HEADER_BYTES
          - StatusEncoder.BLOCK_LENGTH
          - StatusEncoder.countersHeaderLength();

  private final StoreDirectory directory;
  private StoreFile file;
  private final byte[] page = new byte[LENGTH_BYTES];
  private final UnsafeBuffer buffer = new UnsafeBuffer(page);

  private StatusFile(StoreDirectory directory, StoreFile file) {
    this.directory = directory;
    this.file = file;
  }

  /** Opens it for publishing, and makes it, allocated, where it is missing. */
  public static StatusFile open(StoreDirectory directory) {
    return new StatusFile(directory, openFile(directory));
  }

  private static StoreFile openFile(StoreDirectory directory) {
    StoreFile file = directory.exists(NAME) ? directory.open(NAME) : directory.create(NAME);
    try {
      if (file.lengthBytes() > LENGTH_BYTES) {
        file.setLength(LENGTH_BYTES);
      }
      file.allocate(0, LENGTH_BYTES);
      return file;
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  /**
   * Publishes by one write, without a force. Where the file was removed meanwhile, or cut, it is
   * made anew.
   *
   * @throws InvalidArgumentException if the counters do not fit; they are never cut
   */
  public void publish(Status status) {
    byte[] counters = Text.encode(status.counters());
    if (counters == null || counters.length > MAX_COUNTERS_BYTES) {
      throw new InvalidArgumentException(
          ErrorDetail.of("the counters cannot be published")
              .in(NAME)
              .expected("a text of at most " + MAX_COUNTERS_BYTES + " bytes")
              .found(counters == null ? "half a character" : counters.length));
    }
    Arrays.fill(page, (byte) 0);
    Frame.putMessageHeader(buffer, 0, StatusEncoder.BLOCK_LENGTH, StatusEncoder.TEMPLATE_ID);
    StatusEncoder e = new StatusEncoder().wrap(buffer, Frame.HEADER_BYTES);
    e.storeId().high(status.storeId().high()).low(status.storeId().low());
    e.manifestId(status.manifestId())
        .manifestLengthBytes(status.manifestLengthBytes())
        .heartbeatMillis(status.heartbeatMillis())
        .processId(status.processId())
        .putCounters(counters, 0, counters.length);
    Frame.seal(buffer, 0, Frame.HEADER_BYTES + e.encodedLength(), 0);
    if (!directory.exists(NAME) || directory.lengthBytes(NAME) != LENGTH_BYTES) {
      StoreFile removed = file;
      file = openFile(directory);
      removed.close();
    }
    file.write(0, buffer, 0, LENGTH_BYTES);
  }

  /**
   * Why {@link #read} finds nothing although the file is there.
   *
   * @return empty where it is fine, or missing
   */
  public static Optional<String> fault(StoreDirectory directory, StoreId storeId) {
    if (!directory.exists(NAME)) {
      return Optional.empty();
    }
    long length = directory.lengthBytes(NAME);
    if (length != LENGTH_BYTES) {
      return Optional.of("expected " + LENGTH_BYTES + " bytes, found " + length);
    }
    Optional<Status> status = read(directory);
    if (status.isEmpty()) {
      return Optional.of("it is damaged");
    }
    StoreId found = status.get().storeId();
    return found.equals(storeId) ? Optional.empty() : Optional.of("it is of store " + found);
  }

  /**
   * Reads what was published last.
   *
   * @return empty where there is nothing, nothing valid, or another store's
   */
  public static Optional<Status> read(StoreDirectory directory, StoreId storeId) {
    return read(directory).filter(status -> status.storeId().equals(storeId));
  }

  /** How much of the manifest in force was durable, as far as was published; or 0. */
  public static long provenBytes(StoreDirectory directory, Current current) {
    return read(directory, current.storeId())
        .filter(status -> status.manifestId() == current.manifestId())
        .map(Status::manifestLengthBytes)
        .orElse(0L);
  }

  private static Optional<Status> read(StoreDirectory directory) {
    if (!directory.exists(NAME)) {
      return Optional.empty();
    }
    try (StoreFile file = directory.openReadOnly(NAME)) {
      UnsafeBuffer copy = new UnsafeBuffer(new byte[LENGTH_BYTES]);
      for (int i = 0; i < READS; i++) {
        Status status = tryRead(file, copy);
        if (status != null) {
          return Optional.of(status);
        }
        Thread.yield();
      }
      return Optional.empty();
    }
  }

  /** Closes the file; what it says stays. */
  @Override
  public void close() {
    file.close();
  }

  private static Status tryRead(StoreFile file, UnsafeBuffer copy) {
    try {
      file.read(0, copy, 0, LENGTH_BYTES);
    } catch (CorruptionException e) {
      return null; // shorter than a page: its creation was cut short
    }
    Frame.Check check = Frame.check(copy, 0, LENGTH_BYTES, 0, LENGTH_BYTES);
    if (!check.isValid()
        || Frame.templateId(copy, 0) != StatusDecoder.TEMPLATE_ID
        || SHAPE.violation(copy, 0, check.lengthBytes()) != null
        || !isZero(copy.byteArray(), check.lengthBytes())) {
      return null;
    }
    StatusDecoder d =
        new StatusDecoder()
            .wrap(copy, Frame.HEADER_BYTES, Frame.blockLength(copy, 0), Frame.version(copy, 0));
    byte[] counters = new byte[d.countersLength()];
    d.getCounters(counters, 0, counters.length);
    String text = Text.decode(counters);
    if (text == null || d.manifestId() < 1 || d.manifestLengthBytes() < 0 || d.processId() < 0) {
      return null;
    }
    return new Status(
        new StoreId(d.storeId().high(), d.storeId().low()),
        d.manifestId(),
        d.manifestLengthBytes(),
        d.heartbeatMillis(),
        d.processId(),
        text);
  }

  private static boolean isZero(byte[] page, int from) {
    return Arrays.equals(page, from, LENGTH_BYTES, ZEROS, from, LENGTH_BYTES);
  }
}
