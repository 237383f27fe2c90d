package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.FileSystemException;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** What the tool makes of what the system and the JVM say. */
class FailuresTest {
  /** A verb that fails. */
  @Command(name = "failing")
  private static final class Failing implements Callable<Integer> {
    private final Throwable fault;

    Failing(Throwable fault) {
      this.fault = fault;
    }

    @Override
    public Integer call() throws Exception {
      if (fault instanceof Error error) {
        throw error;
      }
      throw (Exception) fault;
    }
  }

  private static String said(Throwable fault) {
    StringWriter err = new StringWriter();
    CommandLine line =
        Segtool.prepare(new CommandLine(new Failing(fault))).setErr(new PrintWriter(err));
    assertThat(line.execute()).isEqualTo(ExitCodes.FAILURE);
    assertThat(err.toString()).hasLineCount(1);
    return err.toString();
  }

  @Test
  void memoryOfEachKindIsToldApart() {
    assertThat(said(new OutOfMemoryError("Java heap space"))).contains("a heap of", "-Xmx");
    assertThat(
            said(
                new OutOfMemoryError(
                    "Cannot reserve 9 bytes of direct buffer memory (allocated: 1, limit: 2)")))
        .contains("outside its heap", "MaxDirectMemorySize");
    assertThat(
            said(
                new OutOfMemoryError(
                    "unable to create native thread: possibly out of memory or process/resource"
                        + " limits reached")))
        .contains("no more threads");
    assertThat(said(new OutOfMemoryError("Metaspace"))).contains("out of memory: Metaspace");
    assertThat(said(new OutOfMemoryError())).contains("out of memory;").doesNotContain("null");
  }

  @Test
  void aFullDiskIsNamedByTheFileThatMetIt() {
    assertThat(said(new FileSystemException("/mnt/a.wmka", null, "No space left on device")))
        .contains("DISK_FULL: /mnt/a.wmka: there is no room left on the disk");
  }
}
