package dev.waymark.tools.replay;

import dev.waymark.layout.RestorePolicy;
import dev.waymark.tools.Numbers;
import java.util.OptionalDouble;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Where restore points are to go, as the command line says it. */
public sealed interface Policy {
  /** At every boundary. */
  record Every() implements Policy {}

  /** At every n-th boundary, and the last. */
  record Stride(int blocks) implements Policy {}

  /**
   * On a lattice that widens with the prefix.
   *
   * @param budgetFraction what points may cost of their chain's row bytes, or empty for the store's
   *     default
   */
  record Lattice(OptionalDouble budgetFraction) implements Policy {}

  /** At the last boundary. */
  record Last() implements Policy {}

  /** What the store calls it; its budget is in whole percent, and one above 0 stays above 0. */
  default RestorePolicy toRestorePolicy() {
    if (this instanceof Every) {
      return RestorePolicy.EVERY;
    }
    if (this instanceof Stride stride) {
      return RestorePolicy.stride(stride.blocks());
    }
    if (this instanceof Lattice lattice) {
      return lattice.budgetFraction().isEmpty()
          ? RestorePolicy.DEFAULT
          : RestorePolicy.lattice(
              (int) Math.max(1, Math.round(100 * lattice.budgetFraction().getAsDouble())));
    }
    return RestorePolicy.LAST;
  }

  /** Reads {@code every}, {@code stride:N}, {@code lattice}, {@code lattice:0.25}, {@code last}. */
  final class Converter implements ITypeConverter<Policy> {
    @Override
    public Policy convert(String text) {
      int colon = text.indexOf(':');
      String name = colon < 0 ? text : text.substring(0, colon);
      String value = colon < 0 ? "" : text.substring(colon + 1);
      if (name.equals("stride")) {
        return new Stride((int) Numbers.positive("stride", value, Integer.MAX_VALUE));
      }
      if (name.equals("lattice")) {
        return new Lattice(colon < 0 ? OptionalDouble.empty() : OptionalDouble.of(budget(value)));
      }
      if (colon < 0 && name.equals("every")) {
        return new Every();
      }
      if (colon < 0 && name.equals("last")) {
        return new Last();
      }
      throw new TypeConversionException(
          "expected every, stride:N, lattice, lattice:BUDGET or last, found '" + text + "'");
    }

    private static double budget(String text) {
      boolean percent = text.endsWith("%");
      try {
        double value = Double.parseDouble(percent ? text.substring(0, text.length() - 1) : text);
        double fraction = percent ? value / 100 : value;
        if (fraction > 0 && fraction <= 1_000) {
          return fraction;
        }
      } catch (NumberFormatException e) {
        // Said below.
      }
      throw new TypeConversionException(
          "expected a budget above 0 as a fraction (0.25) or in percent (25%), found '"
              + text
              + "'");
    }
  }
}
