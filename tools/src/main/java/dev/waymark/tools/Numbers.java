package dev.waymark.tools;

import dev.waymark.StoreOptions;
import dev.waymark.error.InvalidSettingException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Numbers and sizes on the command line. Read by converters, so that what is none is wrong usage
 * and names its option. Underscores and commas may group digits.
 */
public final class Numbers {
  private Numbers() {}

  /**
   * Reads a whole number.
   *
   * @throws TypeConversionException if it is none, or out of range
   */
  public static long whole(String text, long least, long most) {
    return whole("", text, least, most);
  }

  /** Reads a number of 1 or more, naming what it is for where it is none. */
  public static long positive(String what, String text, long most) {
    return whole(" for " + what, text, 1, most);
  }

  private static long whole(String forWhat, String text, long least, long most) {
    try {
      long value = Long.parseLong(text.replaceAll("(?<=\\d)[_,](?=\\d)", ""));
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new TypeConversionException(
        "expected a whole number of " + least + " to " + most + forWhat + ", found '" + text + "'");
  }

  /** For options that hold an int of 1 or more. */
  public static final class PositiveInt implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return (int) whole(text, 1, Integer.MAX_VALUE);
    }
  }

  /** For options that hold a long of 1 or more. */
  public static final class PositiveLong implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return whole(text, 1, Long.MAX_VALUE);
    }
  }

  /** For quotas: a size as the store's options have it, or {@code auto}. */
  public static final class Quota implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      try {
        return StoreOptions.parseSize(text);
      } catch (InvalidSettingException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** For options that hold a number of bytes. */
  public static final class Size implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      long bytes = new Quota().convert(text);
      if (bytes == StoreOptions.AUTO_QUOTA) {
        throw new TypeConversionException("expected a number of bytes, such as 100GiB");
      }
      return bytes;
    }
  }
}
