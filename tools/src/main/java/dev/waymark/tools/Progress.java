package dev.waymark.tools;

import java.io.PrintStream;
import java.util.Locale;

/** Says on standard error how far long work is; only where a person looks at it. */
public final class Progress implements AutoCloseable {
  /** Set by bin/segtool, which can ask: Java knows of standard input and output together only. */
  private static final String ON_TERMINAL = "segtool.stderr.terminal";

  private static final long INTERVAL_NANOS = 200_000_000;

  private final PrintStream terminal;
  private String what = "";
  private long startNanos;
  private long shownNanos;
  private boolean shown;

  private Progress(PrintStream terminal) {
    this.terminal = terminal;
  }

  /** Progress on standard error if that is a terminal, else none. */
  public static Progress onTerminal() {
    return new Progress(Boolean.getBoolean(ON_TERMINAL) ? System.err : null);
  }

  /** No progress at all. */
  public static Progress none() {
    return new Progress(null);
  }

  /** Whether anyone sees it; what only progress needs is then not worked out. */
  public boolean isShown() {
    return terminal != null;
  }

  /** Begins another piece of work. */
  public void begin(String name) {
    clear();
    what = name;
    startNanos = System.nanoTime();
    shownNanos = startNanos;
  }

  /** So much of it is done. */
  public void at(long done, long all, String unit) {
    long now = System.nanoTime();
    if (terminal == null || now - shownNanos < INTERVAL_NANOS || done <= 0) {
      return;
    }
    shownNanos = now;
    shown = true;
    double seconds = (now - startNanos) / 1e9;
    double rate = done / seconds;
    terminal.printf(
        Locale.ROOT,
        "\r\033[K%s: %,d of %,d %s, %,.0f/s, %.0f s left",
        what,
        done,
        all,
        unit,
        rate,
        (all - done) / rate);
    terminal.flush();
  }

  private void clear() {
    if (shown) {
      terminal.print("\r\033[K");
      terminal.flush();
      shown = false;
    }
  }

  /** Leaves the line empty. */
  @Override
  public void close() {
    clear();
  }
}
