package dev.waymark.tools;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** Another process with this one's JVM, flags and class path. */
public final class JavaProcess {
  private JavaProcess() {}

  /** One that runs a class; options of the JVM may stand in front of its name. */
  public static ProcessBuilder of(Object... arguments) {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (flag.startsWith("--")) {
        command.add(flag);
      }
    }
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    return new ProcessBuilder(command);
  }
}
