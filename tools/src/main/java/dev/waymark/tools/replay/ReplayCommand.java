package dev.waymark.tools.replay;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code segtool replay}: runs a recorded trace through a store and reports what that took. */
@Command(
    name = "replay",
    mixinStandardHelpOptions = true,
    description = {
      "Runs a recorded trace of requests through a store, as a server would: each request is"
          + " matched, restored at its deepest restore point, checked byte for byte, and stored"
          + " from there.",
      "Fails if a restore gives a wrong byte."
    })
public final class ReplayCommand implements Callable<Integer> {
  private static final int EXIT_INTERRUPTED = 130;

  @Mixin private ReplayOptions options;
  @Spec private CommandSpec spec;
  private final Path temporaryRoot;
  private final Replayer.Watcher also;

  /** The command as it is run. */
  public ReplayCommand() {
    this(Path.of(System.getProperty("java.io.tmpdir")), new Replayer.Watcher() {});
  }

  /**
   * The command with someone who looks on, and may spoil what is stored.
   *
   * @param temporaryRoot where a temporary store is made
   */
  ReplayCommand(Path temporaryRoot, Replayer.Watcher also) {
    this.temporaryRoot = temporaryRoot;
    this.also = also;
  }

  @Override
  public Integer call() throws IOException {
    try (ShutdownGuard guard = ShutdownGuard.install()) {
      if (options.store().isPresent()) {
        return replay(options.store().get(), guard);
      }
      try (TemporaryStore store = TemporaryStore.create(temporaryRoot)) {
        return replay(store.path(), guard);
      }
    } catch (CancellationException e) {
      err("stopped");
      return EXIT_INTERRUPTED;
    }
  }

  private int replay(Path directory, ShutdownGuard guard) throws IOException {
    long start = System.nanoTime();
    ReplayReport report;
    Observer observer;
    try (TraceReader trace = TraceReader.open(options.trace(), options.blockTokens())) {
      ScaledLayout layout = options.layout(trace.blockTokens());
      // Standard output is for the report, which a program may read.
      PrintWriter prose = options.json() ? spec.commandLine().getErr() : out();
      prose.println(layout.summary());
      prose.flush();
      try (ReplayProgress progress =
          ReplayProgress.start(
              options.trace(), options.blockTokens(), options.limitRequests(), System.err)) {
        observer = new Observer(guard, progress);
        Replayer replayer =
            new Replayer(
                options.storeOptions(),
                layout.layout(),
                options.policy().toRestorePolicy(),
                options.verification(),
                options.limitRequests(),
                observer);
        ReplayReport.Builder builder = replayer.run(trace, directory);
        report = builder.seconds((System.nanoTime() - start) / 1e9).build();
      }
    }
    out().println(options.json() ? report.toJson() : report.toTable());
    out().flush();
    return observer.mismatches == 0 ? ExitCode.OK : ExitCode.SOFTWARE;
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private void err(String message) {
    PrintWriter err = spec.commandLine().getErr();
    err.println("segtool replay: " + message);
    err.flush();
  }

  private final class Observer implements Replayer.Watcher {
    /** Every restore may be wrong where one is; after these, the number says it. */
    private static final int MOST_SHOWN = 10;

    private final ShutdownGuard guard;
    private final ReplayProgress progress;
    private long mismatches;

    Observer(ShutdownGuard guard, ReplayProgress progress) {
      this.guard = guard;
      this.progress = progress;
    }

    @Override
    public void replayed(int blocks) {
      progress.add(blocks);
      also.replayed(blocks);
    }

    @Override
    public void mismatch(TraceRequest request, int tokens, StateBuffers.Mismatch mismatch) {
      if (mismatches++ < MOST_SHOWN) {
        err(
            String.format(
                Locale.ROOT,
                "wrong bytes restored for a request of line %,d, at %,d tokens: tensor '%s', byte"
                    + " %,d",
                request.lineNumber(),
                tokens,
                mismatch.name(),
                mismatch.atByte()));
      }
      also.mismatch(request, tokens, mismatch);
    }

    @Override
    public void storing(long request, StateBuffers state, int toTokens) {
      also.storing(request, state, toTokens);
    }

    @Override
    public boolean stops() {
      return guard.isShuttingDown() || also.stops();
    }
  }
}
