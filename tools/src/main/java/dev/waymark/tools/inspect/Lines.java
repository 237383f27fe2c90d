package dev.waymark.tools.inspect;

import dev.waymark.StoreInspector.FindingReport;
import dev.waymark.tools.Output;
import java.time.Duration;
import java.util.List;

/** Lines that several views of a store have in common. */
final class Lines {
  private Lines() {}

  /** A number of bytes, exact and as people read it. */
  static void bytes(Output out, String name, long bytes) {
    out.line("%-12s %,18d B  %10s", name, bytes, Output.bytes(bytes));
  }

  /** Each finding, after an empty line. */
  static void findings(List<FindingReport> findings, Output out) {
    for (FindingReport finding : findings) {
      String place =
          finding.offsetBytes() < 0
              ? finding.file()
              : finding.file() + " at byte " + finding.offsetBytes();
      out.line();
      out.line("%s %s: %s: %s", finding.severity(), finding.id(), place, finding.text());
    }
  }

  /** How long ago that was. */
  static String age(long nowMillis, long millis) {
    Duration age = Duration.ofMillis(Math.max(0, nowMillis - millis));
    if (age.toMinutes() < 1) {
      return age.toSeconds() + " s";
    }
    if (age.toHours() < 1) {
      return age.toMinutes() + " min";
    }
    return age.toDays() < 1 ? age.toHours() + " h" : age.toDays() + " d";
  }
}
