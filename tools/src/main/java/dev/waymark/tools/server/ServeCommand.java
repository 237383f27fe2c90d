package dev.waymark.tools.server;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Numbers;
import dev.waymark.tools.Output;
import dev.waymark.tools.model.HybridModel;
import dev.waymark.tools.model.ModelConfig;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs the example server until it is stopped. */
@Command(
    name = "serve",
    mixinStandardHelpOptions = true,
    description = {
      "An example server: the demo's model behind POST /v1/completions on the loopback address,"
          + " with its state in a store.",
      "Try: curl -d '{\"prompt\":\"Once upon a time\",\"max_tokens\":16}'"
          + " http://localhost:PORT/v1/completions",
    })
public final class ServeCommand implements Callable<Integer> {
  private static final int BLOCK_TOKENS = 128;

  @Spec private CommandSpec spec;

  private static final String MOST_SECONDS_TO_SEND = "sun.net.httpserver.maxReqTime";

  @Parameters(paramLabel = "STORE", description = "directory of the store; made if it is missing")
  private Path path;

  @Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "8080",
      converter = Port.class,
      description = "where to listen, 0 for any (default: ${DEFAULT-VALUE})")
  private int port;

  @Option(
      names = "--quota",
      paramLabel = "SIZE",
      defaultValue = "4GiB",
      converter = Numbers.Quota.class,
      description = "most that the store may occupy (default: ${DEFAULT-VALUE})")
  private long quotaBytes;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      defaultValue = "1GiB",
      converter = Numbers.Size.class,
      description = "memory that the state of all prompts may take (default: ${DEFAULT-VALUE})")
  private long memoryBytes;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "4",
      converter = Numbers.PositiveInt.class,
      description = "requests computed at a time (default: ${DEFAULT-VALUE})")
  private int threads;

  @Option(names = "--json", description = "say where it listens as JSON, for programs")
  private boolean json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    // Of the JDK's server, whole seconds, for headers and body together: a request that is only
    // half sent holds a thread, but not for ever.
    if (System.getProperty(MOST_SECONDS_TO_SEND) == null) {
      System.setProperty(MOST_SECONDS_TO_SEND, "10");
    }
    StoreOptions options =
        StoreOptions.builder().quota(quotaBytes).memoryBudget(memoryBytes).build();
    CountDownLatch stopped = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    Thread hook =
        new Thread(
            () -> {
              stopped.countDown();
              try {
                closed.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    // Where the port cannot be had no store is made; who connects already waits.
    try (ServerSocket front = CompletionsServer.listen(port);
        SnapshotStore store = SnapshotStore.open(path, options);
        CompletionsServer server =
            new CompletionsServer(
                store, new HybridModel(ModelConfig.demo()), BLOCK_TOKENS, front, threads)) {
      Runtime.getRuntime().addShutdownHook(hook);
      say("http://localhost:" + server.port() + "/v1/completions");
      stopped.await();
    } finally {
      closed.countDown();
    }
    return ExitCodes.OK;
  }

  /** Reads a port, or 0 for any. */
  static final class Port implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return (int) Numbers.whole(text, 0, 65_535);
    }
  }

  private void say(String url) {
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        out.json(Output.envelope("serve").put("url", url));
      } else {
        out.line("%s, until Ctrl-C", url);
      }
    }
  }
}
