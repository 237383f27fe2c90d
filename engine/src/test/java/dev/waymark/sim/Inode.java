package dev.waymark.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * One file's content in memory, and what a power loss may leave of it.
 *
 * <p>Invariants: a page without a history is durable as it is, but for its allocation (see {@code
 * reallocated}); bytes past the length are zero in memory; a page outside {@code owned} is frozen
 * and perhaps shared with other states; the page table is copied before its first change if it is
 * shared. Not synchronised: {@link SimulatedDisk} is.
 */
final class Inode {
  private static final Page[] NO_PAGES = {};

  private final long id;
  private long length;
  private Page[] pages = NO_PAGES;
  private boolean tableShared;
  private int allocatedPages;

  /** Pages made since the last observation: written to in place. */
  private final BitSet owned = new BitSet();

  /** Pages whose content in memory is not yet in their history. */
  private final BitSet unobserved = new BitSet();

  private final TreeMap<Integer, PageHistory> histories = new TreeMap<>();

  /** What a power loss may leave as the length; the last is the present one. */
  private final List<Long> lengths = new ArrayList<>(2);

  private boolean lengthDirty;

  /**
   * Pages without a history whose allocation is the opposite of what is durable. Apart from
   * histories, since allocating a whole segment ahead touches very many pages at once.
   */
  private final BitSet reallocated = new BitSet();

  private int openHandles;

  Inode(long id) {
    this.id = id;
    lengths.add(0L);
  }

  private Inode(Inode source, Page[] table, boolean shared, long length) {
    id = source.id;
    pages = table;
    tableShared = shared;
    this.length = length;
  }

  /** All of it, history included, as a kill leaves it. */
  Inode copy() {
    observe();
    tableShared = true;
    Inode copy = new Inode(this, pages, true, length);
    copy.allocatedPages = allocatedPages;
    copy.lengths.addAll(lengths);
    copy.lengthDirty = lengthDirty;
    copy.reallocated.or(reallocated);
    histories.forEach((page, history) -> copy.histories.put(page, history.copy()));
    return copy;
  }

  /** What a power loss leaves: durable throughout. */
  Inode afterPowerLoss(CrashChoices choices) {
    observe();
    long left = lengths.get(lengths.size() == 1 ? 0 : choices.length(id, lengths.size()));
    if (histories.isEmpty() && reallocated.isEmpty() && left == length) {
      tableShared = true;
      Inode same = new Inode(this, pages, true, length);
      same.allocatedPages = allocatedPages;
      same.lengths.add(length);
      return same;
    }
    int count = pagesOf(left);
    Page[] table = Arrays.copyOf(pages, count);
    if (!reallocated.isEmpty() && !choices.allocation(id)) {
      for (int i = reallocated.nextSetBit(0); i >= 0 && i < count; ) {
        table[i] = isAllocated(i) ? Page.HOLE : Page.ZEROS;
        i = reallocated.nextSetBit(i + 1);
      }
    }
    for (Map.Entry<Integer, PageHistory> entry : histories.headMap(count).entrySet()) {
      int page = entry.getKey();
      table[page] = choose(choices, page, entry.getValue().versions());
    }
    int tail = (int) (left % Page.SIZE_BYTES);
    if (tail != 0 && table[count - 1] != null) {
      table[count - 1] = table[count - 1].cutAt(tail);
    }
    Inode inode = new Inode(this, table, false, left);
    inode.lengths.add(left);
    for (Page page : table) {
      inode.allocatedPages += page != null && page.isAllocated() ? 1 : 0;
    }
    return inode;
  }

  private Page choose(CrashChoices choices, int page, List<Page> versions) {
    int version = choices.page(id, page, versions.size());
    if (version != CrashChoices.TORN) {
      return versions.get(version);
    }
    List<Page> sectors = new ArrayList<>(Page.SECTORS);
    for (int sector = 0; sector < Page.SECTORS; sector++) {
      sectors.add(versions.get(choices.sector(id, page, sector, versions.size())));
    }
    return Page.torn(sectors);
  }

  long id() {
    return id;
  }

  long lengthBytes() {
    return length;
  }

  long allocatedBytes() {
    return (long) allocatedPages * Page.SIZE_BYTES;
  }

  boolean isOpen() {
    return openHandles > 0;
  }

  void opened() {
    openHandles++;
  }

  void closed() {
    openHandles--;
  }

