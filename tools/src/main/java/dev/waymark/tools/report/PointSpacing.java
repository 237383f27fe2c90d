package dev.waymark.tools.report;

import dev.waymark.StoreReader.Boundary;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;

/**
 * How many tokens lie between a restore point and the one above it, or the first token: what a
 * prompt that leaves its chain there has to compute again. In steps of powers of two of blocks.
 */
final class PointSpacing {
  private final Map<Integer, Integer> blockTokens;
  private final Deque<Open> path = new ArrayDeque<>();
  private final TreeMap<Integer, Long> counts = new TreeMap<>();
  private long points;

  /** A boundary, and the newest point at or above it. */
  private record Open(int tokens, int pointTokens) {}

  PointSpacing(Map<Integer, Integer> blockTokens) {
    this.blockTokens = blockTokens;
  }

  void add(Boundary boundary) {
    if (boundary.tokenFrom() == 0) {
      path.clear();
    }
    while (!path.isEmpty() && path.peek().tokens() > boundary.tokenFrom()) {
      path.pop();
    }
    int above = path.isEmpty() ? 0 : path.peek().pointTokens();
    if (boundary.isRestorable()) {
      int blocks = (boundary.tokens() - above) / blockTokens.get(boundary.namespaceId());
      counts.merge(32 - Integer.numberOfLeadingZeros(Math.max(1, blocks) - 1), 1L, Long::sum);
      points++;
      above = boundary.tokens();
    }
    path.push(new Open(boundary.tokens(), above));
  }

  Html html() {
    Html html = new Html();
    if (points == 0) {
      return html.raw("<p>There are no restore points.</p>");
    }
    long most = counts.values().stream().mapToLong(Long::longValue).max().orElse(1);
    html.raw("<div class='strips'>");
    for (int power = counts.firstKey(); power <= counts.lastKey(); power++) {
      long count = counts.getOrDefault(power, 0L);
      int to = 1 << Math.min(30, power);
      int from = power == 0 ? 1 : to / 2 + 1;
      html.raw("<span class='label'>");
      html.raw(from == to ? "%,d" : "%2$,d to %1$,d", to, from);
      html.raw(to == 1 ? " block" : " blocks").raw("</span>");
      html.raw("<svg class='strip' viewBox='0 0 1000 10' preserveAspectRatio='none' role='img'>");
      html.raw("<rect class='points' width='%.2f' height='10'/></svg>", 1_000.0 * count / most);
      html.raw("<span class='size'>%,d</span>", count);
    }
    return html.raw("</div>");
  }
}
