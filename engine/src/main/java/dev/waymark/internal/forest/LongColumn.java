package dev.waymark.internal.forest;

import java.util.Arrays;

/** Longs by row, in pages: growing copies no value, and nothing is larger than a page too much. */
final class LongColumn {
  private static final int PAGE_SHIFT = IntColumn.PAGE_SHIFT;
  private static final int PAGE_ROWS = IntColumn.PAGE_ROWS;

  private long[][] pages = new long[4][];

  long get(int row) {
    return pages[row >>> PAGE_SHIFT][row & (PAGE_ROWS - 1)];
  }

  void set(int row, long value) {
    int page = row >>> PAGE_SHIFT;
    if (page >= pages.length) {
      pages = Arrays.copyOf(pages, Math.max(page + 1, pages.length * 2));
    }
    if (pages[page] == null) {
      pages[page] = new long[PAGE_ROWS];
    }
    pages[page][row & (PAGE_ROWS - 1)] = value;
  }
}
