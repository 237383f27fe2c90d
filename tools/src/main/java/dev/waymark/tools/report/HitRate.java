package dev.waymark.tools.report;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.tools.Output;
import java.util.Optional;

/**
 * How much of the state that prompts needed came out of the store, by what the last writer counted
 * since it opened it: bytes restored over those and bytes stored new.
 */
final class HitRate {
  private final JsonNode counters;

  HitRate(Optional<String> json) {
    this.counters = json.map(HitRate::parse).orElse(null);
  }

  private static JsonNode parse(String json) {
    try {
      return new ObjectMapper().readTree(json);
    } catch (JsonProcessingException e) {
      return null;
    }
  }

  Html html() {
    Html html = new Html();
    long restored = number("restored_bytes");
    long appended = number("appended_bytes");
    if (counters == null || restored + appended == 0) {
      return html.raw("<p>The last writer has counted neither restores nor appends.</p>");
    }
    double share = (double) restored / (restored + appended);
    html.raw("<p class='big'>%.1f%%</p>", 100 * share);
    html.raw("<svg class='strip' viewBox='0 0 1000 10' preserveAspectRatio='none' role='img'>");
    html.raw("<rect class='missed' width='1000' height='10'/>");
    html.raw("<rect class='hit' width='%.2f' height='10'/></svg>", 1_000 * share);
    html.raw("<p>").text(Output.bytes(restored)).raw(" came out of the store by ");
    html.raw(
        "%,d restores, %,d of them missed; ",
        number("restores") + number("restore_misses"), number("restore_misses"));
    return html.text(Output.bytes(appended))
        .raw(" were computed and stored, since the last writer opened it.</p>");
  }

  private long number(String name) {
    return counters == null ? 0 : counters.path(name).asLong();
  }
}
