package dev.waymark.tools;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;

/**
 * Where segtool starts. Its version it says itself: all that reads a command line takes twice as
 * long to load as the rest of a JVM.
 */
public final class Main {
  /** For tools/bin/segtool, not for users. */
  static final String REHEARSE = "--rehearse";

  private static final int BUFFER_BYTES = 8_192;

  private Main() {}

  public static void main(String[] args) {
    System.exit(
        runTo(
            args,
            new FileOutputStream(FileDescriptor.out),
            StandardOutput.readerMayGo(),
            System.err));
  }

  /** Runs a command line on a stream that may fail; returns its exit code. */
  static int runTo(String[] args, OutputStream to, boolean readerMayGo, PrintStream err) {
    StandardOutput standard = new StandardOutput(to, readerMayGo);
    PrintStream out = new PrintStream(new BufferedOutputStream(standard, BUFFER_BYTES));
    int code = run(args, out, err);
    out.flush();
    if (standard.lostWhy().isEmpty()) {
      return code;
    }
    err.println(
        "segtool: IO_FAILURE: the answer could not be written: expected room on standard output,"
            + " found "
            + standard.lostWhy()
            + "; free some space, or write it elsewhere");
    return code == ExitCodes.OK ? ExitCodes.FAILURE : code;
  }

  /** Runs a command line; returns its exit code. */
  static int run(String[] args, PrintStream out, PrintStream err) {
    String first = args.length == 0 ? "" : args[0];
    if (args.length == 1 && (first.equals("--version") || first.equals("-V"))) {
      out.println(version());
      return ExitCodes.OK;
    }
    if (args.length == 1 && first.equals(REHEARSE)) {
      return Rehearsal.run();
    }
    // Right over the stream, which keeps errors to itself: only so a PrintWriter learns of them,
    // and a verb that nobody reads any more.
    return Segtool.commandLine(first)
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err, true))
        .execute(args);
  }

  /** One line; the version is known only in the jar: a run from class files has no manifest. */
  static String version() {
    String version = Main.class.getPackage().getImplementationVersion();
    return "segtool " + (version == null ? "(unpackaged)" : version);
  }
}
