package dev.waymark.tools.space;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.CompactionReport;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.SegmentReport;
import dev.waymark.StoreOptions;
import dev.waymark.tools.Account;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Numbers;
import dev.waymark.tools.Output;
import dev.waymark.tools.Progress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code segtool compact}: gives dead bytes back by copying what lives beside them. */
@Command(
    name = "compact",
    mixinStandardHelpOptions = true,
    description = {
      "Copies what lives out of segments that are mostly dead, and gives their space back.",
      "Opens the store for writing: fails at once where another process has it open. With --dry-run"
          + " it takes no lock and writes nothing; what opening gives back by itself then still"
          + " counts as dead.",
    })
public final class CompactCommand implements Callable<Integer> {
  private static final String TABLE = "%-12s %20s %20s";

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Option(names = "--dry-run", description = "say what would be copied, and copy nothing")
  private boolean dryRun;

  @Option(
      names = "--max-bytes-written",
      paramLabel = "SIZE",
      defaultValue = "1TiB",
      converter = Numbers.Size.class,
      description = "copy no more than that, such as 512MiB (default: ${DEFAULT-VALUE})")
  private long maxBytesWritten;

  @Option(
      names = "--max-bytes-per-second",
      paramLabel = "SIZE",
      defaultValue = "64MiB",
      converter = Numbers.Size.class,
      description = "copy no faster than that (default: ${DEFAULT-VALUE})")
  private long maxBytesPerSecond;

  @Option(
      names = "--target-live-ratio",
      paramLabel = "R",
      defaultValue = "0.5",
      description =
          "empty segments of which no larger share lives, 0 to 1 (default: ${DEFAULT-VALUE})")
  private double targetLiveRatio;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() {
    if (!(targetLiveRatio >= 0 && targetLiveRatio <= 1)) {
      throw new ParameterException(
          spec.commandLine(), "--target-live-ratio takes 0 to 1, found " + targetLiveRatio);
    }
    StoreInspector before = StoreInspector.open(path);
    Map<Long, SegmentReport> segments = new HashMap<>();
    before.segments().forEach(each -> segments.put(each.id(), each));
    CompactionReport report =
        dryRun
            ? new CompactionReport(before.compactionCandidates(targetLiveRatio), 0, 0, 0)
            : compact(segments);
    StoreInspector after = dryRun ? before : StoreInspector.open(path);
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        out.json(json(report, segments, before, after));
      } else {
        print(report, segments, before, after, out);
      }
    }
    return ExitCodes.OK;
  }

  /** Segments are told as inspect has them once the store is open, which gives holes back. */
  private CompactionReport compact(Map<Long, SegmentReport> segments) {
    StoreOptions options = OpenedStore.options().compactionRate(maxBytesPerSecond).build();
    try (SnapshotStore store = SnapshotStore.open(path, options);
        Progress progress = Progress.onTerminal()) {
      StoreInspector.open(path).segments().forEach(each -> segments.put(each.id(), each));
      progress.begin("compacting");
      return store
          .maintenance()
          .compact(
              targetLiveRatio,
              maxBytesWritten,
              false,
              (done, of, copied) -> {
                progress.at(done, of, "segments");
                return true;
              });
    }
  }

  private void print(
      CompactionReport report,
      Map<Long, SegmentReport> segments,
      StoreInspector before,
      StoreInspector after,
      Output out) {
    for (CompactionReport.Candidate candidate : report.candidates()) {
      SegmentReport segment = segments.get(candidate.segmentId());
      out.line(
          "%s: %,d B live (%.0f%%), %,d B dead, %,d B allocated; %,d B to copy, %,d B come back",
          segment.file(),
          segment.liveBytes(),
          100 * candidate.liveRatio(),
          segment.deadBytes(),
          segment.allocatedBytes(),
          candidate.copyBytes(),
          segment.allocatedBytes() - candidate.copyBytes());
    }
    if (report.candidates().isEmpty()) {
      out.line("No segment is worth emptying at a live ratio of %s.", targetLiveRatio);
    }
    if (dryRun) {
      out.line("Dry run: nothing was copied.");
      return;
    }
    out.line(
        "Emptied %,d of %,d segments: %,d B copied, %,d B came back.",
        report.emptiedSegments(),
        report.candidates().size(),
        report.copiedBytes(),
        report.freedBytes());
    out.line();
    out.line(TABLE, "", "before", "after");
    row(out, "segments", before.segments().size(), after.segments().size());
    Map<String, Long> afterBytes = Account.of(after.totals());
    Account.of(before.totals())
        .forEach((name, bytes) -> row(out, name, bytes, afterBytes.get(name)));
  }

  private static void row(Output out, String name, long before, long after) {
    out.line(
        TABLE,
        name,
        String.format(Locale.ROOT, "%,d", before),
        String.format(Locale.ROOT, "%,d", after));
  }

  private ObjectNode json(
      CompactionReport report,
      Map<Long, SegmentReport> segments,
      StoreInspector before,
      StoreInspector after) {
    ObjectNode root = Output.envelope("compact");
    root.put("dry_run", dryRun);
    ArrayNode candidates = root.putArray("candidates");
    for (CompactionReport.Candidate candidate : report.candidates()) {
      SegmentReport segment = segments.get(candidate.segmentId());
      candidates
          .addObject()
          .put("id", segment.id())
          .put("file", segment.file())
          .put("live_bytes", segment.liveBytes())
          .put("dead_bytes", segment.deadBytes())
          .put("allocated_bytes", segment.allocatedBytes())
          .put("copy_bytes", candidate.copyBytes())
          .put("gain_bytes", segment.allocatedBytes() - candidate.copyBytes());
    }
    root.put("emptied_segments", report.emptiedSegments());
    root.put("copied_bytes", report.copiedBytes());
    root.put("freed_bytes", report.freedBytes());
    put(root.putObject("before"), before);
    put(root.putObject("after"), after);
    return root;
  }

  private static void put(ObjectNode node, StoreInspector store) {
    node.put("segments", store.segments().size());
    Account.put(node, store.totals());
  }
}
