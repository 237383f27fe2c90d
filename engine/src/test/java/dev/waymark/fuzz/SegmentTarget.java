package dev.waymark.fuzz;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.SegmentFooter;
import dev.waymark.internal.log.SegmentHeader;
import dev.waymark.internal.recover.ManifestRebuild;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A segment's file: what it says of itself is put together to a state without a manifest, and what
 * stands on each of its pages is looked at as its footer.
 */
public final class SegmentTarget {
  private static final int PAGE_BYTES = 4096;

  private SegmentTarget() {}

  /** Called by Jazzer. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    byte[] file = Pages.expand(input, 1);
    Sealer.segment(file, input[0]);
    try {
      SegmentHeader header =
          file.length == 0
              ? null
              : SegmentHeader.parse(new UnsafeBuffer(file, 0, PAGE_BYTES), "append-1.seg");
      String name = header == null ? "append-1.seg" : header.fileName();
      footers(file, header, name);
      Checkpoints.saysTheSame(
          ManifestRebuild.look(new MemoryDirectory(Map.of(name, file))).forest());
    } catch (CorruptionException | UnsupportedFormatException e) {
      // As declared.
    }
  }

  private static void footers(byte[] file, SegmentHeader header, String name) {
    if (header == null) {
      return;
    }
    for (int at = 0; at < file.length; at += PAGE_BYTES) {
      UnsafeBuffer page = new UnsafeBuffer(file, at, PAGE_BYTES);
      Frame.Check check =
          Frame.check(page, 0, PAGE_BYTES, Frame.tagOf(header.segmentId()), PAGE_BYTES);
      if (check.isValid()) {
        try {
          SegmentFooter.check(
              new UnsafeBuffer(page, 0, check.lengthBytes()), header.segmentId(), at, name);
        } catch (CorruptionException e) {
          // As declared.
        }
      }
    }
  }
}
