package dev.waymark.tools.demo;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.tools.Output;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;

/** What a demonstration found: as a table for people, as JSON for programs. */
final class DemoReport {
  private static final String STEP = "%-18s %9s %9s %9s %9s %11s %11s";

  private final DemoResult result;

  DemoReport(DemoResult result) {
    this.result = result;
  }

  void print(Output out) {
    out.line(STEP, "", "prompt", "restored", "computed", "answer", "restoring", "computing");
    for (DemoStep step : result.steps()) {
      out.line(
          STEP,
          step.name(),
          count(step.promptTokens()),
          count(step.restoredTokens()),
          count(step.computedTokens()),
          count(step.generatedTokens()),
          millis(step.restoreNanos()),
          millis(step.prefillNanos()));
    }
    out.line();
    line(out, "tokens restored", count(result.restoredTokens()), "");
    line(out, "tokens recomputed", count(result.computedTokens()), "");
    line(
        out,
        "bundles would take",
        Output.bytes(result.bundleBytes()),
        "one file for each of %,d boundaries, %.0f times what was written"
            .formatted(result.boundaries(), (double) result.bundleBytes() / result.writtenBytes()));
    line(
        out,
        "bytes written",
        Output.bytes(result.writtenBytes()),
        "%s on disk, %,d restore points"
            .formatted(Output.bytes(result.allocatedBytes()), result.points()));
    line(
        out,
        "time saved",
        String.format(Locale.ROOT, "%.2f s", result.savedSeconds()),
        String.format(
            Locale.ROOT,
            "the last prompt: %.3f s with the store, %.2f s from scratch: %.0f times as fast",
            result.last().seconds(),
            result.coldSeconds(),
            result.coldSeconds() / result.last().seconds()));
    line(
        out,
        "identical",
        result.identical() ? "yes" : "NO",
        "%d tokens decoded from the restored state and from scratch%s"
            .formatted(result.comparedTokens(), difference()));
    if (result.lossyState() != null) {
      lossyState(out, result.lossyState());
    }
    out.line();
    out.line("The store is in %s", result.store());
    out.line("Look at it with: tools/bin/segtool inspect %s", result.store());
  }

  private static void lossyState(Output out, LossyState state) {
    line(
        out,
        "state " + state.codec(),
        state.identical() ? "same" : "differs",
        "%s; %s of state in %s; in a namespace of its own, which the lines above do not count"
            .formatted(
                state.identical()
                    ? "all %,d tokens of the answers, every restore through the codec"
                        .formatted(state.comparedTokens())
                    : "from token %,d of the answers' %,d on"
                        .formatted(state.firstDifference() + 1, state.comparedTokens()),
                Output.bytes(state.rawBytes()),
                Output.bytes(state.storedBytes())));
  }

  private String difference() {
    if (result.firstDifference() >= 0) {
      return "; they differ from token " + result.firstDifference() + " on";
    }
    return result.logitsIdentical() ? ", logits too" : "; the logits after them differ";
  }

  ObjectNode toJson() {
    ObjectNode root = Output.envelope("demo");
    root.put("store", result.store().toString());
    ArrayNode steps = root.putArray("steps");
    for (DemoStep step : result.steps()) {
      steps
          .addObject()
          .put("name", step.name())
          .put("prompt_tokens", step.promptTokens())
          .put("restored_tokens", step.restoredTokens())
          .put("computed_tokens", step.computedTokens())
          .put("generated_tokens", step.generatedTokens())
          .put("restore_seconds", seconds(step.restoreNanos() / 1e9))
          .put("prefill_seconds", seconds(step.prefillNanos() / 1e9));
    }
    root.put("restored_tokens", result.restoredTokens());
    root.put("recomputed_tokens", result.computedTokens());
    root.put("boundaries", result.boundaries());
    root.put("restore_points", result.points());
    root.put("bundle_bytes", result.bundleBytes());
    root.put("written_bytes", result.writtenBytes());
    root.put("allocated_bytes", result.allocatedBytes());
    root.put("warm_seconds", seconds(result.last().seconds()));
    root.put("cold_seconds", seconds(result.coldSeconds()));
    root.put("saved_seconds", seconds(result.savedSeconds()));
    root.put("compared_tokens", result.comparedTokens());
    root.put("first_difference", result.firstDifference());
    root.put("logits_identical", result.logitsIdentical());
    root.put("identical", result.identical());
    LossyState lossy = result.lossyState();
    if (lossy != null) {
      root.putObject("lossy_state")
          .put("codec", lossy.codec().name())
          .put("compared_tokens", lossy.comparedTokens())
          .put("first_difference", lossy.firstDifference())
          .put("identical", lossy.identical())
          .put("raw_bytes", lossy.rawBytes())
          .put("stored_bytes", lossy.storedBytes());
    }
    return root;
  }

  private static void line(Output out, String name, String value, String remark) {
    out.line("%-18s %11s  %s", name, value, remark);
  }

  private static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  private static String millis(long nanos) {
    return String.format(Locale.ROOT, "%,.1f ms", nanos / 1e6);
  }

  private static BigDecimal seconds(double value) {
    return BigDecimal.valueOf(value).setScale(6, RoundingMode.HALF_UP);
  }
}
