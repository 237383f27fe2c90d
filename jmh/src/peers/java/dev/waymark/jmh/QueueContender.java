package dev.waymark.jmh;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;

/**
 * Chronicle Queue: a queue a lane, a document a boundary. What it calls a sync leaves earlier parts
 * of a file out, so the files themselves are forced.
 */
final class QueueContender implements Contender {
  private static final long LEAST_BLOCK = 64L << 20;

  private final Path directory;
  private final Load load;
  private final boolean each;

  private QueueContender(Path directory, Load load, boolean each) {
    this.directory = directory;
    this.load = load;
    this.each = each;
  }

  static Factory factory() {
    return new Factory("Chronicle Queue", QueueContender::version, QueueContender::new);
  }

  private static String version() {
    String version = ChronicleQueue.class.getPackage().getImplementationVersion();
    return version == null ? "" : version;
  }

  @Override
  public Lane lane(int number) {
    return new OfDocuments(directory.resolve(Integer.toString(number)), load.lane(number));
  }

  @Override
  public void close() {}

  private final class OfDocuments implements Lane {
    private final Path path;
    private final Load.Lane lane;
    private ChronicleQueue queue;
    private ExcerptAppender appender;

    OfDocuments(Path path, Load.Lane lane) {
      this.path = path;
      this.lane = lane;
    }

    private ChronicleQueue build() {
      return SingleChronicleQueueBuilder.binary(path)
          .blockSize(Math.max(LEAST_BLOCK, 4 * load.boundaryBytes(load.boundaries() - 1)))
          .build();
    }

    @Override
    public void put(int boundary) throws IOException {
      if (queue == null) {
        queue = build();
        appender = queue.createAppender();
      }
      try (DocumentContext document = appender.writingDocument()) {
        Bytes<?> target = document.wire().bytes();
        int checksum =
            Checksum.pieces(
                lane.packed(boundary),
                piece -> {
                  target.write(target.writePosition(), piece, 0, piece.capacity());
                  target.writeSkip(piece.capacity());
                });
        target.writeInt(checksum);
      }
      if (each) {
        force();
      }
    }

    private void force() throws IOException {
      for (Path file : Os.files(path)) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
          channel.force(true);
        }
      }
      Os.forceDirectory(path);
    }

    @Override
    public void complete() throws IOException {
      force();
      appender.close();
      queue.close();
      queue = null;
    }

    @Override
    public void restore() throws IOException {
      try (ChronicleQueue reader = build();
          ExcerptTailer tailer = reader.createTailer()) {
        for (int i = 0; i < load.boundaries(); i++) {
          ByteBuffer target = lane.unpacked(i);
          try (DocumentContext document = tailer.readingDocument()) {
            Bytes<?> bytes = document.wire().bytes();
            Checksum.require(Checksum.pieces(target, bytes::read), bytes.readInt());
          }
        }
      }
    }
  }
}
