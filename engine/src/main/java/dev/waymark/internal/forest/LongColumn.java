package dev.waymark.internal.forest;

import java.util.Arrays;

/**
 * Longs by row, in pages: growing copies no more than a page, and nothing is larger than one too
 * much. A row is set before it is read; those before it take up their room too.
 *
 * <p>Reading and setting are so short that every compiler puts them into their callers.
 */
final class LongColumn {
  private static final int PAGE_SHIFT = IntColumn.PAGE_SHIFT;
  private static final int PAGE_ROWS = IntColumn.PAGE_ROWS;

  private long[][] pages = new long[4][];

  /** Rows that there is room for. */
  private int endRows;

  long get(int row) {
    return pages[row >>> PAGE_SHIFT][row & (PAGE_ROWS - 1)];
  }

  void set(int row, long value) {
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
    pages[page] = pages[page] == null ? new long[length] : Arrays.copyOf(pages[page], length);
  }
}
