package dev.waymark;

import java.util.concurrent.atomic.LongAdder;

/** What a store counted since it was opened. */
final class Counters {
  final LongAdder appendedBytes = new LongAdder();
  final LongAdder recordBytes = new LongAdder();
  final LongAdder copiedBytes = new LongAdder();
  final LongAdder evictedBoundaries = new LongAdder();
  final LongAdder evictedPoints = new LongAdder();
  final LongAdder skippedPoints = new LongAdder();
  final LongAdder matches = new LongAdder();
  final LongAdder matchHits = new LongAdder();
  final LongAdder restores = new LongAdder();
  final LongAdder restoreMisses = new LongAdder();
  final LongAdder restoredBytes = new LongAdder();
}
