package dev.waymark.internal.log;

import dev.waymark.internal.io.StoreDirectory;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import org.agrona.DirectBuffer;

/** What planted mistakes do in place of the right thing, where it takes a segment's insides. */
public final class SegmentSlips {
  private SegmentSlips() {}

  /** Forgets that something was written. */
  public static void letGoAsClean(SegmentSet segments, Segment segment, long bytes) {
    synchronized (segments) {
      segment.regionUsers--;
      segment.unforcedBytes += bytes;
    }
  }

  /** Whether nobody reads a dead record, be its death durable or not. */
  public static boolean isUnread(Segment.DeadExtent extent, long durable) {
    return extent.isFree(Long.MAX_VALUE);
  }

  /** Goes on with a segment of an earlier process, where there is one. */
  public static Segment appendToRecovered(
      SegmentSet segments, SegmentSet.Stream stream, SpaceGate.Payer payer, long mostBytes) {
    try {
      StoreDirectory directory = (StoreDirectory) field("directory").get(segments);
      for (Object each : ((Map<?, ?>) field("segments").get(segments)).values()) {
        Segment segment = (Segment) each;
        if (segment.sealed
            && segment.file == null
            && segment.region == null
            && segment.kind == stream.kind()
            && segment.claimedEnd < segments.sizing().segmentBytes() / 2) {
          segment.file = directory.open(segment.fileName);
          segment.region = segment.file.map(segments.sizing().segmentBytes(), true);
          segment.sealed = false;
          segment.full = false;
          return segment;
        }
      }
      Method create =
          SegmentSet.class.getDeclaredMethod(
              "create", SegmentSet.Stream.class, SpaceGate.Payer.class, long.class);
      create.setAccessible(true);
      return (Segment) create.invoke(segments, stream, payer, mostBytes);
    } catch (ReflectiveOperationException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e);
    }
  }

  private static Field field(String name) throws NoSuchFieldException {
    Field field = SegmentSet.class.getDeclaredField(name);
    field.setAccessible(true);
    return field;
  }

  /** The checksum that a frame claims, in place of its own. */
  public static int claimedChecksum(DirectBuffer buffer, int index, int lengthBytes) {
    return buffer.getInt(index - Integer.BYTES);
  }
}
