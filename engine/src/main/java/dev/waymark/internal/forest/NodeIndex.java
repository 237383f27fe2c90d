package dev.waymark.internal.forest;

import java.util.Arrays;

/**
 * Rows by 64 bits of hash: an open-addressed table of row numbers, compared through the columns
 * that hold the keys. Removal shifts back what follows, so that no tombstone is ever left.
 */
final class NodeIndex {
  private static final int EMPTY = -1;
  private static final int FIRST_CAPACITY = 1 << 10;

  private final HashOfRow hashOfRow;
  private int[] table = newTable(FIRST_CAPACITY);
  private int size;

  /** The hash under which a row was put. */
  interface HashOfRow {
    long hash(int row);
  }

  /** Whether a row is the one looked for. */
  interface Match {
    boolean is(int row);
  }

  NodeIndex(HashOfRow hashOfRow) {
    this.hashOfRow = hashOfRow;
  }

  int find(long hash, Match match) {
    int mask = table.length - 1;
    int slot = slot(hash, mask);
    while (table[slot] != EMPTY) {
      if (match.is(table[slot])) {
        return table[slot];
      }
      slot = (slot + 1) & mask;
    }
    return EMPTY;
  }

  void put(int row) {
    if (size + 1 > table.length - table.length / 3) {
      grow();
    }
    insert(table, row);
    size++;
  }

  void remove(int row) {
    int mask = table.length - 1;
    int slot = slot(hashOfRow.hash(row), mask);
    while (table[slot] != row) {
      if (table[slot] == EMPTY) {
        throw new IllegalStateException("row " + row + " is not in the index");
      }
      slot = (slot + 1) & mask;
    }
    int hole = slot;
    int next = (slot + 1) & mask;
    while (table[next] != EMPTY) {
      int home = slot(hashOfRow.hash(table[next]), mask);
      // Move back what may not be found any more once the hole is empty.
      if (((next - home) & mask) >= ((next - hole) & mask)) {
        table[hole] = table[next];
        hole = next;
      }
      next = (next + 1) & mask;
    }
    table[hole] = EMPTY;
    size--;
  }

  private void grow() {
    int[] larger = newTable(table.length * 2);
    for (int row : table) {
      if (row != EMPTY) {
        insert(larger, row);
      }
    }
    table = larger;
  }

  private void insert(int[] into, int row) {
    int mask = into.length - 1;
    int slot = slot(hashOfRow.hash(row), mask);
    while (into[slot] != EMPTY) {
      slot = (slot + 1) & mask;
    }
    into[slot] = row;
  }

  private static int slot(long hash, int mask) {
    long mixed = hash * 0x9E3779B97F4A7C15L;
    return (int) (mixed >>> 32) & mask;
  }

  private static int[] newTable(int capacity) {
    int[] table = new int[capacity];
    Arrays.fill(table, EMPTY);
    return table;
  }
}
