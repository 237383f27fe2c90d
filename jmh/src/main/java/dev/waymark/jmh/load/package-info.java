/** A store under load at its quota: whether it keeps its bounds, and what compaction costs. */
package dev.waymark.jmh.load;
