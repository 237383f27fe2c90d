package dev.waymark.tools;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import picocli.CommandLine;

/** One run of segtool: its exit code, and what it wrote. */
public record Run(int exitCode, String out, String err) {
  /** Runs it. */
  public static Run of(Object... arguments) {
    StringWriter out = new StringWriter();
    Run run = into(out, arguments);
    return new Run(run.exitCode(), out.toString(), run.err());
  }

  /** Runs it with its output going there. */
  public static Run into(Writer out, Object... arguments) {
    String[] texts = new String[arguments.length];
    for (int i = 0; i < texts.length; i++) {
      texts[i] = arguments[i].toString();
    }
    StringWriter err = new StringWriter();
    CommandLine line =
        Segtool.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return new Run(line.execute(texts), "", err.toString());
  }
}
