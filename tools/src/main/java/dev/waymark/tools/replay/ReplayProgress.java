package dev.waymark.tools.replay;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** A bar on the terminal, with rate and time left; nothing where standard error goes elsewhere. */
final class ReplayProgress implements AutoCloseable {
  private static final Path STANDARD_ERROR = Path.of("/proc/self/fd/2");
  private static final int WIDTH = 78;

  private final ProgressBar bar;

  private ReplayProgress(ProgressBar bar) {
    this.bar = bar;
  }

  /** A bar, where someone can see it, over the blocks of as many requests. */
  static ReplayProgress start(
      Path trace, OptionalInt blockTokens, long limitRequests, PrintStream err) throws IOException {
    if (!isTerminal()) {
      return new ReplayProgress(null);
    }
    return new ReplayProgress(
        new ProgressBarBuilder()
            .setTaskName("replay")
            .setUnit(" blocks", 1)
            .setStyle(ProgressBarStyle.ASCII)
            .setInitialMax(countBlocks(trace, blockTokens, limitRequests))
            .setUpdateIntervalMillis(200)
            .showSpeed()
            .setConsumer(new ConsoleProgressBarConsumer(err, WIDTH))
            .build());
  }

  /** So many blocks more are done. */
  void add(int blocks) {
    if (bar != null) {
      bar.stepBy(blocks);
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }

  /** Reading a trace takes next to nothing; where in its file a session is says little. */
  private static long countBlocks(Path trace, OptionalInt blockTokens, long limitRequests)
      throws IOException {
    long blocks = 0;
    try (TraceReader reader = TraceReader.open(trace, blockTokens)) {
      long left = limitRequests;
      for (TraceRequest r = reader.next(); r != null && left > 0; r = reader.next()) {
        blocks += r.blocks();
        left--;
      }
    }
    return blocks;
  }

  /** Java can say it of all three streams together only, and standard output may be a file. */
  private static boolean isTerminal() {
    try {
      String device = Files.readSymbolicLink(STANDARD_ERROR).toString();
      return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return System.console() != null;
    }
  }
}
