package dev.waymark.fuzz;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/**
 * A segment's file without the zeros that fill its pages: of each page a length of two bytes,
 * little-endian, and so many bytes. Lengths above a page's are taken modulo that, and the last page
 * may be cut off, so that any bytes are some file.
 */
final class Pages {
  private static final int PAGE_BYTES = 4096;

  /** Enough for every shape of record, and little enough to be quick. */
  private static final int MOST_PAGES = 16;

  private Pages() {}

  /** The file. */
  static byte[] expand(byte[] input, int from) {
    byte[] file = new byte[MOST_PAGES * PAGE_BYTES];
    int pages = 0;
    int at = from;
    while (at + 2 <= input.length && pages < MOST_PAGES) {
      int length = ((input[at] & 0xFF) | (input[at + 1] & 0xFF) << 8) % (PAGE_BYTES + 1);
      at += 2;
      int there = Math.min(length, input.length - at);
      System.arraycopy(input, at, file, pages * PAGE_BYTES, there);
      at += there;
      pages++;
    }
    return Arrays.copyOf(file, pages * PAGE_BYTES);
  }

  /** An input, from the first byte on as given, that gives the file. */
  static byte[] compact(byte[] file, int first) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(first);
    for (int page = 0; page < file.length; page += PAGE_BYTES) {
      int length = Math.min(PAGE_BYTES, file.length - page);
      while (length > 0 && file[page + length - 1] == 0) {
        length--;
      }
      out.write(length);
      out.write(length >> 8);
      out.write(file, page, length);
    }
    return out.toByteArray();
  }
}
