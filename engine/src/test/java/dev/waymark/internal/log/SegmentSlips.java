package dev.waymark.internal.log;

import org.agrona.DirectBuffer;

/** What planted mistakes do in place of the right thing, where it takes a segment's insides. */
public final class SegmentSlips {
  private SegmentSlips() {}

  /** Forgets that something was written. */
  public static void letGoAsClean(SegmentSet segments, Segment segment) {
    synchronized (segments) {
      segment.regionUsers--;
    }
  }

  /** The checksum that a frame claims, in place of its own. */
  public static int claimedChecksum(DirectBuffer buffer, int index, int lengthBytes) {
    return buffer.getInt(index - Integer.BYTES);
  }
}
