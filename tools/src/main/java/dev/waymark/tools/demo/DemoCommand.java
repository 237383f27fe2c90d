package dev.waymark.tools.demo;

import dev.waymark.layout.Codec;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Output;
import dev.waymark.tools.Progress;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs a small hybrid model on a store, and compares what it says with and without. */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Runs a small hybrid model (attention, sliding windows, gated delta nets with convolutions)"
          + " on a store: a cold turn, a warm turn, an aborted prefill and its retry, a reopen, a"
          + " restore; then the same with lossy state.",
      "Then it decodes from the restored state and from scratch, and compares the tokens: another"
          + " token is a failure. And it holds the conversation again with recurrent state in int8,"
          + " and says whether, or where, the answers differ. The store is left for you to look"
          + " at.",
    })
public final class DemoCommand implements Callable<Integer> {
  private static final int MAX_TOKENS = 1_000_000;

  @Spec private CommandSpec spec;

  @Option(
      names = "--store",
      paramLabel = "DIR",
      description =
          "where to make the store: a directory that is missing or empty; a new temporary"
              + " one if not given")
  private Path store;

  @Option(
      names = "--tokens",
      paramLabel = "N",
      defaultValue = "8000",
      description =
          "length of the last prompt, "
              + DemoOptions.MIN_TOKENS
              + " to "
              + MAX_TOKENS
              + " (default: ${DEFAULT-VALUE})")
  private int tokens;

  @Option(
      names = "--state-codec",
      paramLabel = "CODEC",
      defaultValue = "rht_int8",
      description =
          "what the recurrent state is stored with: raw, planes, bf16, int8, rht_int8 or rht_int16."
              + " With a lossy one the conversation is held once more, after the exact one"
              + " (default: ${DEFAULT-VALUE})")
  private Codec stateCodec;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    if (tokens < DemoOptions.MIN_TOKENS || tokens > MAX_TOKENS) {
      throw usage(
          "--tokens takes " + DemoOptions.MIN_TOKENS + " to " + MAX_TOKENS + ", found " + tokens);
    }
    DemoResult result;
    try (Progress progress = Progress.onTerminal()) {
      result = new Demo(DemoOptions.of(directory(), tokens, stateCodec), progress).run();
    }
    DemoReport report = new DemoReport(result);
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        out.json(report.toJson());
      } else {
        report.print(out);
      }
    }
    return result.identical() ? ExitCodes.OK : ExitCodes.FAILURE;
  }

  private Path directory() throws IOException {
    if (store == null) {
      return Files.createTempDirectory("waymark-demo-");
    }
    if (Files.isDirectory(store)) {
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(store)) {
        if (entries.iterator().hasNext()) {
          throw usage("--store " + store + " is not empty: its first turn would not be a cold one");
        }
      }
    } else if (Files.exists(store)) {
      throw usage("--store " + store + " is not a directory");
    }
    return store.toAbsolutePath().normalize();
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
