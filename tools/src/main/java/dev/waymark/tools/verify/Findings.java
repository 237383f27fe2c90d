package dev.waymark.tools.verify;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreInspector.FindingReport;
import dev.waymark.tools.Output;
import java.util.List;

/** Findings as both verbs print them. */
final class Findings {
  private Findings() {}

  static void print(List<FindingReport> findings, Output out) {
    for (FindingReport finding : findings) {
      String place =
          finding.file().isEmpty()
              ? ""
              : " "
                  + finding.file()
                  + (finding.offsetBytes() < 0 ? "" : " at byte " + finding.offsetBytes());
      out.line("%-8s %s%s: %s", finding.severity(), finding.id(), place, finding.text());
    }
  }

  static void add(List<FindingReport> findings, ObjectNode root) {
    ArrayNode list = root.putArray("findings");
    for (FindingReport finding : findings) {
      ObjectNode node = list.addObject();
      node.put("id", finding.id());
      node.put("severity", finding.severity());
      node.put("file", finding.file());
      node.put("offset_bytes", finding.offsetBytes());
      node.put("text", finding.text());
    }
  }
}
