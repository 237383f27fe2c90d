package dev.waymark.tools.report;

import dev.waymark.StoreInspector.SegmentReport;
import dev.waymark.tools.Output;
import java.util.ArrayList;
import java.util.List;

/**
 * A strip a segment: what of its bytes lives, is dead, is framing, is reserved, and what nothing
 * explains. Where there are more segments than strips, neighbours share one.
 */
final class SegmentStrips {
  static final int MOST_STRIPS = 48;
  private static final String[] NAMES = {"live", "dead", "framing", "reserved", "unaccounted"};

  private final List<Strip> strips = new ArrayList<>();

  /** One strip; bytes in the order of the names. */
  private record Strip(String label, long[] bytes, long allocatedBytes) {}

  SegmentStrips(List<SegmentReport> segments) {
    int each = Math.max(1, (segments.size() + MOST_STRIPS - 1) / MOST_STRIPS);
    for (int i = 0; i < segments.size(); i += each) {
      strips.add(strip(segments.subList(i, Math.min(segments.size(), i + each))));
    }
  }

  private static Strip strip(List<SegmentReport> segments) {
    long[] bytes = new long[NAMES.length];
    long allocated = 0;
    for (SegmentReport segment : segments) {
      bytes[0] += segment.liveBytes();
      bytes[1] += segment.deadBytes();
      bytes[2] += segment.framingBytes();
      bytes[3] += segment.reservedBytes();
      bytes[4] += segment.unaccountedBytes();
      allocated += segment.allocatedBytes();
    }
    String first = segments.get(0).file().replace(".seg", "");
    String label = segments.size() == 1 ? first : first + " and " + (segments.size() - 1) + " more";
    return new Strip(label, bytes, allocated);
  }

  Html html() {
    Html html = new Html();
    if (strips.isEmpty()) {
      return html.raw("<p>There is no segment yet.</p>");
    }
    html.raw("<p class='legend'>");
    for (String name : NAMES) {
      html.raw("<span><i class='%s'></i>%s</span> ", name, name);
    }
    html.raw("</p><div class='strips'>");
    long most = strips.stream().mapToLong(Strip::allocatedBytes).max().orElse(1);
    for (Strip strip : strips) {
      html.raw("<span class='label'>").text(strip.label()).raw("</span>");
      bar(html, strip, Math.max(1, most));
      html.raw("<span class='size'>").text(Output.bytes(strip.allocatedBytes())).raw("</span>");
    }
    return html.raw("</div>");
  }

  private static void bar(Html html, Strip strip, long most) {
    html.raw("<svg class='strip' viewBox='0 0 1000 10' preserveAspectRatio='none' role='img'>");
    html.raw("<title>");
    for (int i = 0; i < NAMES.length; i++) {
      html.raw("%s%s ", i == 0 ? "" : ", ", NAMES[i]).text(Output.bytes(strip.bytes()[i]));
    }
    html.raw("</title>");
    double x = 0;
    for (int i = 0; i < NAMES.length; i++) {
      double width = 1_000.0 * Math.max(0, strip.bytes()[i]) / most;
      if (width > 0) {
        html.raw("<rect class='%s' x='%.2f' y='0' width='%.2f' height='10'/>", NAMES[i], x, width);
        x += width;
      }
    }
    html.raw("</svg>");
  }

  int count() {
    return strips.size();
  }
}
