package dev.waymark.internal.forest;

import java.util.Arrays;

/**
 * Rows by 64 bits of hash: an open-addressed table of row numbers. Removal shifts back what
 * follows, so that no tombstone is ever left.
 *
 * <p>A slot holds 32 bits of the mixed hash above the row number, so that whether another row is
 * the one looked for is nearly always told from the slot alone: the columns that hold the keys are
 * memory that is in no cache. Growing and removing need no look at them at all.
 */
final class NodeIndex {
  private static final int NONE = -1;
  private static final long EMPTY = -1;
  private static final int FIRST_CAPACITY = 1 << 10;
  private static final long ROW_MASK = 0xFFFF_FFFFL;

  private long[] table = newTable(FIRST_CAPACITY);
  private int size;

  /** Of no use: whatever is read has to go somewhere, or a compiler leaves the reading out. */
  long foreseen;

  /** Whether a row is the one looked for. */
  interface Match {
    boolean is(int row);
  }

  int find(long hash, Match match) {
    int mask = table.length - 1;
    int mixed = mix(hash);
    for (int slot = mixed & mask; table[slot] != EMPTY; slot = (slot + 1) & mask) {
      long entry = table[slot];
      if ((int) (entry >>> Integer.SIZE) == mixed && match.is((int) entry)) {
        return (int) entry;
      }
    }
    return NONE;
  }

  /** Reads the slot where a search will begin, so that it is in a cache then. */
  void foresee(long hash) {
    foreseen += table[mix(hash) & (table.length - 1)];
  }

  void put(long hash, int row) {
    if (size + 1 > table.length - table.length / 3) {
      grow();
    }
    insert(table, entry(mix(hash), row));
    size++;
  }

  void remove(long hash, int row) {
    int mask = table.length - 1;
    long entry = entry(mix(hash), row);
    int slot = home(entry, mask);
    while (table[slot] != entry) {
      if (table[slot] == EMPTY) {
        throw new IllegalStateException("row " + row + " is not in the index");
      }
      slot = (slot + 1) & mask;
    }
    int hole = slot;
    int next = (slot + 1) & mask;
    while (table[next] != EMPTY) {
      // Move back what may not be found any more once the hole is empty.
      if (((next - home(table[next], mask)) & mask) >= ((next - hole) & mask)) {
        table[hole] = table[next];
        hole = next;
      }
      next = (next + 1) & mask;
    }
    table[hole] = EMPTY;
    size--;
  }

  private void grow() {
    long[] larger = newTable(table.length * 2);
    for (long entry : table) {
      if (entry != EMPTY) {
        insert(larger, entry);
      }
    }
    table = larger;
  }

  private static void insert(long[] into, long entry) {
    int mask = into.length - 1;
    int slot = home(entry, mask);
    while (into[slot] != EMPTY) {
      slot = (slot + 1) & mask;
    }
    into[slot] = entry;
  }

  private static long entry(int mixed, int row) {
    return (long) mixed << Integer.SIZE | row & ROW_MASK;
  }

  private static int home(long entry, int mask) {
    return (int) (entry >>> Integer.SIZE) & mask;
  }

  private static int mix(long hash) {
    return (int) ((hash * 0x9E3779B97F4A7C15L) >>> Integer.SIZE);
  }

  private static long[] newTable(int capacity) {
    long[] table = new long[capacity];
    Arrays.fill(table, EMPTY);
    return table;
  }
}
