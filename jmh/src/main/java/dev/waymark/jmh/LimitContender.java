package dev.waymark.jmh;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;

/**
 * What the machine does at best with nothing kept but the bytes: writes into a file a lane whose
 * blocks are allocated, and copies in memory by the lane's thread for restores. No index; and no
 * checksums, except where what is copied goes through memory in which it is verified first, as
 * whatever restores from a map in which pages can fail must do.
 */
final class LimitContender implements Contender {
  static final String WRITE = "allocated write";
  static final String COPY = "memcpy";
  static final String VERIFIED = "copy, CRC32C, copy";
  private static final int STEP_BYTES = 128 << 10;

  private final Path directory;
  private final Load load;
  private final boolean each;
  private final boolean verifies;

  private LimitContender(Path directory, Load load, boolean each, boolean verifies)
      throws IOException {
    this.directory = Files.createDirectories(directory);
    this.load = load;
    this.each = each;
    this.verifies = verifies;
  }

  static Factory factory(String name) {
    return new Factory(
        name,
        (directory, load, each) ->
            new LimitContender(directory, load, each, name.equals(VERIFIED)));
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
    private final ByteBuffer checked = ByteBuffer.allocateDirect(STEP_BYTES);
    private final CRC32C checksum = new CRC32C();
    private FileChannel channel;

    /** Where the checksums go, so that they are not compiled away. */
    @SuppressWarnings("UnusedVariable")
    private long sum;

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
        if (verifies) {
          copyVerified(lane.packed(i), lane.unpacked(i));
        } else {
          lane.unpacked(i).put(lane.packed(i));
        }
      }
    }

    private void copyVerified(ByteBuffer from, ByteBuffer to) {
      for (int done = 0; done < from.capacity(); done += STEP_BYTES) {
        int step = Math.min(STEP_BYTES, from.capacity() - done);
        checked.clear().limit(step).put(0, from, done, step);
        checksum.reset();
        checksum.update(checked);
        to.put(done, checked, 0, step);
      }
      sum += checksum.getValue();
    }
  }
}
