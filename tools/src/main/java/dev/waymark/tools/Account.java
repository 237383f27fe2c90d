package dev.waymark.tools;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreInspector.Totals;
import java.util.LinkedHashMap;
import java.util.Map;

/** Where a store's bytes are, in the words that every verb has for them. */
public final class Account {
  private Account() {}

  /** The bytes by their names, those that add up first and their sum last. */
  public static Map<String, Long> of(Totals totals) {
    Map<String, Long> bytes = new LinkedHashMap<>();
    bytes.put("live", totals.liveBytes());
    bytes.put("dead", totals.deadBytes());
    bytes.put("framing", totals.framingBytes());
    bytes.put("reserved", totals.reservedBytes());
    bytes.put("unaccounted", totals.unaccountedBytes());
    bytes.put("allocated", totals.allocatedBytes());
    return bytes;
  }

  /** The same as fields of a JSON object. */
  public static void put(ObjectNode node, Totals totals) {
    of(totals).forEach((name, bytes) -> node.put(name + "_bytes", bytes));
  }
}
