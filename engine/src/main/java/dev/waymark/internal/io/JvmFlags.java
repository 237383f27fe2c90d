package dev.waymark.internal.io;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.MissingJvmFlagsException;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/**
 * Whether the JVM was started with the flags that the mapping and buffer libraries need. Without
 * them those fail late, with an {@code AssertionError} at the first mapped write or an {@code
 * IllegalAccessError}; so this asks the module system first, before any class of theirs is loaded.
 *
 * <p>Invariant: this class names no class outside the JDK and the error package.
 */
public final class JvmFlags {
  /** Packages of java.base that have to be open for deep reflection. */
  private static final List<String> OPENED = List.of("java.lang.reflect", "sun.nio.ch");

  /** Packages of java.base whose public classes have to be reachable. */
  private static final List<String> EXPORTED = List.of("jdk.internal.ref", "jdk.internal.misc");

  /** From here on the JDK warns on standard error about native access and unsafe memory access. */
  private static final int FIRST_WARNING_FEATURE = 24;

  private JvmFlags() {}

  /**
   * Returns silently where everything is reachable.
   *
   * @throws MissingJvmFlagsException with the one line to add to the command line
   */
  public static void check() {
    List<String> missing = missing(Object.class.getModule(), JvmFlags.class.getModule());
    if (!missing.isEmpty()) {
      throw failure(missing);
    }
  }

  /** The line to paste for the JDK that runs this. */
  public static String line() {
    return line(Runtime.version().feature(), Object.class.getModule(), JvmFlags.class.getModule());
  }

  static MissingJvmFlagsException failure(List<String> missing) {
    return new MissingJvmFlagsException(
        ErrorDetail.of("The JVM was started without flags that the store needs")
            .expected(missing)
            .remedy("add this line to the java command, before the main class or -jar: " + line()));
  }

  static List<String> missing(Module base, Module user) {
    List<String> missing = new ArrayList<>();
    for (String name : OPENED) {
      if (base.getPackages().contains(name) && !base.isOpen(name, user)) {
        missing.add(opens(name, user));
      }
    }
    for (String name : EXPORTED) {
      if (base.getPackages().contains(name) && !base.isExported(name, user)) {
        missing.add(exports(name, user));
      }
    }
    return missing;
  }

  static String line(int feature, Module base, Module user) {
    StringJoiner line = new StringJoiner(" ");
    // A package that a JDK no longer has would be a warning at its start.
    OPENED.stream().filter(base.getPackages()::contains).forEach(p -> line.add(opens(p, user)));
    EXPORTED.stream().filter(base.getPackages()::contains).forEach(p -> line.add(exports(p, user)));
    if (feature >= FIRST_WARNING_FEATURE) {
      line.add("--enable-native-access=" + target(user));
      line.add("--sun-misc-unsafe-memory-access=allow");
    }
    return line.toString();
  }

  private static String opens(String name, Module user) {
    return "--add-opens=java.base/" + name + "=" + target(user);
  }

  private static String exports(String name, Module user) {
    return "--add-exports=java.base/" + name + "=" + target(user);
  }

  private static String target(Module user) {
    return user.isNamed() ? user.getName() : "ALL-UNNAMED";
  }
}
