package dev.waymark.tools;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.WaymarkException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Says what went wrong: in one line on standard error, or, with {@code --json}, as one object on
 * standard output. What is expected to happen is one sentence; what is not is a bug, and shows
 * where.
 */
final class Failures {
  private static final String JSON = "--json";

  private Failures() {}

  /** One failure, as it is shown. */
  private record Failure(String code, String message, String remedy, int exitCode) {}

  /** A verb failed; returns the exit code. */
  static int execution(Exception e, CommandLine line, ParseResult result) {
    if (e instanceof Output.ReaderGone) {
      return ExitCodes.OK;
    }
    Failure failure = of(e);
    boolean bug = failure.code().equals("BUG");
    if (bug) {
      e.printStackTrace(line.getErr());
    }
    return report(failure, line, line.getParseResult().hasMatchedOption(JSON));
  }

  /** The command line makes no sense; returns the exit code. */
  static int usage(ParameterException e, String[] arguments) {
    CommandLine line = e.getCommandLine();
    String name = line.getCommandSpec().qualifiedName();
    return report(
        new Failure("USAGE", message(e), "try: " + name + " --help", ExitCodes.USAGE),
        line,
        Arrays.asList(arguments).contains(JSON));
  }

  private static int report(Failure failure, CommandLine line, boolean json) {
    if (json) {
      ObjectNode root = Output.envelope(line.getCommandName());
      root.putObject("error")
          .put("code", failure.code())
          .put("message", failure.message())
          .put("remedy", failure.remedy())
          .put("exit_code", failure.exitCode());
      try (Output out = new Output(line.getOut())) {
        out.json(root);
      } catch (Output.ReaderGone gone) {
        // Nobody wants to know; the exit code still says it.
        return failure.exitCode();
      }
      return failure.exitCode();
    }
    PrintWriter err = line.getErr();
    boolean known = failure.code().equals("USAGE") || failure.code().equals("BUG");
    err.println(
        "segtool: "
            + (known ? "" : failure.code() + ": ")
            + failure.message()
            + (failure.remedy().isEmpty() ? "" : separator(failure) + failure.remedy()));
    err.flush();
    return failure.exitCode();
  }

  private static String separator(Failure failure) {
    return failure.message().endsWith("?") ? " " : "; ";
  }

  private static Failure of(Exception e) {
    if (e instanceof WaymarkException expected) {
      ErrorDetail detail = expected.detail();
      return new Failure(
          expected.code().name(),
          detail.remedy("").sentence(),
          detail.remedy(),
          ExitCodes.of(expected.code()));
    }
    if (e instanceof NoSuchFileException missing) {
      return new Failure(
          "IO_FAILURE", "there is no file " + missing.getFile(), "check the path", 1);
    }
    if (e instanceof AccessDeniedException denied) {
      return new Failure(
          "IO_FAILURE",
          denied.getFile() + ": permission denied",
          "run as a user that may use it",
          ExitCodes.FAILURE);
    }
    if (e instanceof IOException) {
      String reason =
          e instanceof FileSystemException named && named.getReason() != null
              ? named.getFile() + ": " + named.getReason()
              : e.getClass().getSimpleName() + ": " + e.getMessage();
      return new Failure("IO_FAILURE", reason, "", ExitCodes.FAILURE);
    }
    return new Failure("BUG", "this is a bug: " + e, "please report it", ExitCodes.FAILURE);
  }

  private static String message(ParameterException e) {
    if (e instanceof UnmatchedArgumentException unmatched) {
      String found = unmatched.getUnmatched().get(0);
      List<String> similar = unmatched.getSuggestions();
      boolean verb =
          !unmatched.isUnknownOption() && e.getCommandLine().getParent() == null;
      String what = unmatched.isUnknownOption() ? "option" : verb ? "verb" : "argument";
      return (what.equals("argument") ? "one argument too many: '" : "there is no " + what + " '")
          + found
          + "'"
          + (similar.isEmpty() ? "" : ", did you mean " + similar.get(0) + "?");
    }
    return e.getMessage();
  }
}
