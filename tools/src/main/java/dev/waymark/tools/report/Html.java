package dev.waymark.tools.report;

import java.util.Locale;

/** Puts text together that a browser takes for text. */
final class Html {
  private final StringBuilder out = new StringBuilder();

  /** Markup as it is. */
  Html raw(String markup) {
    out.append(markup);
    return this;
  }

  /** Markup with numbers in it. */
  Html raw(String format, Object... values) {
    out.append(String.format(Locale.ROOT, format, values));
    return this;
  }

  /** Text. */
  Html text(String text) {
    out.append(escape(text));
    return this;
  }

  Html add(Html other) {
    out.append(other.out);
    return this;
  }

  static String escape(String text) {
    StringBuilder escaped = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&' -> escaped.append("&amp;");
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '"' -> escaped.append("&quot;");
        case '\'' -> escaped.append("&#39;");
        default -> escaped.append(Character.isISOControl(c) ? ' ' : c);
      }
    }
    return escaped.toString();
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
