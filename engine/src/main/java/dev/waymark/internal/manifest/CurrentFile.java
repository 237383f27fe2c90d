package dev.waymark.internal.manifest;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.NotAStoreException;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.FormatVersions;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.wire.CurrentDecoder;
import dev.waymark.internal.wire.CurrentEncoder;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * CURRENT, which names the manifest in force. It is replaced as a whole: the new one is complete
 * and durable under another name before it takes this one, and the directory is forced after.
 */
public final class CurrentFile {
  /** Its name. */
  public static final String NAME = "CURRENT";

  /** What it is called until it is complete; a leftover of that name is worth nothing. */
  public static final String TEMPORARY_NAME = "CURRENT.tmp";

  /** No version's CURRENT is longer. */
  private static final int MAX_BYTES = 4096;

  private static final MessageShape SHAPE = MessageShape.fixed(CurrentDecoder.BLOCK_LENGTH);

  private CurrentFile() {}

  /**
   * Reads it. Whether the store may be written is in its versions.
   *
   * @throws NotAStoreException if there is none; it says whether the rest of a store is there
   * @throws CorruptionException if it is damaged
   * @throws dev.waymark.error.UnsupportedFormatException if the store needs a newer reader
   */
  public static Current read(StoreDirectory directory) {
    if (!directory.exists(NAME)) {
      if (directory.list().stream().anyMatch(CurrentFile::isOfAStore)) {
        throw new NotAStoreException(
            ErrorDetail.of("CURRENT is missing, though there are segments or a manifest")
                .remedy("rebuild the manifest with segtool repair --rebuild-manifest"));
      }
      throw new NotAStoreException(
          ErrorDetail.of("there is no store in " + directory.label())
              .expected("a directory with " + NAME + " in it")
              .remedy("check the path"));
    }
    try (StoreFile file = directory.openReadOnly(NAME)) {
      long length = file.lengthBytes();
      if (length > MAX_BYTES) {
        throw corrupt(length + " bytes");
      }
      UnsafeBuffer buffer = new UnsafeBuffer(new byte[(int) length]);
      file.read(0, buffer, 0, (int) length);
      return decode(buffer, (int) length);
    }
  }

  private static boolean isOfAStore(String name) {
    return name.endsWith(".seg") || name.startsWith("manifest-");
  }

  /**
   * Reads it where it is known which store it belongs to.
   *
   * @throws CorruptionException if it is another store's
   */
  public static Current read(StoreDirectory directory, StoreId storeId) {
    Current current = read(directory);
    if (!current.storeId().equals(storeId)) {
      throw new CorruptionException(
          ErrorDetail.of("a file of another store")
              .in(NAME)
              .expected("store " + storeId)
              .found("store " + current.storeId()));
    }
    return current;
  }

  /**
   * Replaces it, durably. Where this fails, a loss of power may leave either the old or the new
   * one.
   */
  public static void write(StoreDirectory directory, Current current) {
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[MAX_BYTES]);
    int lengthBytes = encode(current, buffer);
    if (directory.exists(TEMPORARY_NAME)) {
      directory.delete(TEMPORARY_NAME);
    }
    StoreFile file = directory.create(TEMPORARY_NAME);
    try {
      file.write(0, buffer, 0, lengthBytes);
      file.force();
    } catch (Throwable e) {
      Leftovers.remove(directory, file, e);
      throw e;
    }
    file.close();
    directory.rename(TEMPORARY_NAME, NAME);
    directory.force();
  }

  /** Makes durable what was read: it may be only in the page cache, of a copy for one. */
  public static void force(StoreDirectory directory) {
    try (StoreFile file = directory.open(NAME)) {
      file.force();
    }
  }

  private static int encode(Current current, UnsafeBuffer buffer) {
    Frame.putMessageHeader(buffer, 0, CurrentEncoder.BLOCK_LENGTH, CurrentEncoder.TEMPLATE_ID);
    CurrentEncoder e = new CurrentEncoder().wrap(buffer, Frame.HEADER_BYTES);
    e.storeId().high(current.storeId().high()).low(current.storeId().low());
    e.manifestId(current.manifestId());
    e.formatVersions()
        .readVersion(current.versions().readVersion())
        .writeVersion(current.versions().writeVersion());
    e.reserved(0);
    int lengthBytes = Frame.HEADER_BYTES + e.encodedLength();
    Frame.seal(buffer, 0, lengthBytes, 0);
    return lengthBytes;
  }

  private static Current decode(UnsafeBuffer buffer, int lengthBytes) {
    Frame.Check check = Frame.check(buffer, 0, lengthBytes, 0, MAX_BYTES);
    if (!check.isValid()) {
      throw corrupt(check.reason());
    }
    if (check.lengthBytes() != lengthBytes) {
      throw corrupt((lengthBytes - check.lengthBytes()) + " bytes after its frame");
    }
    if (Frame.templateId(buffer, 0) != CurrentDecoder.TEMPLATE_ID) {
      throw corrupt("message " + Frame.templateId(buffer, 0));
    }
    String violation = SHAPE.violation(buffer, 0, lengthBytes);
    if (violation != null) {
      throw corrupt(violation);
    }
    CurrentDecoder d =
        new CurrentDecoder()
            .wrap(
                buffer, Frame.HEADER_BYTES, Frame.blockLength(buffer, 0), Frame.version(buffer, 0));
    FormatVersions versions =
        new FormatVersions(d.formatVersions().readVersion(), d.formatVersions().writeVersion());
    versions.requireReadable(NAME);
    if (d.reserved() != 0) {
      throw corrupt("reserved bytes that are not zero");
    }
    if (d.manifestId() < 1) {
      throw corrupt("manifest " + d.manifestId());
    }
    if (!versions.isPossible()) {
      throw corrupt(versions);
    }
    return new Current(
        new StoreId(d.storeId().high(), d.storeId().low()), d.manifestId(), versions);
  }

  private static CorruptionException corrupt(Object found) {
    return new CorruptionException(
        ErrorDetail.of("the file that names the manifest is damaged")
            .at(NAME, 0)
            .found(found)
            .remedy("repair can rebuild it"));
  }
}
