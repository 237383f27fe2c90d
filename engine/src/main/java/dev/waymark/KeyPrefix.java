package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.layout.BoundaryKey;
import java.util.Locale;
import java.util.regex.Pattern;

/** First hex digits of a key, by which people name what reports show. */
final class KeyPrefix {
  /** Least digits that name something: as many as reports show. */
  private static final int LEAST_DIGITS = 8;

  private static final Pattern HEX = Pattern.compile("[0-9a-f]{8,64}");

  private KeyPrefix() {}

  /** The digits in lower case. */
  static String check(String text) {
    String prefix = text.toLowerCase(Locale.ROOT);
    if (!HEX.matcher(prefix).matches()) {
      throw new InvalidArgumentException(
          ErrorDetail.of("that is no prefix of a key")
              .expected(LEAST_DIGITS + " to 64 hex digits")
              .found(text.length() + " characters"));
    }
    return prefix;
  }

  /** Whether a key starts with checked digits; compares numbers, as there may be millions. */
  static boolean matches(BoundaryKey key, String prefix) {
    // The first word holds the first bytes, little-endian.
    int first = Integer.reverseBytes((int) key.word0());
    return first == Integer.parseUnsignedInt(prefix, 0, LEAST_DIGITS, 16)
        && (prefix.length() == LEAST_DIGITS || key.toHex().startsWith(prefix));
  }
}
