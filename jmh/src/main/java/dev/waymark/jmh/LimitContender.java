package dev.waymark.jmh;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What the machine does at best with nothing kept but the bytes: writes into a file a lane whose
 * blocks are allocated, and copies in memory by the lane's thread for restores. No checksums, no
 * index.
 */
final class LimitContender implements Contender {
  static final String WRITE = "allocated write";
  static final String COPY = "memcpy";

  private final Path directory;
  private final Load load;
  private final boolean each;

  private LimitContender(Path directory, Load load, boolean each) throws IOException {
    this.directory = Files.createDirectories(directory);
    this.load = load;
    this.each = each;
  }

  static Factory factory(String name) {
    return new Factory(name, LimitContender::new);
  }

  @Override
  public Lane lane(int number) {
    return new OfBytes(directory.resolve(Integer.toString(number)), load.lane(number));
  }

  @Override
  public void close() {}

  private final class OfBytes implements Lane {
    private final Path file;
    private final Load.Lane lane;
    private FileChannel channel;

    OfBytes(Path file, Load.Lane lane) {
      this.file = file;
      this.lane = lane;
    }

    @Override
    public void put(int boundary) throws IOException {
      if (channel == null) {
        Os.allocate(file, load.laneBytes());
        channel = FileChannel.open(file, StandardOpenOption.WRITE);
      }
      ByteBuffer bytes = lane.packed(boundary);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      if (each) {
        channel.force(false);
      }
    }

    @Override
    public void complete() throws IOException {
      channel.force(true);
      channel.close();
      Os.forceDirectory(directory);
    }

    @Override
    public void restore() {
      for (int i = 0; i < load.boundaries(); i++) {
        lane.unpacked(i).put(lane.packed(i));
      }
    }
  }
}
