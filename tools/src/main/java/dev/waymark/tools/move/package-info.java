/** {@code segtool export} and {@code segtool import}: what a store holds, as files, and back. */
package dev.waymark.tools.move;
