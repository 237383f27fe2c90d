package dev.waymark.tools;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.FindingReport;
import java.util.List;

/** Findings as every verb prints them, and the exit code that they make. */
public final class Findings {
  private Findings() {}

  /** One line each. */
  public static void print(List<FindingReport> findings, Output out) {
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

  /** Adds them as a list. */
  public static void add(List<FindingReport> findings, ObjectNode root) {
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

  /** What looking at a store ends with. */
  public static int exitCode(StoreInspector store) {
    int code = damageCode(store);
    return code == ExitCodes.OK && store.summary().manifestIsTorn() ? ExitCodes.TORN_TAIL : code;
  }

  /** What another answer about a store ends with, to which a torn tail makes no difference. */
  public static int damageCode(StoreInspector store) {
    return store.findings().stream().anyMatch(f -> f.severity().equals("ERROR"))
        ? ExitCodes.CORRUPTION
        : ExitCodes.OK;
  }
}
