package dev.waymark.internal.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.layout.BoundaryKey;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EditCodecTest {
  private static final int TAG = 9;
  private static final int AT = 16;
  private static final int BODY = AT + Frame.HEADER_BYTES;
  private static final BoundaryKey KEY = new BoundaryKey(1, 2, 3, 4);

  private final EditCodec codec = new EditCodec();
  private final MutableDirectBuffer buffer = new ExpandableArrayBuffer(64);

  @Property(tries = 200)
  void whatIsWrittenIsRead(@ForAll long seed) {
    RandomEdits edits = new RandomEdits(seed);
    for (int kind = 0; kind < RandomEdits.KINDS; kind++) {
      Edit edit = edits.ofKind(kind);
      assertThat(decode(encode(edit))).isEqualTo(edit);
    }
  }

  @Test
  void theEndOfACheckpointIsRead() {
    Edit end = new Edit.CheckpointEnd(1, 2, 3, 4, 5);
    assertThat(decode(encode(end))).isEqualTo(end);
  }

  /**
   * Frames whose checksum is right and whose bytes are anything: typed, or an edit by the rules.
   */
  @Property(tries = 2000)
  void bytesThatLieGiveAnEditOrATypedError(@ForAll long seed) {
    Random random = new Random(seed);
    Edit edit = new RandomEdits(seed).next();
    int length = encode(edit);
    for (int i = 0; i < 3; i++) {
      int at = BODY + random.nextInt(Math.max(1, length - Frame.HEADER_BYTES));
      buffer.putByte(at, (byte) (random.nextBoolean() ? -1 : random.nextInt()));
    }
    int cut = Frame.HEADER_BYTES + random.nextInt(length - Frame.HEADER_BYTES + 1);
    Frame.seal(buffer, AT, random.nextBoolean() ? length : cut, TAG);
    int sealed = Frame.lengthBytes(buffer, AT);
    if (Frame.check(buffer, AT, sealed, TAG, EditCodec.MAX_FRAME_BYTES).isValid()) {
      try {
        assertThat(EditRules.violation(decode(sealed))).isNull();
      } catch (CorruptionException e) {
        assertThat(e.detail().file()).isEqualTo("manifest-9.log");
        assertThat(e.detail().offsetBytes()).hasValue(4711);
      }
    }
  }

  @Test
  void groupEntriesOfNoLengthAreRefused() {
    int length = encode(rows(1));
    putShort(length - 24 - 4, 0);
    refuses(length, "group entries of 0 bytes");
  }

  @Test
  void moreGroupEntriesThanBytesAreRefused() {
    int length = encode(rows(1));
    putShort(length - 24 - 2, 60_000);
    refuses(length, "ends beyond the frame");
    putShort(length - 24 - 2, 0xFFFF);
    refuses(length, "65535 entries");
  }

  @Test
  void fewerGroupEntriesThanBytesAreRefused() {
    int length = encode(rows(2));
    putShort(length - 48 - 2, 1);
    refuses(length, "24 bytes after the end");
  }

  @Test
  void textsThatLeaveTheFrameAreRefused() {
    int length = encode(new Edit.ChainReleased(1, "abc"));
    for (int lie : new int[] {4, 1 << 30, -1, Integer.MIN_VALUE}) {
      buffer.putInt(AT + length - 7, lie, ByteOrder.LITTLE_ENDIAN);
      refuses(length, "a text that ends beyond the frame");
    }
  }

  @Test
  void textsThatAreNoUtf8AreRefused() {
    int length = encode(new Edit.ChainReleased(1, "abc"));
    buffer.putByte(AT + length - 1, (byte) 0xC3);
    refuses(length, "no UTF-8");
    assertThatThrownBy(() -> encode(new Edit.ChainReleased(1, "\uD83D")))
        .isInstanceOf(InvalidArgumentException.class);
  }

  @Test
  void blocksOfAnotherLengthAreRefused() {
    int length = encode(new Edit.SegmentRemoved(3));
    Frame.putMessageHeader(buffer, AT, 0, 34);
    refuses(length, "a fixed part of 0 bytes");
  }

  @Test
  void reservedBytesMustBeZero() {
    int length = encode(new Edit.SegmentCreated(1, SegmentKind.DELTA, 2));
    for (int at = length - 7; at < length; at++) {
      buffer.putByte(AT + at, (byte) 1);
      refuses(length, "reserved");
      buffer.putByte(AT + at, (byte) 0);
    }
  }

  @Test
  void unknownCodesAreRefused() {
    int length = encode(new Edit.SegmentCreated(1, SegmentKind.DELTA, 2));
    for (int code : new int[] {0, 3, 255}) {
      buffer.putByte(AT + length - 8, (byte) code);
      refuses(length, "segment kind " + code);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {48, 99, 0x7FFF})
  void unknownTemplatesAreRefused(int templateId) {
    int length = encode(new Edit.SegmentRemoved(3));
    Frame.putMessageHeader(buffer, AT, 8, templateId);
    assertThatThrownBy(() -> decode(length)).isInstanceOf(UnsupportedFormatException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {0x8000, 0xFFFF})
  void skippableTemplatesAreSkipped(int templateId) {
    int length = encode(new Edit.SegmentRemoved(3));
    Frame.putMessageHeader(buffer, AT, 8, templateId);
    assertThat(decode(length)).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 10, 20, 22})
  void messagesOfOtherPlacesAreNoEdits(int templateId) {
    int length = encode(new Edit.SegmentRemoved(3));
    Frame.putMessageHeader(buffer, AT, 8, templateId);
    assertThatThrownBy(() -> decode(length)).isInstanceOf(CorruptionException.class);
  }

  @Test
  void aNewerVersionsLongerMessagesAreRead() {
    int length = encode(new Edit.SegmentRemoved(3));
    buffer.setMemory(AT + length, 16, (byte) 7);
    Frame.putMessageHeader(buffer, AT, 16, 34);
    buffer.putShort(AT + 22, (short) 2, ByteOrder.LITTLE_ENDIAN);
    assertThat(decode(length + 16)).isEqualTo(new Edit.SegmentRemoved(3));
  }

  @Test
  void whatBreaksARuleIsNotWritten() {
    RecordLocation at1 = new RecordLocation(1, 4097, 5);
    List<Edit> edits =
        List.of(
            new Edit.SegmentRemoved(-1),
            new Edit.NamespaceDropped(-1),
            new Edit.SegmentSealed(1, 4096, 4096),
            new Edit.SegmentSealed(1, 8192, 4095),
            new Edit.RowsAdded(1, KEY, KEY, 1, 5, 5, 1, 1, 1, List.of()),
            new Edit.RowsAdded(1, KEY, KEY, 1, 5, 6, 1, 1, 1, List.of(at1)),
            new Edit.RowsAdded(
                1, KEY, KEY, 1, 5, 6, 1, 1, 1, List.of(new RecordLocation(1, 4096, 0))),
            new Edit.RowsAdded(1, KEY, KEY, 1, 5, 6, 1, 1, 1, List.of(new RecordLocation(1, 0, 1))),
            new Edit.RecordMoved(1, KEY, RecordKind.STATE, 1, 4096, 1, 4096));
    for (Edit edit : edits) {
      assertThatThrownBy(() -> encode(edit))
          .as("%s", edit)
          .isInstanceOf(InvalidArgumentException.class);
    }
  }

  @Test
  void aGroupHoldsSoManyEntriesAndNoMore() {
    Edit.Touch touch = new Edit.Touch(1, KEY, 2);
    Edit full = new Edit.Touched(Collections.nCopies(EditCodec.MAX_GROUP_ENTRIES, touch));
    assertThat(decode(encode(full))).isEqualTo(full);
    Edit more = new Edit.Touched(Collections.nCopies(EditCodec.MAX_GROUP_ENTRIES + 1, touch));
    assertThatThrownBy(() -> encode(more)).isInstanceOf(InvalidArgumentException.class);
  }

  @Test
  void textsTooLongForAFrameAreNotWritten() {
    String half = "x".repeat(EditCodec.MAX_FRAME_BYTES / 2);
    assertThatThrownBy(() -> encode(new Edit.NamespaceAdded(1, KEY, half, half, "")))
        .isInstanceOf(InvalidArgumentException.class);
  }

  private static Edit rows(int records) {
    return new Edit.RowsAdded(
        1,
        KEY,
        KEY,
        1,
        5,
        6,
        1,
        1,
        1,
        Collections.nCopies(records, new RecordLocation(1, 4096, 9)));
  }

  private int encode(Edit edit) {
    return codec.encode(edit, buffer, AT, TAG);
  }

  private Edit decode(int length) {
    return codec.decode(buffer, AT, length, "manifest-9.log", 4711);
  }

  private void putShort(int at, int value) {
    buffer.putShort(AT + at, (short) value, ByteOrder.LITTLE_ENDIAN);
  }

  private void refuses(int length, String found) {
    assertThatThrownBy(() -> decode(length))
        .isInstanceOf(CorruptionException.class)
        .isInstanceOf(WaymarkException.class)
        .hasMessageContaining(found)
        .hasMessageContaining("manifest-9.log at byte 4711");
  }
}
