package dev.waymark.jmh;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a run ran on; nothing that says whose it is. */
final class Machine {
  private Machine() {}

  static Map<String, String> describe(Path directory) throws IOException {
    Map<String, String> machine = new LinkedHashMap<>();
    machine.put("processor", line("/proc/cpuinfo", "model name"));
    machine.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
    String memory = line("/proc/meminfo", "MemTotal").replaceAll("[^0-9]", "");
    machine.put(
        "memory",
        memory.isEmpty() ? "unknown" : "%.0f GiB".formatted(Long.parseLong(memory) / 1048576.0));
    FileStore store = Files.getFileStore(directory);
    machine.put("file system", store.type());
    machine.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    return machine;
  }

  static Map<String, String> versions() {
    Map<String, String> versions = new LinkedHashMap<>();
    versions.put("waymark", version(dev.waymark.SnapshotStore.class));
    versions.put("Java", System.getProperty("java.runtime.version"));
    for (Contender.Factory factory : Contenders.others()) {
      if (!factory.version().isEmpty()) {
        versions.put(factory.name(), factory.version());
      }
    }
    return versions;
  }

  private static String version(Class<?> type) {
    String version = type.getPackage().getImplementationVersion();
    return version == null ? "" : version;
  }

  private static String line(String file, String start) throws IOException {
    Path path = Path.of(file);
    if (Files.exists(path)) {
      for (String line : Files.readAllLines(path)) {
        if (line.startsWith(start)) {
          return line.substring(line.indexOf(':') + 1).strip();
        }
      }
    }
    return "";
  }
}
