package dev.waymark.tools.inspect;

import dev.waymark.TensorInspector.Report;
import dev.waymark.TensorInspector.TensorReport;
import dev.waymark.tools.Output;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** What codecs make of each tensor, for people. */
final class TensorTable {
  private static final String ROW = "%-28s %-9s %8s %10s %10s %6s  %s";

  private final Report report;
  private final Output out;

  TensorTable(Report report, Output out) {
    this.report = report;
    this.out = out;
  }

  void print() {
    int namespace = -1;
    for (TensorReport tensor : report.tensors()) {
      if (tensor.namespaceId() != namespace) {
        namespace = tensor.namespaceId();
        out.line();
        out.line(
            ROW, "tensors of namespace " + namespace, "codec", "parts", "raw", "stored", "", "");
      }
      out.line(
          ROW,
          tensor.spec().name(),
          tensor.asked(),
          count(tensor.parts()),
          Output.bytes(tensor.rawBytes()),
          Output.bytes(tensor.storedBytes()),
          String.format(Locale.ROOT, "%.3f", tensor.ratio()),
          leftRaw(tensor));
    }
    if (report.recordsUnread() > 0) {
      out.line(
          "%s of %s records could not be read, and are left out: verify says why",
          count(report.recordsUnread()), count(report.records()));
    }
  }

  private static String leftRaw(TensorReport tensor) {
    if (tensor.partsRaw() == 0) {
      return "";
    }
    String reasons =
        tensor.reasons().entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(reason -> reason.getKey() + " (" + count(reason.getValue()) + ")")
            .collect(Collectors.joining(", "));
    return count(tensor.partsRaw()) + " parts stored raw, chunks: " + reasons;
  }

  private static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }
}