  /** Whether every page that the range touches is allocated. */
  boolean isAllocated(long offset, long bytes) {
    for (int i = pageAt(offset); i < pagesOf(offset + bytes); i++) {
      if (!isAllocated(i)) {
        return false;
      }
    }
    return true;
  }

  /** Copies out; bytes past the end read as zeros. */
  void get(long offset, MutableDirectBuffer target, int targetIndex, int bytes) {
    int done = 0;
    while (done < bytes) {
      long at = offset + done;
      int within = (int) (at % Page.SIZE_BYTES);
      int step = Math.min(bytes - done, Page.SIZE_BYTES - within);
      Page page = page(pageAt(at));
      if (page.isWritten()) {
        target.putBytes(targetIndex + done, page.bytes(), within, step);
      } else {
        target.setMemory(targetIndex + done, step, (byte) 0);
      }
      done += step;
    }
  }

  /**
   * Copies in, page by page, until the free pages are used up; grows the file if need be.
   *
   * @return bytes copied
   */
  int put(long offset, DirectBuffer source, int sourceIndex, int bytes, long freePages) {
    int done = 0;
    long free = freePages;
    while (done < bytes) {
      long at = offset + done;
      int index = pageAt(at);
      if (!isAllocated(index) && --free < 0) {
        break;
      }
      int within = (int) (at % Page.SIZE_BYTES);
      int step = Math.min(bytes - done, Page.SIZE_BYTES - within);
      source.getBytes(sourceIndex + done, writable(index), within, step);
      done += step;
    }
    if (done > 0 && offset + done > length) {
      changeLength(offset + done);
    }
    return done;
  }

  /** Allocates and grows, or changes nothing and returns false. */
  boolean allocate(long offset, long bytes, long freePages) {
    int from = pageAt(offset);
    int to = pagesOf(offset + bytes);
    long needed = 0;
    for (int i = from; i < to; i++) {
      needed += isAllocated(i) ? 0 : 1;
    }
    if (needed > freePages) {
      return false;
    }
    for (int i = from; i < to; i++) {
      if (!isAllocated(i)) {
        replace(i, Page.ZEROS);
      }
    }
    if (offset + bytes > length) {
      changeLength(offset + bytes);
    }
    return true;
  }

  /** Whole pages. */
  void punch(long offset, long bytes) {
    int to = (int) Math.min(pages.length, (offset + bytes) / Page.SIZE_BYTES);
    for (int i = pageAt(offset); i < to; i++) {
      if (isAllocated(i)) {
        replace(i, Page.HOLE);
      }
    }
  }

  void setLength(long bytes) {
    if (bytes < length) {
      for (int i = pagesOf(bytes); i < pages.length; i++) {
        if (isAllocated(i)) {
          replace(i, Page.HOLE);
        }
      }
      int tail = (int) (bytes % Page.SIZE_BYTES);
      if (tail != 0 && !page(pageAt(bytes)).isZeroFrom(tail)) {
        Arrays.fill(writable(pageAt(bytes)), tail, Page.SIZE_BYTES, (byte) 0);
      }
    }
    if (bytes != length) {
      changeLength(bytes);
    }
  }

  /** Freezes what was written since the last observation: a power loss may leave it. */
  void observe() {
    for (int i = unobserved.nextSetBit(0); i >= 0; i = unobserved.nextSetBit(i + 1)) {
      histories.get(i).add(page(i));
    }
    unobserved.clear();
    owned.clear();
  }

  /** Content, length and allocation, but for pages that were clean already. */
  void force() {
    observe();
    histories.values().removeIf(PageHistory::isDirty);
    reallocated.clear();
    if (lengthDirty) {
      lengths.clear();
      lengths.add(length);
      lengthDirty = false;
    }
  }

  /** Content of the pages that the range touches; neither length nor allocation. */
  void forceRange(long offset, long bytes) {
    observe();
    range(offset, bytes).values().removeIf(PageHistory::isDirty);
  }

  /**
   * Nothing got durable for certain, and nothing will be tried again.
   *
   * @param dropped null to keep the pages in memory; otherwise decides what the device has, which
   *     is what is read from now on
   */
  void failForce(SplittableRandom dropped) {
    failRange(0, Math.max(length, (long) pages.length * Page.SIZE_BYTES), dropped);
    lengthDirty = false;
  }

