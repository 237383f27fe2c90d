/** {@code segtool compact} and {@code segtool pin}: what is done to the space of a store. */
package dev.waymark.tools.space;
