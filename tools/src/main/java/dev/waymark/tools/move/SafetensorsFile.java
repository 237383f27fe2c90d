package dev.waymark.tools.move;

import dev.waymark.layout.Memory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/**
 * A safetensors file that is open for reading. Takes memory for its header, and for tensors that
 * are asked for; never for more than the file holds.
 */
final class SafetensorsFile implements AutoCloseable {
  private static final long MAP_BYTES = 1L << 30;

  private final FileStamp stamp;
  private final Path path;
  private final FileChannel channel;
  private final SafetensorsHeader header;
  private final long fileBytes;

  private SafetensorsFile(
      FileStamp stamp, FileChannel channel, SafetensorsHeader header, long fileBytes) {
    this.stamp = stamp;
    this.path = stamp.path();
    this.channel = channel;
    this.header = header;
    this.fileBytes = fileBytes;
  }

  /**
   * Opens a file and reads its header.
   *
   * @throws BadSafetensorsException if that is not what it should be
   * @throws BadImportException if it is a link, or no plain file
   */
  static SafetensorsFile open(Path path) throws IOException {
    return open(FileStamp.of(path));
  }

  /**
   * Opens the file that was looked at, and reads its header.
   *
   * @throws BadSafetensorsException if that is not what it should be
   * @throws BadImportException if it is a link, or no plain file, or not the one of the stamp
   */
  static SafetensorsFile open(FileStamp stamp) throws IOException {
    Path path = stamp.path();
    FileChannel channel = stamp.open();
    try {
      long fileBytes = channel.size();
      byte[] front = new byte[(int) Math.min(SafetensorsHeader.LENGTH_BYTES, fileBytes)];
      PlainFiles.read(channel, 0, front, path);
      byte[] json = new byte[(int) SafetensorsHeader.headerBytes(front, fileBytes)];
      PlainFiles.read(channel, SafetensorsHeader.LENGTH_BYTES, json, path);
      return new SafetensorsFile(
          stamp, channel, SafetensorsHeader.parse(json, fileBytes), fileBytes);
    } catch (BadSafetensorsException e) {
      channel.close();
      throw e.in(PlainFiles.shown(path));
    } catch (IOException | RuntimeException | Error e) {
      channel.close();
      throw e;
    }
  }

  /** What it was when it was opened. */
  FileStamp stamp() {
    return stamp;
  }

  Path path() {
    return path;
  }

  String shownName() {
    return PlainFiles.shown(path);
  }

  SafetensorsHeader header() {
    return header;
  }

  long fileBytes() {
    return fileBytes;
  }

  /** A tensor's bytes, mapped, so that those are read which are asked for. */
  Memory map(SafetensorsHeader.Tensor tensor) throws IOException {
    List<ByteBuffer> pieces = new ArrayList<>();
    long at = header.dataOffset() + tensor.beginBytes();
    long end = header.dataOffset() + tensor.endBytes();
    while (at < end) {
      long length = Math.min(MAP_BYTES, end - at);
      pieces.add(channel.map(FileChannel.MapMode.READ_ONLY, at, length));
      at += length;
    }
    return Memory.of(pieces);
  }

  /** A tensor's bytes, read. */
  byte[] read(SafetensorsHeader.Tensor tensor) throws IOException {
    if (tensor.lengthBytes() > Integer.MAX_VALUE - 16) {
      throw new BadImportException(
          ImportFault.TOO_LARGE,
          shownName(),
          "a tensor below 2 GiB",
          tensor.lengthBytes() + " bytes",
          "store shorter blocks");
    }
    byte[] bytes = new byte[(int) tensor.lengthBytes()];
    PlainFiles.read(channel, header.dataOffset() + tensor.beginBytes(), bytes, path);
    return bytes;
  }

  /** Adds all its bytes to a digest. */
  void digest(MessageDigest digest) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(1 << 20, Math.max(1, fileBytes)));
    for (long at = 0; at < fileBytes; at += buffer.limit()) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), fileBytes - at));
      while (buffer.hasRemaining()) {
        if (channel.read(buffer, at + buffer.position()) < 0) {
          throw FileStamp.changed(path, null);
        }
      }
      digest.update(buffer.flip());
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
