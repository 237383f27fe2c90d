package dev.waymark.tools;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.error.ErrorCode;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.WaymarkException;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
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
  private static final String OUT_OF_MEMORY = "OUT_OF_MEMORY";

  /** How systems say it; Java has no exception of its own for it. */
  private static final String NO_SPACE = "No space left";

  private Failures() {}

  /** One failure, as it is shown. */
  private record Failure(String code, String fault, String message, String remedy, int exitCode) {
    Failure(String code, String message, String remedy, int exitCode) {
      this(code, "", message, remedy, exitCode);
    }
  }

  /** A verb failed; returns the exit code. */
  static int execution(Exception e, CommandLine line, ParseResult result) {
    if (e instanceof Output.ReaderGone) {
      return ExitCodes.OK;
    }
    // What is wrong inside a store the engine says itself: the rest is of other files.
    Failure failure = e instanceof IOException ? of(e) : in(store(line), of(e));
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

  /** The store that the command line names, or empty. */
  private static String store(CommandLine line) {
    return line.getCommandSpec().positionalParameters().stream()
        .filter(p -> p.paramLabel().equals("STORE") && p.getValue() != null)
        .map(p -> p.getValue().toString())
        .findFirst()
        .orElse("");
  }

  /**
   * Says of which store it is: files are named inside of it. Faults with names are not of the
   * store: of what is brought in from elsewhere, or a port.
   */
  private static Failure in(String store, Failure failure) {
    boolean elsewhere = failure.code().equals("BUG") || !failure.fault().isEmpty();
    return store.isEmpty() || elsewhere || failure.message().contains(store)
        ? failure
        : new Failure(
            failure.code(), store + ": " + failure.message(), failure.remedy(), failure.exitCode());
  }

  private static int report(Failure failure, CommandLine line, boolean json) {
    if (json) {
      ObjectNode root = Output.envelope(line.getCommandName());
      Output.error(
          root,
          failure.code(),
          failure.fault(),
          failure.message(),
          failure.remedy(),
          failure.exitCode());
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
          e instanceof NamedFault named ? named.faultName() : "",
          detail.remedy("").sentence(),
          detail.remedy().isEmpty() ? remedy(expected.code()) : detail.remedy(),
          ExitCodes.of(expected.code()));
    }
    if (e instanceof Segtool.OutOfMemoryException) {
      return outOfMemory(e.getMessage() == null ? "" : e.getMessage());
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
    if (e instanceof BindException) {
      return new Failure(
          "IO_FAILURE",
          "PORT_UNAVAILABLE",
          e.getMessage(),
          "choose another with --port",
          ExitCodes.FAILURE);
    }
    if (e instanceof IOException && String.valueOf(e.getMessage()).contains(NO_SPACE)) {
      return new Failure(
          ErrorCode.DISK_FULL.name(),
          (e instanceof FileSystemException named && named.getFile() != null
                  ? named.getFile() + ": "
                  : "")
              + "there is no room left on the disk",
          remedy(ErrorCode.DISK_FULL),
          ExitCodes.FAILURE);
    }
    if (e instanceof IOException) {
      String reason =
          e instanceof FileSystemException named && named.getReason() != null
              ? named.getFile() + ": " + named.getReason()
              : e.getClass().getSimpleName() + ": " + e.getMessage();
      return new Failure("IO_FAILURE", reason, remedy(ErrorCode.IO_FAILURE), ExitCodes.FAILURE);
    }
    return new Failure("BUG", "this is a bug: " + e, "please report it", ExitCodes.FAILURE);
  }

  /** The JVM has one error for all of its memory, and tells in words which it means. */
  private static Failure outOfMemory(String message) {
    if (message.startsWith("Java heap space") || message.startsWith("GC overhead")) {
      return new Failure(
          OUT_OF_MEMORY,
          "it does not go into a heap of " + Output.bytes(Runtime.getRuntime().maxMemory()),
          "give Java more: JAVA_TOOL_OPTIONS=-Xmx8g",
          ExitCodes.FAILURE);
    }
    String lower = message.toLowerCase(Locale.ROOT);
    if (lower.contains("direct buffer memory")) {
      return new Failure(
          OUT_OF_MEMORY,
          "Java may not take as much memory outside its heap",
          "allow more: JAVA_TOOL_OPTIONS=-XX:MaxDirectMemorySize=8g",
          ExitCodes.FAILURE);
    }
    if (lower.contains("native thread")) {
      return new Failure(
          OUT_OF_MEMORY,
          "the system gives Java no more threads",
          "raise the limit of processes (ulimit -u, or the container's), or free memory",
          ExitCodes.FAILURE);
    }
    return new Failure(
        OUT_OF_MEMORY,
        message.isEmpty() ? "out of memory" : "out of memory: " + message,
        "free memory, or give Java more",
        ExitCodes.FAILURE);
  }

  /** What to do about failures that do not say so themselves. */
  private static String remedy(ErrorCode code) {
    return switch (code) {
      case CORRUPTION ->
          "segtool verify lists what is damaged where the manifest can be read; where it cannot,"
              + " segtool repair --rebuild-manifest says what the records bring back";
      case IO_FAILURE -> "look at the disk and at the system's log, and try again";
      case DISK_FULL -> "free some space, and try again";
      case STORE_LOCKED, MOVING -> "try again later";
      case UNSUPPORTED_FORMAT -> "use the version that wrote it";
      default -> "look at segtool --help, and at the path";
    };
  }

  private static String message(ParameterException e) {
    // What is missing beside a typo is most often only what the typo took away.
    List<String> unknown = e.getCommandLine().getUnmatchedArguments();
    if (!unknown.isEmpty() || e instanceof UnmatchedArgumentException) {
      UnmatchedArgumentException unmatched =
          e instanceof UnmatchedArgumentException same
              ? same
              : new UnmatchedArgumentException(e.getCommandLine(), unknown);
      CommandSpec spec = e.getCommandLine().getCommandSpec();
      String found = unmatched.getUnmatched().get(0);
      if (found.startsWith("--") && found.contains("=")) {
        found = found.substring(0, found.indexOf('='));
      }
      if (unmatched.isUnknownOption()) {
        return "there is no option '" + found + "'" + meant(found, spec.optionsMap().keySet());
      }
      return spec.subcommands().isEmpty()
          ? "one argument too many: '" + found + "'"
          : "there is no verb '" + found + "'" + meant(found, spec.subcommands().keySet());
    }
    return e.getMessage();
  }

  /** The nearest name, where one is near enough to be meant. */
  private static String meant(String found, Set<String> names) {
    int most = Math.max(1, found.length() / 3);
    return names.stream()
        .min(Comparator.comparingInt(name -> distance(found, name)))
        .filter(name -> distance(found, name) <= most)
        .map(name -> ", did you mean " + name + "?")
        .orElse("");
  }

  /** Characters to put in, take out or change. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(change, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
