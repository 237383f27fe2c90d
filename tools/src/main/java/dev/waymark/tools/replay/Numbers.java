package dev.waymark.tools.replay;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Whole numbers of 1 or more on the command line. Underscores and commas may group digits. */
final class Numbers {
  private Numbers() {}

  /** Reads a number, naming what it is for where it is none. */
  static long positive(String what, String text, long most) {
    try {
      long value = Long.parseLong(text.replaceAll("(?<=\\d)[_,](?=\\d)", ""));
      if (value >= 1 && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new TypeConversionException(
        "expected a whole number of 1 to " + most + " for " + what + ", found '" + text + "'");
  }

  /** For options that hold an int. */
  static final class PositiveInt implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return (int) positive("this option", text, Integer.MAX_VALUE);
    }
  }

  /** For options that hold a long. */
  static final class PositiveLong implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return positive("this option", text, Long.MAX_VALUE);
    }
  }
}
