package dev.waymark.tools.space;

import dev.waymark.CompactionReport;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreStats;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code segtool compact}: copies what lives out of segments that are mostly dead. */
@Command(
    name = "compact",
    mixinStandardHelpOptions = true,
    description = {
      "Copies what lives out of segments that are mostly dead, and gives their space back.",
      "Opens the store for writing: fails at once where another process has it open."
    })
public final class CompactCommand implements Callable<Integer> {
  @Parameters(paramLabel = "STORE", description = "The store's directory.")
  private Path store;

  @Option(names = "--dry-run", description = "Says what would be copied, and changes nothing.")
  private boolean dryRun;

  @Option(
      names = "--max-bytes-written",
      paramLabel = "SIZE",
      defaultValue = "1TiB",
      description = "Stops before more than that is copied. Default: ${DEFAULT-VALUE}.")
  private String maxBytesWritten;

  @Option(
      names = "--target-live-ratio",
      paramLabel = "R",
      defaultValue = "0.5",
      description =
          "Empties segments of which no larger share lives, 0 to 1. Default: ${DEFAULT-VALUE}.")
  private double targetLiveRatio;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    StoreOptions options =
        StoreOptions.builder().createIfMissing(false).backgroundThread(false).build();
    try (SnapshotStore opened = SnapshotStore.open(store, options)) {
      StoreStats before = opened.stats();
      CompactionReport report =
          opened
              .maintenance()
              .compact(
                  targetLiveRatio,
                  StoreOptions.parseSize(maxBytesWritten),
                  dryRun,
                  (done, of, copied) -> {
                    spec.commandLine()
                        .getErr()
                        .printf(
                            Locale.ROOT, "%,d of %,d segments, %,d B copied%n", done, of, copied);
                    return true;
                  });
      for (CompactionReport.Candidate candidate : report.candidates()) {
        out.printf(
            Locale.ROOT,
            "segment %d: %.0f%% lives, %,d B to copy, %,d B come back%n",
            candidate.segmentId(),
            100 * candidate.liveRatio(),
            candidate.liveBytes(),
            candidate.gainBytes());
      }
      if (dryRun) {
        out.println("dry run: nothing was changed");
      } else {
        StoreStats after = opened.stats();
        out.printf(Locale.ROOT, "%-10s %20s %20s%n", "", "before", "after");
        row(out, "segments", before.segments(), after.segments());
        row(out, "live B", before.liveBytes(), after.liveBytes());
        row(out, "dead B", before.deadBytes(), after.deadBytes());
        row(out, "all B", before.allocatedBytes(), after.allocatedBytes());
      }
    }
    out.flush();
    return 0;
  }

  private static void row(PrintWriter out, String name, long before, long after) {
    out.printf(Locale.ROOT, "%-10s %,20d %,20d%n", name, before, after);
  }
}
