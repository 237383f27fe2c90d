package dev.waymark.tools.forest;

import dev.waymark.StoreInspector.BoundaryReport;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Cuts the boundaries below a root, given chain by chain and each after its parent, into stretches.
 * Holds no more than the chains above the place where it is.
 */
final class Stretches {
  private final int blockTokens;
  private final int depthTokens;
  private final boolean each;
  private final Consumer<Stretch> consumer;

  /** Of each parting above, the chains that have not begun yet. */
  private int[] left = new int[16];

  private int levels;
  private int childrenBefore;

  // The stretch that is being put together.
  private boolean isFirst;
  private int blocks;
  private int fromTokens;
  private long rowBytes;
  private long pointBytes;

  /**
   * Cuts for a consumer.
   *
   * @param rootChildren first boundaries below the root
   * @param depthTokens boundaries beyond are left out
   * @param each whether every boundary is a stretch of its own
   */
  Stretches(
      int rootChildren,
      int blockTokens,
      int depthTokens,
      boolean each,
      Consumer<Stretch> consumer) {
    this.blockTokens = blockTokens;
    this.depthTokens = depthTokens;
    this.each = each;
    this.consumer = consumer;
    push(rootChildren);
    this.childrenBefore = 0;
  }

  /** Takes the next boundary. */
  void add(BoundaryReport boundary) {
    if (childrenBefore != 1) {
      if (childrenBefore > 1) {
        push(childrenBefore);
      }
      while (left[levels - 1] == 0) {
        levels--;
      }
      left[levels - 1]--;
      isFirst = true;
    }
    childrenBefore = boundary.children();
    if (boundary.tokens() > depthTokens) {
      return;
    }
    if (blocks == 0) {
      fromTokens = boundary.tokens() - blockTokens;
    }
    blocks++;
    rowBytes += boundary.rowBytes();
    pointBytes += boundary.pointBytes();
    boolean cut = boundary.tokens() + blockTokens > depthTokens;
    if (each || boundary.isPoint() || boundary.children() != 1 || cut) {
      end(boundary);
    }
  }

  private void end(BoundaryReport boundary) {
    boolean[] open = new boolean[levels];
    for (int i = 0; i < levels; i++) {
      open[i] = left[i] > 0;
    }
    consumer.accept(
        new Stretch(
            levels - 1,
            isFirst,
            open,
            boundary.key(),
            fromTokens,
            boundary.tokens(),
            blocks,
            boundary.isPoint(),
            boundary.children(),
            rowBytes,
            pointBytes,
            boundary.addedMillis()));
    isFirst = false;
    blocks = 0;
    rowBytes = 0;
    pointBytes = 0;
  }

  private void push(int children) {
    if (levels == left.length) {
      left = Arrays.copyOf(left, 2 * levels);
    }
    left[levels++] = children;
  }
}
