package dev.waymark.tools.replay;

import dev.waymark.tools.Numbers;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Which restores are checked byte for byte.
 *
 * @param everyRestores one restore in so many; 0 for none
 */
record Verification(int everyRestores) {

  /** Whether to check a restore, the first being 0. */
  boolean includes(long restore) {
    return everyRestores > 0 && restore % everyRestores == 0;
  }

  /** Reads {@code all}, {@code sample:N} (one in N) and {@code none}. */
  static final class Converter implements ITypeConverter<Verification> {
    private static final String SAMPLE = "sample:";

    @Override
    public Verification convert(String text) {
      if (text.equals("all")) {
        return new Verification(1);
      }
      if (text.equals("none")) {
        return new Verification(0);
      }
      if (text.startsWith(SAMPLE)) {
        String value = text.substring(SAMPLE.length());
        return new Verification((int) Numbers.positive("sample", value, Integer.MAX_VALUE));
      }
      throw new TypeConversionException("expected all, sample:N or none, found '" + text + "'");
    }
  }
}
