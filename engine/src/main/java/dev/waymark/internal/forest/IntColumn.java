package dev.waymark.internal.forest;

import java.util.Arrays;

/**
 * Ints by row, in pages: growing copies no more than a page, and nothing is larger than one too
 * much. A row is set before it is read.
 */
final class IntColumn {
  static final int PAGE_SHIFT = 12;
  static final int PAGE_ROWS = 1 << PAGE_SHIFT;
  private static final int FIRST_ROWS = 64;

  private int[][] pages = new int[4][];

  int get(int row) {
    return pages[row >>> PAGE_SHIFT][row & (PAGE_ROWS - 1)];
  }

  void set(int row, int value) {
    int page = row >>> PAGE_SHIFT;
    if (page >= pages.length) {
      pages = Arrays.copyOf(pages, Math.max(page + 1, pages.length * 2));
    }
    int at = row & (PAGE_ROWS - 1);
    int[] rows = pages[page];
    if (rows == null || at >= rows.length) {
      int length = IntColumn.pageRowsFor(at);
      rows = rows == null ? new int[length] : Arrays.copyOf(rows, length);
      pages[page] = rows;
    }
    rows[at] = value;
  }

  /** How long a page is made for a row of it: a store that holds little takes up little. */
  static int pageRowsFor(int row) {
    return Math.max(FIRST_ROWS, Integer.highestOneBit(row) << 1);
  }
}
