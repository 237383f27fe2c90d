package dev.waymark.internal.log;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.internal.wire.NamespaceRecordDecoder;
import dev.waymark.internal.wire.NamespaceRecordEncoder;
import dev.waymark.layout.BoundaryKey;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What a namespace is, as its texts: every segment holds it before the first record of that
 * namespace, so that records can be understood where the manifest is lost.
 */
public record NamespaceDescriptor(
    int namespaceId, BoundaryKey fingerprint, String identity, String layout, String codecs) {

  /** Bytes of its frame, whole pages. */
  public long pageBytes() {
    return Alignment.toPage(frameBytes());
  }

  private int frameBytes() {
    return Frame.HEADER_BYTES
        + NamespaceRecordEncoder.BLOCK_LENGTH
        + 12
        + utf8(identity).length
        + utf8(layout).length
        + utf8(codecs).length;
  }

  UnsafeBuffer encode(long segmentId, long sequence) {
    int frameBytes = frameBytes();
    UnsafeBuffer buffer = new UnsafeBuffer(new byte[frameBytes]);
    NamespaceRecordEncoder encoder = new NamespaceRecordEncoder();
    encoder
        .wrap(buffer, Frame.HEADER_BYTES)
        .sequence(sequence)
        .segmentId(segmentId)
        .namespaceId(namespaceId)
        .reserved(0);
    encoder
        .fingerprint()
        .word0(fingerprint.word0())
        .word1(fingerprint.word1())
        .word2(fingerprint.word2())
        .word3(fingerprint.word3());
    putText(encoder, utf8(identity), 0);
    putText(encoder, utf8(layout), 1);
    putText(encoder, utf8(codecs), 2);
    Frame.putMessageHeader(
        buffer, 0, NamespaceRecordEncoder.BLOCK_LENGTH, NamespaceRecordEncoder.TEMPLATE_ID);
    Frame.seal(buffer, 0, frameBytes, Frame.tagOf(segmentId));
    return buffer;
  }

  /** Reads the descriptor from a frame that {@link Frame#check} found valid. */
  public static NamespaceDescriptor parse(
      DirectBuffer buffer, int frameBytes, long segmentId, String file, long offset) {
    int block = Frame.blockLength(buffer, 0);
    NamespaceRecordDecoder decoder = new NamespaceRecordDecoder();
    if (block != NamespaceRecordDecoder.BLOCK_LENGTH) {
      throw damaged(file, offset);
    }
    decoder.wrap(buffer, Frame.HEADER_BYTES, block, NamespaceRecordDecoder.SCHEMA_VERSION);
    if (decoder.segmentId() != segmentId
        || decoder.sequence() < 0
        || decoder.namespaceId() < 1
        || decoder.namespaceId() > Integer.MAX_VALUE
        || decoder.reserved() != 0) {
      throw damaged(file, offset);
    }
    BoundaryKey fingerprint =
        new BoundaryKey(
            decoder.fingerprint().word0(),
            decoder.fingerprint().word1(),
            decoder.fingerprint().word2(),
            decoder.fingerprint().word3());
    String[] texts = new String[3];
    int at = Frame.HEADER_BYTES + block;
    for (int i = 0; i < texts.length; i++) {
      long length = at + 4 > frameBytes ? -1 : buffer.getInt(at, ByteOrder.LITTLE_ENDIAN);
      if (length < 0 || length > frameBytes - at - 4) {
        throw damaged(file, offset);
      }
      byte[] utf8 = new byte[(int) length];
      buffer.getBytes(at + 4, utf8);
      texts[i] = Text.decode(utf8);
      if (texts[i] == null) {
        throw damaged(file, offset);
      }
      at += 4 + (int) length;
    }
    if (at != frameBytes) {
      throw damaged(file, offset);
    }
    return new NamespaceDescriptor(
        (int) decoder.namespaceId(), fingerprint, texts[0], texts[1], texts[2]);
  }

  private static CorruptionException damaged(String file, long offset) {
    return new CorruptionException(
        ErrorDetail.of("the numbers of a namespace's description do not agree").at(file, offset));
  }

  private static void putText(NamespaceRecordEncoder encoder, byte[] text, int which) {
    switch (which) {
      case 0 -> encoder.putIdentity(text, 0, text.length);
      case 1 -> encoder.putLayout(text, 0, text.length);
      default -> encoder.putCodecs(text, 0, text.length);
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
