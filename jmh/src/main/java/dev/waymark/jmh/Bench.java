package dev.waymark.jmh;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.openjdk.jmh.Main;

/**
 * Starts JMH with the flags that the store needs. JMH starts its forks by class path, where the
 * manifest's Add-Opens counts for nothing, so they are passed on the command line.
 */
public final class Bench {
  private Bench() {}

  public static void main(String[] args) throws IOException {
    List<String> all = new ArrayList<>(List.of(args));
    all.add("-jvmArgsPrepend");
    all.add(flags());
    Main.main(all.toArray(String[]::new));
  }

  static String flags() throws IOException {
    Properties properties = new Properties();
    try (InputStream in = Bench.class.getResourceAsStream("bench.properties")) {
      properties.load(in);
    }
    String flags = properties.getProperty("flags").strip();
    return Runtime.version().feature() >= 24
        ? flags + " --sun-misc-unsafe-memory-access=allow"
        : flags;
  }
}
