package dev.waymark.tools.move;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.StoreStats;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.layout.CodecPlan;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Numbers;
import dev.waymark.tools.Output;
import dev.waymark.tools.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code segtool import}: brings files of state into a store. */
@Command(
    name = "import",
    mixinStandardHelpOptions = true,
    description = {
      "Brings state into a store: what export wrote; a safetensors file, or a folder of them, one a"
          + " boundary, with a mapping; or the block folder of a server.",
      "Finds what is wrong with it before anything is stored. Ends with what it holds, and what the"
          + " same data costs here.",
      "Opens the store for writing: fails at once where another process has it open.",
    })
public final class ImportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Parameters(index = "1", paramLabel = "PATH", description = "file or folder to bring in")
  private Path source;

  @Option(names = "--create", description = "make the store if there is none")
  private boolean create;

  @Option(
      names = "--quota",
      paramLabel = "SIZE",
      defaultValue = "auto",
      converter = Numbers.Quota.class,
      description = "most that the store may occupy, such as 100GiB (default: ${DEFAULT-VALUE})")
  private long quotaBytes;

  @Option(
      names = "--map",
      paramLabel = "FILE",
      description =
          "JSON that says what safetensors files hold: identity, layout, names of tensors, and for a"
              + " folder its files in order; docs/import.md has an example")
  private Path map;

  @Option(
      names = "--order",
      paramLabel = "FILE",
      description =
          "for a block folder whose blocks have no companions: their hashes in order, one a line; an"
              + " empty line begins another chain")
  private Path order;

  @Option(
      names = "--token-ids",
      paramLabel = "FILE",
      description = "token ids of the prompt that safetensors files are of: what it is found by")
  private Path tokenIds;

  @Option(
      names = "--planes",
      description =
          "store what has no codec of its own lossless and smaller where that is possible")
  private boolean planes;

  @Option(
      names = "--skip-bad",
      description = "leave out files of a block folder that are not valid, and say how many")
  private boolean skipBad;

  @Option(
      names = "--dry-run",
      description = "only find what is wrong with it; the store is not looked at")
  private boolean dryRun;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    CodecPlan codecs = planes ? CodecPlan.PLANES : CodecPlan.RAW;
    ImportSource from = new SourceDetection(map, order, tokenIds, codecs, skipBad).detect(source);
    ImportTally tally = new ImportTally();
    // A store is not made for what is not right; one that cannot be had is found before the work.
    boolean checkFirst = dryRun || create && !Files.exists(path.resolve(CurrentFile.NAME));
    try (Progress progress = Progress.onTerminal()) {
      if (checkFirst) {
        from.check(progress);
      }
      if (dryRun) {
        progress.close();
        print(new ImportSummary(from.kind(), tally, null, null));
        return ExitCodes.OK;
      }
      StoreStats before;
      StoreStats after;
      try (SnapshotStore store = SnapshotStore.open(path, options())) {
        if (!checkFirst) {
          from.check(progress);
        }
        before = store.stats();
        from.store(store, tally, progress);
        store.flush();
        after = store.stats();
      }
      progress.close();
      print(new ImportSummary(from.kind(), tally, before, after));
    }
    return ExitCodes.OK;
  }

  private StoreOptions options() {
    return StoreOptions.builder()
        .createIfMissing(create)
        .backgroundThread(false)
        .quota(quotaBytes)
        .build();
  }

  private void print(ImportSummary summary) {
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        out.json(summary.json());
      } else {
        summary.print(out);
      }
    }
  }
}
