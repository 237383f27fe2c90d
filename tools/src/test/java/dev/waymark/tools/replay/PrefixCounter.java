package dev.waymark.tools.replay;

import java.util.HashMap;
import java.util.Map;

/**
 * What a store without a limit would hit, counted in the plainest way: a tree of ids for each
 * scope. Nothing is hashed together, so nothing can be mistaken for something else.
 */
final class PrefixCounter {
  private record Edge(long parentNode, long id) {}

  private final Map<String, Map<Edge, Long>> nodesByScope = new HashMap<>();
  private long nodes;
  private final Map<Long, Boolean> blockEnds = new HashMap<>();

  long requests;
  long blocks;
  long unique;
  long hits;

  void add(TraceRequest request) {
    Map<Edge, Long> tree = nodesByScope.computeIfAbsent(request.scope(), s -> new HashMap<>());
    long node = 0;
    boolean leading = true;
    int inBlock = 0;
    for (long id : request.hashIds()) {
      node = tree.computeIfAbsent(new Edge(node, id), edge -> ++nodes);
      if (++inBlock == request.idsPerBlock()) {
        inBlock = 0;
        boolean fresh = blockEnds.put(node, true) == null;
        unique += fresh ? 1 : 0;
        leading &= !fresh;
        hits += leading ? 1 : 0;
        blocks++;
      }
    }
    requests++;
  }
}
