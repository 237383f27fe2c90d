package dev.waymark.jmh;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.zip.CRC32C;

/**
 * The CRC32C that files and peers keep behind a boundary's bytes. It is taken of pieces that are
 * still in the cache, on the way in and on the way out.
 */
final class Checksum {
  static final int BYTES = Integer.BYTES;
  private static final int PIECE = 1 << 20;

  private Checksum() {}

  static void write(FileChannel channel, ByteBuffer bytes) throws IOException {
    int checksum = pieces(bytes, piece -> writeFully(channel, piece));
    writeFully(channel, ByteBuffer.allocate(BYTES).putInt(checksum).flip());
  }

  static void read(FileChannel channel, ByteBuffer target) throws IOException {
    int checksum = pieces(target, piece -> readFully(channel, piece));
    ByteBuffer trailer = ByteBuffer.allocate(BYTES);
    readFully(channel, trailer);
    require(checksum, trailer.getInt(0));
  }

  /** Writes a piece, or fills it. */
  @FunctionalInterface
  interface Step {
    void take(ByteBuffer piece) throws IOException;
  }

  /** Takes all of a buffer, piece by piece; the checksum of it, as it is then. */
  static int pieces(ByteBuffer bytes, Step step) throws IOException {
    CRC32C crc = new CRC32C();
    for (int at = 0; at < bytes.capacity(); at += PIECE) {
      ByteBuffer piece = bytes.slice(at, Math.min(PIECE, bytes.capacity() - at));
      step.take(piece);
      crc.update(piece.rewind());
    }
    return (int) crc.getValue();
  }

  /** Copies all of one buffer to the start of another; the checksum of it. */
  static int copy(ByteBuffer source, ByteBuffer target, int lengthBytes) {
    CRC32C crc = new CRC32C();
    for (int at = 0; at < lengthBytes; at += PIECE) {
      int length = Math.min(PIECE, lengthBytes - at);
      target.put(at, source, at, length);
      crc.update(target.slice(at, length));
    }
    return (int) crc.getValue();
  }

  static void require(int found, int expected) throws IOException {
    if (found != expected) {
      throw new IOException("a boundary does not match its checksum");
    }
  }

  private static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  private static void readFully(FileChannel channel, ByteBuffer target) throws IOException {
    while (target.hasRemaining()) {
      if (channel.read(target) < 0) {
        throw new IOException("a file is too short");
      }
    }
  }
}
