package dev.waymark.tools;

import java.util.ListResourceBundle;

/** What picocli says of its own options, said as the rest of the help is. */
final class HelpTexts extends ListResourceBundle {
  @Override
  protected Object[][] getContents() {
    return new Object[][] {
      {"mixinStandardHelpOptions.help", "show this help"},
      {"mixinStandardHelpOptions.version", "show the version"},
    };
  }
}
