package dev.waymark.tools.move;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreStats;
import dev.waymark.tools.Output;

/**
 * What an import met, and what the same data costs here.
 *
 * @param before the store's account before it; null where nothing was to be stored
 */
record ImportSummary(String kind, ImportTally tally, StoreStats before, StoreStats after) {

  void print(Output out) {
    if (before == null) {
      out.line("Nothing wrong was found with the %s. Dry run: nothing was stored.", kind);
      return;
    }
    out.line(
        "%s: %,d files, %s; %,d boundaries in %,d chains, %,d of them restore points.",
        kind,
        tally.files(),
        Output.bytes(tally.fileBytes()),
        tally.boundaries(),
        tally.chains(),
        tally.points());
    tally.notes().forEach((note, count) -> out.line("  %s (%,d)", note, count));
    tally.leftOut().forEach((why, count) -> out.line("  left out, %,d: %s", count, why));
    out.line();
    out.line(
        "new here      %,d boundaries, %,d restore points; the rest was stored already",
        after.boundaries() - before.boundaries(), tally.pointsAdded());
    if (tally.names() > 0) {
      out.line(
          "kept here     %,d names, %,d of them new; segtool pin lists them",
          tally.names(), tally.namesAdded());
    }
    out.line("there         %,18d B  %10s", tally.fileBytes(), Output.bytes(tally.fileBytes()));
    out.line("rows, state   %,18d B  %10s", tally.rawBytes(), Output.bytes(tally.rawBytes()));
    out.line("written here  %,18d B  %10s", recordBytes(), Output.bytes(recordBytes()));
    out.line("occupied here %,18d B  %10s", occupiedBytes(), Output.bytes(occupiedBytes()));
  }

  ObjectNode json() {
    ObjectNode root = Output.envelope("import");
    root.put("kind", kind);
    root.put("dry_run", before == null);
    if (before == null) {
      return root;
    }
    root.put("files", tally.files());
    root.put("file_bytes", tally.fileBytes());
    root.put("boundaries", tally.boundaries());
    root.put("restore_points", tally.points());
    root.put("chains", tally.chains());
    root.put("names", tally.names());
    root.put("names_added", tally.namesAdded());
    root.put("boundaries_added", after.boundaries() - before.boundaries());
    root.put("restore_points_added", tally.pointsAdded());
    root.put("raw_bytes", tally.rawBytes());
    root.put("record_bytes", recordBytes());
    root.put("allocated_bytes", occupiedBytes());
    ObjectNode notes = root.putObject("notes");
    tally.notes().forEach(notes::put);
    ObjectNode leftOut = root.putObject("left_out");
    tally.leftOut().forEach(leftOut::put);
    return root;
  }

  private long recordBytes() {
    return after.recordBytes() - before.recordBytes();
  }

  /** What is allocated ahead comes back when the store is closed. */
  private long occupiedBytes() {
    return after.allocatedBytes()
        - after.reservedBytes()
        - (before.allocatedBytes() - before.reservedBytes());
  }
}
