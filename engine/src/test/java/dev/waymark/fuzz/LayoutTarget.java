package dev.waymark.fuzz;

import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import java.nio.charset.StandardCharsets;

/**
 * The JSON of a layout, of an identity or of a codec plan, by the first byte. What is read has one
 * text, from which the same is read.
 */
public final class LayoutTarget {
  private LayoutTarget() {}

  /** Called by Jazzer. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    String text = new String(input, 1, input.length - 1, StandardCharsets.UTF_8);
    try {
      switch (input[0] % 3) {
        case 0 -> {
          Layout layout = Layout.ofJson(text);
          String json = layout.toJson();
          Layout again = readAgain(() -> Layout.ofJson(json));
          same(layout, again, json, again.toJson());
        }
        case 1 -> {
          ModelIdentity identity = ModelIdentity.ofJson(text);
          String json = identity.toJson();
          ModelIdentity again = readAgain(() -> ModelIdentity.ofJson(json));
          same(identity, again, json, again.toJson());
        }
        default -> {
          CodecPlan plan = CodecPlan.ofJson(text);
          String json = plan.toJson();
          CodecPlan again = readAgain(() -> CodecPlan.ofJson(json));
          same(plan, again, json, again.toJson());
        }
      }
    } catch (InvalidSettingException e) {
      // As declared.
    }
  }

  private interface Reading<T> {
    T read();
  }

  private static <T> T readAgain(Reading<T> reading) {
    try {
      return reading.read();
    } catch (InvalidSettingException e) {
      throw new AssertionError("what was written cannot be read", e);
    }
  }

  private static void same(Object first, Object again, String text, String textAgain) {
    if (!first.equals(again) || !text.equals(textAgain)) {
      throw new AssertionError("what was written is read as something else: " + text);
    }
  }
}
