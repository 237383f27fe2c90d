package dev.waymark.tools.inspect;

import dev.waymark.tools.Output;

/** Lines that several views of a store have in common. */
final class Lines {
  private Lines() {}

  /** A number of bytes, exact and as people read it. */
  static void bytes(Output out, String name, long bytes) {
    out.line("%-12s %,18d B  %10s", name, bytes, Output.bytes(bytes));
  }
}