  /** The same for the pages that the range touches. */
  void failRange(long offset, long bytes, SplittableRandom dropped) {
    observe();
    Iterator<Map.Entry<Integer, PageHistory>> each = range(offset, bytes).entrySet().iterator();
    while (each.hasNext()) {
      Map.Entry<Integer, PageHistory> entry = each.next();
      PageHistory history = entry.getValue();
      // What is allocated is known apart from the pages, and does not fall out with them.
      if (history.isDirty() && dropped != null && isAllocated(entry.getKey())) {
        List<Page> versions = history.versions();
        Page left = versions.get(dropped.nextInt(versions.size()));
        set(entry.getKey(), left.isAllocated() ? left : Page.ZEROS);
        each.remove();
      } else {
        history.setDirty(false);
      }
    }
  }

  /** Changes a byte as a rotten medium would: silently, the durable content included. */
  void flip(long offset, int mask) {
    observe();
    int index = pageAt(offset);
    Page flipped = Page.writableCopyOf(page(index));
    flipped.bytes()[(int) (offset % Page.SIZE_BYTES)] ^= (byte) mask;
    set(index, flipped);
    PageHistory history = histories.get(index);
    if (history != null) {
      history.replaceNewest(flipped);
    }
  }

  /** What a power loss can choose of this file; observes first. */
  List<Long> lengthVersions() {
    return lengths;
  }

  NavigableMap<Integer, PageHistory> pageVersions() {
    observe();
    return histories;
  }

  boolean hasAllocationChoice() {
    return !reallocated.isEmpty();
  }

  boolean isDurable() {
    return histories.isEmpty() && lengths.size() == 1;
  }

  /** A hash of length and content, blind to what is allocated and durable. */
  long contentHash() {
    long sum = length * 0x9E3779B97F4A7C15L;
    int count = Math.min(pages.length, pagesOf(length));
    for (int i = 0; i < count; i++) {
      Page page = pages[i];
      if (page != null && page.isWritten()) {
        long hash = page.contentHash(!owned.get(i)) * (2L * i + 1);
        sum += hash ^ (hash >>> 29);
      }
    }
    return sum;
  }

  private Map<Integer, PageHistory> range(long offset, long bytes) {
    return histories.subMap(pageAt(offset), Math.max(pageAt(offset), pagesOf(offset + bytes)));
  }

  private void changeLength(long bytes) {
    length = bytes;
    lengthDirty = true;
    lengths.add(bytes);
  }

  /** The bytes of a page to write to, with what was there before kept for a power loss. */
  private byte[] writable(int index) {
    Page before = page(index);
    if (owned.get(index)) {
      return before.bytes();
    }
    remember(index, before);
    Page copy = Page.writableCopyOf(before);
    set(index, copy);
    owned.set(index);
    return copy.bytes();
  }

  /** Puts a page without content there, or takes it away. */
  private void replace(int index, Page page) {
    Page before = page(index);
    if (before.isWritten() || histories.containsKey(index)) {
      remember(index, before);
    } else {
      reallocated.flip(index);
    }
    set(index, page);
    owned.clear(index);
  }

  private void remember(int index, Page before) {
    PageHistory history = histories.get(index);
    if (history == null) {
      Page durable = before;
      if (reallocated.get(index)) {
        durable = before.isAllocated() ? Page.HOLE : Page.ZEROS;
        reallocated.clear(index);
      }
      history = new PageHistory(durable);
      histories.put(index, history);
    }
    history.setDirty(true);
    unobserved.set(index);
  }

  private void set(int index, Page page) {
    if (index >= pages.length) {
      pages = Arrays.copyOf(pages, Math.max(index + 1, pages.length + (pages.length >> 1)));
    } else if (tableShared) {
      pages = pages.clone();
    }
    tableShared = false;
    allocatedPages += (page.isAllocated() ? 1 : 0) - (isAllocated(index) ? 1 : 0);
    pages[index] = page;
  }

  private Page page(int index) {
    Page page = index < pages.length ? pages[index] : null;
    return page == null ? Page.HOLE : page;
  }

  private boolean isAllocated(int index) {
    return page(index).isAllocated();
  }

  private static int pageAt(long offset) {
    return Math.toIntExact(offset / Page.SIZE_BYTES);
  }

  private static int pagesOf(long bytes) {
    return Math.toIntExact((bytes + Page.SIZE_BYTES - 1) / Page.SIZE_BYTES);
  }
}
