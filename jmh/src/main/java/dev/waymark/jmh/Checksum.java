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
    CRC32C crc = new CRC32C();
    for (int at = 0; at < bytes.capacity(); at += PIECE) {
      ByteBuffer piece = piece(bytes, at);
      crc.update(piece);
      writeFully(channel, piece.rewind());
    }
    writeFully(channel, ByteBuffer.allocate(BYTES).putInt((int) crc.getValue()).flip());
  }

  static void read(FileChannel channel, ByteBuffer target) throws IOException {
    CRC32C crc = new CRC32C();
    for (int at = 0; at < target.capacity(); at += PIECE) {
      ByteBuffer piece = piece(target, at);
      readFully(channel, piece);
      crc.update(piece.rewind());
    }
    ByteBuffer trailer = ByteBuffer.allocate(BYTES);
    readFully(channel, trailer);
    require((int) crc.getValue(), trailer.getInt(0));
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

  private static ByteBuffer piece(ByteBuffer bytes, int at) {
    return bytes.slice(at, Math.min(PIECE, bytes.capacity() - at));
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
