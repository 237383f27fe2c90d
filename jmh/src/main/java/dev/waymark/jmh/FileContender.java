package dev.waymark.jmh;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** A file a boundary: its bytes, and their checksum behind them. */
final class FileContender implements Contender {
  static final String NAME = "file a boundary";

  private final Path directory;
  private final Load load;
  private final boolean each;

  private FileContender(Path directory, Load load, boolean each) throws IOException {
    this.directory = Files.createDirectories(directory);
    this.load = load;
    this.each = each;
  }

  static Factory factory() {
    return new Factory(NAME, FileContender::new);
  }

  @Override
  public Lane lane(int number) throws IOException {
    Path path = Files.createDirectories(directory.resolve(Integer.toString(number)));
    return new OfFiles(path, load.lane(number));
  }

  @Override
  public void close() {}

  private final class OfFiles implements Lane {
    private final Path path;
    private final Load.Lane lane;
    private final List<FileChannel> unforced = new ArrayList<>();

    OfFiles(Path path, Load.Lane lane) {
      this.path = path;
      this.lane = lane;
    }

    @Override
    public void put(int boundary) throws IOException {
      FileChannel channel =
          FileChannel.open(
              path.resolve(Integer.toString(boundary)),
              StandardOpenOption.CREATE_NEW,
              StandardOpenOption.WRITE);
      Checksum.write(channel, lane.packed(boundary));
      unforced.add(channel);
      if (each) {
        complete();
      }
    }

    @Override
    public void complete() throws IOException {
      for (FileChannel channel : unforced) {
        channel.force(true);
        channel.close();
      }
      unforced.clear();
      Os.forceDirectory(path);
    }

    @Override
    public void restore() throws IOException {
      for (int i = 0; i < load.boundaries(); i++) {
        try (FileChannel channel =
            FileChannel.open(path.resolve(Integer.toString(i)), StandardOpenOption.READ)) {
          Checksum.read(channel, lane.unpacked(i));
        }
      }
    }
  }
}
