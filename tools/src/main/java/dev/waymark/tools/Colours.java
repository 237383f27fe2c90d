package dev.waymark.tools;

import java.util.Map;
import picocli.CommandLine.Help.Ansi;

/** Whether output may have colours: only on a terminal that knows them, and nobody objects. */
final class Colours {
  /** Set by bin/segtool, which can ask: Java knows of standard input and output together only. */
  private static final String ON_TERMINAL = "segtool.stdout.terminal";

  private Colours() {}

  static Ansi ansi() {
    return wanted(Boolean.getBoolean(ON_TERMINAL), System.getenv()) ? Ansi.ON : Ansi.OFF;
  }

  /** By the conventions of {@code NO_COLOR} and {@code TERM}. */
  static boolean wanted(boolean onTerminal, Map<String, String> environment) {
    return onTerminal
        && environment.getOrDefault("NO_COLOR", "").isEmpty()
        && !environment.getOrDefault("TERM", "dumb").equals("dumb");
  }
}
