package dev.waymark.internal.manifest;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Edits to frames and back. What is read was checked before it is believed: the frame's checksum by
 * the caller, then every length and count against the frame, then reserved bytes, codes, texts and
 * {@link EditRules}.
 *
 * <p>A frame whose template this version does not know is skipped from template {@value
 * #FIRST_SKIPPABLE_TEMPLATE} on: a later version may add such frames for what a reader can do
 * without. Any other unknown template means that state would be missing, and is refused.
 *
 * <p>One thread at a time: the flyweights are reused.
 */
public final class EditCodec {
  /** A group of a message holds no more entries; longer batches of touches are split. */
  public static final int MAX_GROUP_ENTRIES = 65_534;

  /** No frame of a manifest is longer. */
  public static final int MAX_FRAME_BYTES = 64 << 20;

  /** Frames stand on multiples of this, with zeros between them. */
  public static final int ALIGNMENT_BYTES = 8;

  /** Unknown templates from here on say nothing that a reader must know. */
  public static final int FIRST_SKIPPABLE_TEMPLATE = 0x8000;

  private final EditEncoder encoder = new EditEncoder();
  private final EditDecoder decoder = new EditDecoder();

  /**
   * Writes the frame of an edit, without padding.
   *
   * @return its length
   * @throws dev.waymark.error.InvalidArgumentException if the edit breaks a rule or is too large
   *     for one frame
   */
  public int encode(Edit edit, MutableDirectBuffer buffer, int index, int fileTag) {
    return encoder.encode(edit, buffer, index, fileTag);
  }

  /**
   * Reads the edit of a frame that {@code Frame.check} found valid.
   *
   * @param offsetBytes where the frame stands in the file, for messages
   * @return the edit, or null where the frame is one to skip
   * @throws dev.waymark.error.CorruptionException if it says what no edit says
   * @throws dev.waymark.error.UnsupportedFormatException if its template is unknown and not
   *     skippable
   */
  public Edit decode(
      DirectBuffer buffer, int index, int lengthBytes, String fileName, long offsetBytes) {
    return decoder.decode(buffer, index, lengthBytes, fileName, offsetBytes);
  }

  /** A frame's length with the zeros after it. */
  public static long paddedBytes(long lengthBytes) {
    return (lengthBytes + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
  }
}
