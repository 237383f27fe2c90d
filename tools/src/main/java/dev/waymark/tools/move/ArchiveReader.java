package dev.waymark.tools.move;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.waymark.tools.move.ArchiveFormat.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * Reads records one behind the other, and finds each of them to be what was written before it is
 * given away. Takes memory for heads, which are no longer than the file; bodies stay there.
 */
final class ArchiveReader implements AutoCloseable {
  private static final int COPY_BYTES = 1 << 16;

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** Heads are descriptions: what is longer is none, and no memory is taken for it. */
  private static final int MOST_HEAD_BYTES = 64 << 20;

  private final FileStamp stamp;
  private final Path path;
  private final FileChannel channel;
  private final long fileBytes;
  private byte[] hash = new byte[ArchiveFormat.HASH_BYTES];
  private long position;

  /**
   * One record.
   *
   * @param offsetBytes where it begins
   * @param bodyOffset where its body begins, in the file
   */
  record Entry(Kind kind, JsonNode head, long offsetBytes, long bodyOffset, long bodyBytes) {}

  private ArchiveReader(FileStamp stamp, FileChannel channel) throws IOException {
    this.path = stamp.path();
    this.stamp = stamp;
    this.channel = channel;
    this.fileBytes = channel.size();
  }

  static ArchiveReader open(Path path) throws IOException {
    return open(FileStamp.of(path));
  }

  /** Opens the file that was looked at. */
  static ArchiveReader open(FileStamp stamp) throws IOException {
    FileChannel channel = stamp.open();
    try {
      return new ArchiveReader(stamp, channel);
    } catch (IOException | RuntimeException | Error e) {
      channel.close();
      throw e;
    }
  }

  /** Whether a file begins as an archive does. */
  static boolean isArchive(Path path) throws IOException {
    try (FileChannel channel = PlainFiles.open(path)) {
      ByteBuffer magic = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
      return channel.read(magic, 0) == 4 && magic.getInt(0) == ArchiveFormat.MAGIC;
    }
  }

  /**
   * The next record, or null at the end of the file.
   *
   * @throws BadImportException if it is not what was written
   */
  Entry next() throws IOException {
    long start = position;
    if (start == fileBytes) {
      return null;
    }
    if (fileBytes - start < ArchiveFormat.FRONT_BYTES + ArchiveFormat.HASH_BYTES) {
      throw cutShort(start);
    }
    byte[] bytes = new byte[ArchiveFormat.FRONT_BYTES];
    PlainFiles.read(channel, start, bytes, path);
    ByteBuffer front = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    Kind kind = Kind.ofWireCode(front.getShort(4));
    long headBytes = front.getLong(8);
    long bodyBytes = front.getLong(16);
    if (front.getInt(0) != ArchiveFormat.MAGIC) {
      throw bad(
          start == 0 ? ImportFault.NOT_AN_ARCHIVE : ImportFault.ARCHIVE_BAD_RECORD,
          start,
          "the magic of a record",
          "something else");
    }
    if (kind == null || front.getShort(6) != 0 || headBytes < 0 || bodyBytes < 0) {
      throw bad(ImportFault.ARCHIVE_BAD_RECORD, start, "a kind and lengths", "something else");
    }
    long left = fileBytes - start - ArchiveFormat.FRONT_BYTES - ArchiveFormat.HASH_BYTES;
    if (headBytes > left || bodyBytes > left - headBytes) {
      throw cutShort(start);
    }
    if (headBytes > MOST_HEAD_BYTES) {
      throw bad(
          ImportFault.TOO_LARGE,
          start,
          "a head of at most " + MOST_HEAD_BYTES + " bytes",
          headBytes);
    }
    byte[] head = new byte[(int) headBytes];
    PlainFiles.read(channel, start + ArchiveFormat.FRONT_BYTES, head, path);
    long bodyOffset = start + ArchiveFormat.FRONT_BYTES + headBytes;
    check(start, bytes, head, bodyOffset, bodyBytes);
    position = bodyOffset + bodyBytes + ArchiveFormat.HASH_BYTES;
    return new Entry(kind, json(head, start), start, bodyOffset, bodyBytes);
  }

  private void check(long start, byte[] front, byte[] head, long bodyOffset, long bodyBytes)
      throws IOException {
    MessageDigest digest = ArchiveFormat.sha256();
    digest.update(hash);
    digest.update(front);
    digest.update(head);
    byte[] copy = new byte[(int) Math.min(COPY_BYTES, bodyBytes)];
    for (long at = 0; at < bodyBytes; at += copy.length) {
      if (bodyBytes - at < copy.length) {
        copy = new byte[(int) (bodyBytes - at)];
      }
      PlainFiles.read(channel, bodyOffset + at, copy, path);
      digest.update(copy);
    }
    byte[] expected = new byte[ArchiveFormat.HASH_BYTES];
    PlainFiles.read(channel, bodyOffset + bodyBytes, expected, path);
    byte[] found = digest.digest();
    if (!Arrays.equals(expected, found)) {
      throw bad(ImportFault.ARCHIVE_HASH_DIFFERS, start, "the hash behind it", "another");
    }
    hash = found;
  }

  private JsonNode json(byte[] head, long start) {
    try {
      JsonNode node = JSON.readTree(head);
      if (node != null && node.isObject()) {
        return node;
      }
    } catch (JsonProcessingException e) {
      // The parser's own message shows some of the text.
      throw bad(ImportFault.ARCHIVE_BAD_RECORD, start, "a head that is JSON", "something else");
    } catch (IOException e) {
      throw bad(ImportFault.ARCHIVE_BAD_RECORD, start, "a head in UTF-8", "something else");
    }
    throw bad(ImportFault.ARCHIVE_BAD_RECORD, start, "a head that is an object", "something else");
  }

  /** Reads from a body into memory. */
  void read(long offset, byte[] target) throws IOException {
    PlainFiles.read(channel, offset, target, path);
  }

  /** What it was when it was opened. */
  FileStamp stamp() {
    return stamp;
  }

  long fileBytes() {
    return fileBytes;
  }

  long position() {
    return position;
  }

  String shownName() {
    return PlainFiles.shown(path);
  }

  BadImportException cutShort(long at) {
    return bad(ImportFault.ARCHIVE_CUT_SHORT, at, "a whole record", (fileBytes - at) + " bytes");
  }

  BadImportException bad(ImportFault fault, long at, Object expected, Object found) {
    return BadImportException.at(fault, shownName(), at, expected, found);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
