package dev.waymark.internal.manifest;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Stub. */
public final class EditCodec {
  /** A group of a message holds no more entries. */
  public static final int MAX_GROUP_ENTRIES = 65_534;

  /** Writes the frame of an edit; returns its length without padding. */
  public int encode(Edit edit, MutableDirectBuffer buffer, int index, int fileTag) {
    throw new UnsupportedOperationException();
  }

  /** Reads the edit of a frame that was checked; null where it is one that may be skipped. */
  public Edit decode(
      DirectBuffer buffer, int index, int lengthBytes, String fileName, long offsetBytes) {
    throw new UnsupportedOperationException();
  }
}
