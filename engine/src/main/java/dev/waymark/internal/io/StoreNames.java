package dev.waymark.internal.io;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import java.util.regex.Pattern;

/**
 * Which names a file of the store may have: letters, digits, dot, dash and underscore, not starting
 * with a dot or a dash, at most {@value #MAX_CHARS} of them; alone, or below {@link #QUARANTINE}.
 * So no name leads out of the directory, and none needs quoting.
 */
final class StoreNames {
  static final String LOCK = "LOCK";
  static final String CURRENT = "CURRENT";
  static final String QUARANTINE = "quarantine";
  static final String QUARANTINE_PREFIX = QUARANTINE + "/";
  static final int MAX_CHARS = 200;

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]*");

  /** What a store makes, and what file systems put into each directory that is one of theirs. */
  private static final Pattern OURS =
      Pattern.compile(
          "LOCK|CURRENT(\\.tmp)?|STATUS|probe\\.tmp|manifest-\\d+\\.log|(append|delta)-\\d+\\.seg"
              + "|quarantine|lost\\+found");

  private StoreNames() {}

  /** Whether a store may have made an entry of that name. */
  static boolean isOurs(String name) {
    return OURS.matcher(name).matches();
  }

  /** Returns the name where it may be opened, made, renamed or removed. */
  static String check(String name) {
    String plain =
        name.startsWith(QUARANTINE_PREFIX) ? name.substring(QUARANTINE_PREFIX.length()) : name;
    if (plain.length() > MAX_CHARS || !PLAIN.matcher(plain).matches() || name.equals(QUARANTINE)) {
      throw refused("a file name of the store", name);
    }
    // Closing any second descriptor of the lock file would silently drop the lock.
    if (name.equals(LOCK)) {
      throw refused("a file other than the lock", name);
    }
    return name;
  }

  private static InvalidArgumentException refused(String expected, String name) {
    return new InvalidArgumentException(
        ErrorDetail.of("A file name was refused").expected(expected).found(printable(name)));
  }

  private static String printable(String name) {
    String shown = name.replaceAll("[^ -~]", "?");
    return shown.length() <= 80 ? shown : shown.substring(0, 80) + "...";
  }
}
