package dev.waymark;

import dev.waymark.internal.log.RecordLocation;
import java.util.List;

/**
 * Records that were written together, and are visible together or not at all.
 *
 * @param locations where they are; none where there was nothing to write
 * @param rawBytes what they stand for
 */
record Written(List<RecordLocation> locations, long rawBytes) {
  static final Written NOTHING = new Written(List.of(), 0);
}
