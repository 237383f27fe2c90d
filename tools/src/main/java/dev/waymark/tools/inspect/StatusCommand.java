package dev.waymark.tools.inspect;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreStatus;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Findings;
import dev.waymark.tools.Output;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** What a store's writer last said of it, on one screen. */
@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    description = {
      "Shows what the writer of a store last published: sizes, counters, times.",
      "Reads only, takes no lock, and costs the same whatever the store holds, so it may be asked"
          + " every second beside a running server. The manifest and the segments are not looked"
          + " into: inspect and verify do that.",
      "Where STATUS cannot be used there is nothing to say, and the exit code is 1.",
    })
public final class StatusCommand implements Callable<Integer> {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() {
    StoreStatus status = StoreStatus.read(path);
    long now = System.currentTimeMillis();
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        out.json(json(status, now));
      } else {
        new StatusText(status, counters(status), out, now).print();
      }
    }
    return exitCode(status);
  }

  private static int exitCode(StoreStatus status) {
    if (status.findings().stream().anyMatch(f -> f.severity().equals("ERROR"))) {
      return ExitCodes.CORRUPTION;
    }
    return status.publishedMillis().isEmpty() ? ExitCodes.FAILURE : ExitCodes.OK;
  }

  private static JsonNode counters(StoreStatus status) {
    try {
      return JSON.readTree(status.counters());
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ObjectNode json(StoreStatus status, long nowMillis) {
    ObjectNode root = Output.envelope("status");
    root.put("store_id", status.storeId());
    root.put("format_version", status.readVersion());
    root.put("manifest", status.manifest());
    root.put("manifest_bytes", status.manifestBytes());
    root.put("allocated_bytes", status.allocatedBytes());
    status
        .publishedMillis()
        .ifPresent(
            millis -> {
              root.put("published_millis", millis);
              root.put("age_millis", nowMillis - millis);
            });
    status.processId().ifPresent(id -> root.put("writer_process_id", id));
    root.put("closed_cleanly", status.isClosed());
    root.set("published", counters(status));
    Findings.add(status.findings(), root);
    if (status.publishedMillis().isEmpty()) {
      Output.error(
          root,
          "NO_STATUS",
          "no writer's status can be read",
          "use segtool inspect, which reads the manifest instead",
          exitCode(status));
    }
    return root;
  }
}
