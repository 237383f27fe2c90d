package dev.waymark.internal.forest;

import java.util.Arrays;

/** Ints by row, in pages: growing copies no value, and nothing is larger than a page too much. */
final class IntColumn {
  static final int PAGE_SHIFT = 12;
  static final int PAGE_ROWS = 1 << PAGE_SHIFT;

  private int[][] pages = new int[4][];

  int get(int row) {
    return pages[row >>> PAGE_SHIFT][row & (PAGE_ROWS - 1)];
  }

  void set(int row, int value) {
    int page = row >>> PAGE_SHIFT;
    if (page >= pages.length) {
      pages = Arrays.copyOf(pages, Math.max(page + 1, pages.length * 2));
    }
    if (pages[page] == null) {
      pages[page] = new int[PAGE_ROWS];
    }
    pages[page][row & (PAGE_ROWS - 1)] = value;
  }
}
