package dev.waymark.internal.forest;

import java.util.Arrays;

/**
 * Longs by row, in pages: growing copies no more than a page, and nothing is larger than one too
 * much. A row is set before it is read.
 */
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
    int at = row & (PAGE_ROWS - 1);
    long[] rows = pages[page];
    if (rows == null || at >= rows.length) {
      int length = IntColumn.pageRowsFor(at);
      rows = rows == null ? new long[length] : Arrays.copyOf(rows, length);
      pages[page] = rows;
    }
    rows[at] = value;
  }
}
