package dev.waymark.jmh;

import com.sun.nio.file.ExtendedOpenOption;
import dev.waymark.jmh.Report.Goal;
import dev.waymark.layout.RestorePolicy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Restores of which nothing is in the page cache, in a store just opened, beside a sequential
 * O_DIRECT read of the same files by eight threads.
 */
final class ColdBench {
  private static final String DIRECT = "O_DIRECT, depth 8";
  private static final int DEPTH = 8;
  private static final int CHUNK = 1 << 20;
  private static final int ALIGNMENT = 4096;

  private ColdBench() {}

  static void run(Bed bed) throws Exception {
    List<Shape> shapes =
        bed.form().isSmoke()
            ? List.of(Shape.attention(1024))
            : List.of(Shape.attention(16_384), Shape.sparseHybrid(1024));
    for (Shape shape : shapes) {
      row(bed, shape);
    }
  }

  private static void row(Bed bed, Shape shape) throws Exception {
    RestorePolicy policy = RestorePolicy.LAST;
    int boundaries = Load.boundaries(shape, policy, 1, bed.form().batchBytes());
    Load load = new Load(shape, policy, 1, boundaries, true);
    List<Path> directories = new ArrayList<>();
    Map<String, Bed.Turn> turns = new LinkedHashMap<>();
    try (Lanes lanes = new Lanes()) {
      List<Contender.Factory> all = new ArrayList<>();
      int cores = Runtime.getRuntime().availableProcessors();
      all.add(WaymarkContender.factory(WaymarkContender.NAME, Math.min(4, cores)));
      all.addAll(Contenders.others());
      for (Contender.Factory factory : all) {
        Path directory = bed.fresh(factory.name());
        directories.add(directory);
        try (Contender contender = factory.open(directory, load, false)) {
          AppendBench.append(contender.lane(0), load);
        }
        turns.put(factory.name(), () -> restore(bed, factory, directory, load));
      }
      if (readsDirectly(directories.get(0))) {
        turns.put(DIRECT, () -> direct(lanes, directories.get(0)));
      }
      bed.add(
          new Report.Row(
              "restore, cold",
              shape.name(),
              "GB/s",
              bed.turns(turns),
              List.of(new Goal(WaymarkContender.NAME, List.of(DIRECT), true, 0.9)),
              "%,d boundaries, %,d bytes a restore, with as many threads as the store takes by"
                      .formatted(boundaries, load.laneBytes())
                  + " default; opening is not counted; O_DIRECT reads this store's own files"));
    } finally {
      directories.forEach(Bed::delete);
    }
  }

  private static double restore(Bed bed, Contender.Factory factory, Path directory, Load load)
      throws Exception {
    Os.dropFromCache(directory);
    try (Contender contender = factory.open(directory, load, false)) {
      Contender.Lane lane = contender.lane(0);
      long read = Os.deviceReadBytes();
      long from = System.nanoTime();
      lane.restore();
      long nanos = System.nanoTime() - from;
      read = Os.deviceReadBytes() - read;
      if (read < 0.9 * load.laneBytes() && !bed.form().isSmoke()) {
        throw new AssertionError(
            factory.name() + " was not cold: the device read " + read + " bytes");
      }
      return (double) load.laneBytes() / nanos;
    }
  }

  private static boolean readsDirectly(Path directory) throws Exception {
    try (Lanes lanes = new Lanes()) {
      direct(lanes, directory);
      return true;
    } catch (UnsupportedOperationException | IOException e) {
      System.out.println("No O_DIRECT on this file system: cold restores without their limit.");
      return false;
    }
  }

  private static double direct(Lanes lanes, Path directory) throws Exception {
    long bytes = 0;
    long from = System.nanoTime();
    for (Path file : Os.files(directory)) {
      if (file.toString().endsWith(".seg")) {
        bytes += Files.size(file);
        direct(lanes, file, Files.size(file));
      }
    }
    return (double) bytes / (System.nanoTime() - from);
  }

  private static void direct(Lanes lanes, Path file, long length) throws Exception {
    AtomicLong next = new AtomicLong();
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, ExtendedOpenOption.DIRECT)) {
      lanes.run(Collections.nCopies(DEPTH, () -> read(channel, next, length)));
    }
  }

  private static void read(FileChannel channel, AtomicLong next, long length) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocateDirect(CHUNK + ALIGNMENT).alignedSlice(ALIGNMENT);
    buffer = buffer.slice(0, CHUNK);
    for (long at = next.getAndAdd(CHUNK); at < length; at = next.getAndAdd(CHUNK)) {
      if (channel.read(buffer.clear(), at) < Math.min(CHUNK, length - at)) {
        throw new IOException("a direct read was short");
      }
    }
  }
}
