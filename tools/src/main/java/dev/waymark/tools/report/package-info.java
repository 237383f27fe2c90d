/** {@code segtool report}: a store as one page for a browser. */
package dev.waymark.tools.report;
