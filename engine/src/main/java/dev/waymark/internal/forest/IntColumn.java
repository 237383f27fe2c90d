package dev.waymark.internal.forest;

import java.util.Arrays;

/**
 * Ints by row, in pages: growing copies no more than a page, and nothing is larger than one too
 * much. A row is set before it is read; those before it take up their room too.
 *
 * <p>Reading and setting are so short that every compiler puts them into their callers.
 */
final class IntColumn {
  static final int PAGE_SHIFT = 12;
  static final int PAGE_ROWS = 1 << PAGE_SHIFT;
  private static final int FIRST_ROWS = 64;

  private int[][] pages = new int[4][];

  /** Rows that there is room for. */
  private int endRows;

  int get(int row) {
    return pages[row >>> PAGE_SHIFT][row & (PAGE_ROWS - 1)];
  }

  void set(int row, int value) {
    if (row >= endRows) {
      grow(row);
    }
    pages[row >>> PAGE_SHIFT][row & (PAGE_ROWS - 1)] = value;
  }

  private void grow(int row) {
    int last = row >>> PAGE_SHIFT;
    if (last >= pages.length) {
      pages = Arrays.copyOf(pages, Math.max(last + 1, pages.length * 2));
    }
    for (int page = endRows >>> PAGE_SHIFT; page < last; page++) {
      resize(page, PAGE_ROWS);
    }
    int length = IntColumn.pageRowsFor(row & (PAGE_ROWS - 1));
    resize(last, length);
    endRows = (last << PAGE_SHIFT) + length;
  }

  private void resize(int page, int length) {
    pages[page] = pages[page] == null ? new int[length] : Arrays.copyOf(pages[page], length);
  }

  /** How long a page is made for a row of it: a store that holds little takes up little. */
  static int pageRowsFor(int row) {
    return Math.max(FIRST_ROWS, Integer.highestOneBit(row) << 1);
  }
}
