/** {@code segtool ls} and {@code segtool tree}: the prefix forest. */
package dev.waymark.tools.forest;
