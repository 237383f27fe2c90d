package dev.waymark.tools.inspect;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.RecordInspector;
import dev.waymark.tools.Output;
import dev.waymark.tools.dump.RecordText;
import java.util.List;

/** Records by their headers; dump shows their tensors too. */
final class RecordView implements View {
  private final List<RecordInspector.Report> records;

  RecordView(List<RecordInspector.Report> records) {
    this.records = records;
  }

  @Override
  public void print(Output out) {
    for (RecordInspector.Report record : records) {
      if (record != records.get(0)) {
        out.line();
      }
      new RecordText(record).printHeaders(out);
      record
          .parts()
          .forEach(
              part ->
                  out.line(
                      "%14s %7s  %s, %s",
                      Output.count(part.offsetBytes()),
                      Output.count(part.storedBytes()),
                      part.tensor(),
                      part.codec()));
    }
  }

  @Override
  public void add(ObjectNode root) {
    ArrayNode list = root.putArray("records");
    records.forEach(record -> new RecordText(record).add(list.addObject()));
  }
}
