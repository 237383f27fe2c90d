package dev.waymark.tools.report;

import dev.waymark.StoreReader.Boundary;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * The forest as runs: boundaries one after the other with no branch between. Boundaries have to
 * come chain by chain, each after its parent; that, and their positions, says what follows what.
 */
final class ForestShape {
  /** Restore points of a run that are kept to be shown one by one; more are only counted. */
  private static final int MOST_MARKS = 32;

  private final Run root = new Run(0);
  private final Deque<Open> path = new ArrayDeque<>();
  private int mostTokens;

  /** Boundaries with no branch between. */
  static final class Run {
    private final int fromTokens;
    private final List<Run> children = new ArrayList<>(0);
    private int tokens;
    private int boundaries;
    private int points;
    private int[] marks = {};
    private long bytes;
    private long bytesBelow;

    Run(int fromTokens) {
      this.fromTokens = fromTokens;
      this.tokens = fromTokens;
    }

    int fromTokens() {
      return fromTokens;
    }

    int tokens() {
      return tokens;
    }

    int boundaries() {
      return boundaries;
    }

    int points() {
      return points;
    }

    /** Where its first restore points are, in tokens. */
    int[] marks() {
      return marks;
    }

    private void addPoint(int at) {
      if (points < MOST_MARKS) {
        marks = Arrays.copyOf(marks, points + 1);
        marks[points] = at;
      }
      points++;
    }

    /** Of its own boundaries' records. */
    long bytes() {
      return bytes;
    }

    /** Of its own and all that follow. */
    long allBytes() {
      return bytes + bytesBelow;
    }

    List<Run> children() {
      return children;
    }
  }

  /** A boundary of the chain that is being followed. */
  private record Open(Run run, int tokens, boolean isBranch) {}

  void add(Boundary boundary) {
    while (!path.isEmpty() && path.peek().tokens() > boundary.tokenFrom()) {
      path.pop();
    }
    if (boundary.tokenFrom() == 0) {
      path.clear();
    }
    Open parent = path.peek();
    Run run;
    if (parent == null || parent.isBranch()) {
      run = new Run(boundary.tokenFrom());
      (parent == null ? root : parent.run()).children.add(run);
    } else {
      run = parent.run();
    }
    run.tokens = boundary.tokens();
    run.boundaries++;
    if (boundary.isRestorable()) {
      run.addPoint(boundary.tokens());
    }
    run.bytes += boundary.bytes();
    mostTokens = Math.max(mostTokens, boundary.tokens());
    path.push(new Open(run, boundary.tokens(), boundary.isBranch()));
  }

  /** What stands above all first boundaries, with all sums made. */
  Run finish() {
    path.clear();
    List<Run> inOrder = new ArrayList<>(List.of(root));
    for (int i = 0; i < inOrder.size(); i++) {
      inOrder.addAll(inOrder.get(i).children);
    }
    for (int i = inOrder.size() - 1; i >= 0; i--) {
      Run run = inOrder.get(i);
      run.bytesBelow = run.children.stream().mapToLong(Run::allBytes).sum();
    }
    return root;
  }

  int mostTokens() {
    return mostTokens;
  }
}
