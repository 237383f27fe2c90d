package dev.waymark.faults;

import dev.waymark.SnapshotStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Kills a process that works on stores, at random moments, again and again; takes the lock of each
 * at once, and checks what is there against what was written down. A kill loses nothing that the
 * kernel has: this shows the lock's release, and states that no orderly end leaves.
 *
 * <p>Starting a process takes longer than all else, so each works on several stores, which have
 * nothing to do with each other; a kill is that of one store's writer.
 *
 * <p>Arguments: a directory, the number of kills, a seed.
 */
public final class KillLoop {
  private static final int STORES = 4;

  private final Path root;
  private final Random random;
  private final List<Victim> victims = new ArrayList<>();
  private final BlockingQueue<Child> warm = new ArrayBlockingQueue<>(1);
  private volatile boolean done;

  private long epochs;
  private long processes;
  private long kills;
  private long whileOpening;
  private long lost;
  private long wrong;
  private long other;
  private long acknowledged;
  private long restores;

  private record Child(Process process, BufferedReader output) {}

  private KillLoop(Path root, long seed) {
    this.root = root;
    this.random = new Random(seed);
  }

  /** Runs; exits with 1 if anything was lost, wrong, or still locked. */
  public static void main(String[] arguments) throws Exception {
    KillLoop loop = new KillLoop(Path.of(arguments[0]), Long.parseLong(arguments[2]));
    loop.run(Integer.parseInt(arguments[1]));
    System.out.printf(
        "kills: %d (%d while opening) in %d processes, %d acknowledgements, %d restores compared, %d lost,"
            + " %d wrong, %d other failures, seed %s%n",
        loop.kills,
        loop.whileOpening,
        loop.processes,
        loop.acknowledged,
        loop.restores,
        loop.lost,
        loop.wrong,
        loop.other,
        arguments[2]);
    System.exit(loop.lost + loop.wrong + loop.other == 0 ? 0 : 1);
  }

  private void run(int count) throws Exception {
    archiveClasses();
    Thread starter = new Thread(this::keepWarm);
    starter.setDaemon(true);
    starter.start();
    for (int i = 0; i < STORES; i++) {
      victims.add(new Victim(root.resolve("journal-" + i)));
    }
    while (kills < count) {
      killOne();
      for (Victim victim : victims) {
        victim.readJournal();
        victim.check();
      }
    }
    for (Victim victim : victims) {
      acknowledged += victim.oracle.acknowledged();
    }
    done = true;
    starter.interrupt();
    starter.join();
  }

  /** The next child gets ready while this process checks what the last one left. */
  private void keepWarm() {
    int number = 0;
    while (!done) {
      Child child = start(List.of(), root.resolve("scratch-" + number++ % 4));
      try {
        if (!"ready".equals(child.output().readLine())) {
          throw new IllegalStateException("a child did not get ready");
        }
        warm.put(child);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        child.process().destroyForcibly();
      }
    }
    for (Child left = warm.poll(); left != null; left = warm.poll()) {
      left.process().destroyForcibly();
    }
  }

  /** What a child loads, as the JVM has it in memory: most of a short life is loading classes. */
  private void archiveClasses() throws Exception {
    Child child =
        start(List.of("-XX:ArchiveClassesAtExit=" + archive()), root.resolve("scratch-archive"));
    child.process().outputWriter().close();
    child.output().transferTo(Writer.nullWriter());
    if (child.process().waitFor() != 0) {
      throw new IllegalStateException("a child that had nothing to do failed");
    }
  }

  private Path archive() {
    return root.resolve("child.jsa");
  }

  private Child start(List<String> flags, Path scratch) {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xlog:disable"));
    command.addAll(flags.isEmpty() ? List.of("-XX:SharedArchiveFile=" + archive()) : flags);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(KillChild.class.getName(), scratch.toString()));
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      return new Child(process, process.inputReader(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void killOne() throws Exception {
    Child child = warm.take();
    StringBuilder task = new StringBuilder();
    for (Victim victim : victims) {
      Files.deleteIfExists(victim.journal);
      task.append(victim.directory).append(' ').append(victim.epoch).append(' ');
      task.append(random.nextLong()).append(' ').append(victim.journal).append(' ');
    }
    Writer input = child.process().outputWriter(StandardCharsets.UTF_8);
    input.write(task + "\n");
    input.flush();
    boolean opening = random.nextInt(6) == 0;
    if (!opening && child.output().readLine() == null) {
      throw new IllegalStateException("a child ended by itself");
    }
    Thread.sleep(random.nextInt(opening ? 120 : random.nextInt(6) == 0 ? 800 : 200));
    child.process().destroyForcibly();
    if (child.process().waitFor() != 128 + 9) {
      other++;
      System.out.println("the child had ended by itself: " + child.process().exitValue());
    }
    long before = kills / 100;
    processes++;
    kills += victims.size();
    whileOpening += opening ? victims.size() : 0;
    if (kills / 100 > before) {
      System.out.printf("%d kills, %d lost, %d wrong, %d other%n", kills, lost, wrong, other);
    }
  }

  /** A store, and what is known of it. */
  private final class Victim {
    private final Path journal;
    private Path directory;
    private Samples samples;
    private Oracle oracle;
    private long epoch;

    Victim(Path journal) throws IOException {
      this.journal = journal;
      fresh();
    }

    private void fresh() throws IOException {
      if (directory != null) {
        acknowledged += oracle.acknowledged();
        PowerLoss.remove(directory);
      }
      epoch = ++epochs;
      directory = root.resolve("store-" + epoch);
      samples = new Samples(epoch);
      oracle = new Oracle(event -> {});
    }

    void readJournal() throws IOException {
      if (!Files.exists(journal)) {
        return;
      }
      for (String line : Files.readAllLines(journal)) {
        if (line.startsWith("failed")) {
          other++;
          System.out.println("kill " + kills + ": " + line);
        } else {
          oracle.apply(line);
        }
      }
    }

    void check() throws IOException {
      try (SnapshotStore store = SnapshotStore.open(directory, KillChild.options(random))) {
        Checker checker = new Checker();
        checker.check(store, samples, oracle, random);
        checker.use(store, samples, oracle, random);
        lost += checker.lost().size();
        wrong += checker.wrong().size();
        other += checker.other().size();
        restores += checker.restores();
        if (!checker.isGood()) {
          System.out.println(
              "kill " + kills + ":\n" + checker.findings() + "\n" + store.recovery());
        }
        if (store.stats().allocatedBytes() <= PowerLoss.QUOTA_BYTES / 3) {
          return;
        }
      }
      fresh();
    }
  }
}
