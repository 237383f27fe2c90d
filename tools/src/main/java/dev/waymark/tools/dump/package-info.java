/** {@code segtool dump}: one record, byte by byte. */
package dev.waymark.tools.dump;
