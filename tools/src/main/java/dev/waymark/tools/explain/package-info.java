/** {@code segtool explain}: why a match is no deeper. */
package dev.waymark.tools.explain;
