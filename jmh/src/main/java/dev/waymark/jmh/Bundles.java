package dev.waymark.jmh;

import dev.waymark.layout.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What servers do without a store: a file a boundary, each with all rows so far, the whole window
 * and the whole fixed state, and a checksum; each durable when it is written.
 */
final class Bundles {
  private final Path directory;
  private final Layout layout;
  private final ByteBuffer bytes;

  Bundles(Path directory, Layout layout, int boundaries) throws IOException {
    this.directory = Files.createDirectories(directory);
    this.layout = layout;
    this.bytes = Cache.direct(bytes(layout, boundaries));
  }

  /** Bytes of one at a boundary, counted from 1. */
  static long bytes(Layout layout, int boundary) {
    int to = boundary * layout.blockTokens();
    return layout.rowBytes(0, to) + layout.windowBytes(0, to) + layout.fixedBytes();
  }

  /** Bytes of all up to a boundary. */
  static long bytesOfAll(Layout layout, int boundaries) {
    long sum = 0;
    for (int i = 1; i <= boundaries; i++) {
      sum += bytes(layout, i) + Checksum.BYTES;
    }
    return sum;
  }

  void write(int boundary) throws IOException {
    ByteBuffer own = bytes.clear().slice(0, (int) bytes(layout, boundary));
    try (FileChannel channel =
        FileChannel.open(
            directory.resolve(Integer.toString(boundary)),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.WRITE)) {
      Checksum.write(channel, own);
      channel.force(true);
    }
    Os.forceDirectory(directory);
  }
}
