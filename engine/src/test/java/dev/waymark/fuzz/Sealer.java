package dev.waymark.fuzz;

import dev.waymark.error.InvalidSettingException;
import dev.waymark.internal.log.Frame;
import dev.waymark.internal.wire.BatchMarkDecoder;
import dev.waymark.internal.wire.CheckpointEndDecoder;
import dev.waymark.internal.wire.NamespaceAddedDecoder;
import dev.waymark.internal.wire.NamespaceRecordDecoder;
import dev.waymark.internal.wire.RecordDecoder;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Computes anew, in bytes that a mutator changed, what was computed from them: checksums of frames
 * and of chunks, fingerprints, and the numbers with which a mark and the end of a checkpoint count.
 * Without it nearly every change would be refused by the first checksum, and nothing behind that
 * would ever be tried. Whatever it does not understand it leaves as it is.
 */
final class Sealer {
  /** Checksums, and the tag, of frames. */
  static final int FRAMES = 1;

  /** Checksums of a record's chunks. */
  static final int CHUNKS = 2;

  /** Fingerprints of namespaces. */
  static final int FINGERPRINTS = 4;

  /** What marks and the end of a checkpoint count. */
  static final int COUNTS = 8;

  private static final int PAGE_BYTES = 4096;
  private static final int PARTS_AT = Frame.HEADER_BYTES + RecordDecoder.BLOCK_LENGTH + 4;
  private static final int PART_BYTES = RecordDecoder.PartsDecoder.sbeBlockLength();
  private static final int CHUNK_BYTES = RecordDecoder.ChunksDecoder.sbeBlockLength();

  private final byte[] bytes;
  private final UnsafeBuffer buffer;
  private final int what;

  private Sealer(byte[] bytes, int what) {
    this.bytes = bytes;
    this.buffer = new UnsafeBuffer(bytes);
    this.what = what;
  }

  /** Puts a segment's file right, frames of which start on pages. */
  static void segment(byte[] file, int what) {
    Sealer sealer = new Sealer(file, what);
    int tag = file.length < 48 ? 0 : sealer.buffer.getInt(40, ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at < file.length; at += PAGE_BYTES) {
      sealer.frame(at, tag);
    }
  }

  /** Puts a record right that starts with the first byte. */
  static void record(byte[] record, int tag, int what) {
    new Sealer(record, what).frame(0, tag);
  }

  /** Puts a manifest right. */
  static void manifest(byte[] file, int what) {
    Sealer sealer = new Sealer(file, what);
    int tag = file.length < 48 ? 0 : sealer.buffer.getInt(40, ByteOrder.LITTLE_ENDIAN);
    long batch = 0;
    long before = 0;
    for (int at = 0; sealer.isFrame(at); at += (sealer.length(at) + 7) & -8) {
      int template = Frame.templateId(sealer.buffer, at);
      if (template == BatchMarkDecoder.TEMPLATE_ID && sealer.length(at) >= 48) {
        if ((what & COUNTS) != 0) {
          sealer.buffer.putLong(at + 24, at, ByteOrder.LITTLE_ENDIAN);
          sealer.buffer.putInt(at + 40, (int) batch, ByteOrder.LITTLE_ENDIAN);
        }
        before += batch;
        batch = 0;
      } else if (at > 0) {
        if (template == CheckpointEndDecoder.TEMPLATE_ID
            && sealer.length(at) >= 64
            && (what & COUNTS) != 0) {
          sealer.buffer.putLong(at + 24, before + batch, ByteOrder.LITTLE_ENDIAN);
        }
        batch++;
      }
      sealer.frame(at, tag);
    }
  }

  private int length(int at) {
    return Frame.lengthBytes(buffer, at);
  }

  private boolean isFrame(int at) {
    return at >= 0
        && at <= bytes.length - Frame.HEADER_BYTES
        && buffer.getInt(at, ByteOrder.LITTLE_ENDIAN) == Frame.MAGIC
        && length(at) >= Frame.HEADER_BYTES
        && length(at) <= bytes.length - at;
  }

  private void frame(int at, int tag) {
    if (!isFrame(at)) {
      return;
    }
    int template = Frame.templateId(buffer, at);
    if (template == RecordDecoder.TEMPLATE_ID && (what & CHUNKS) != 0) {
      chunks(at, length(at));
    } else if (template == NamespaceRecordDecoder.TEMPLATE_ID && (what & FINGERPRINTS) != 0) {
      fingerprint(
          at + Frame.HEADER_BYTES + NamespaceRecordDecoder.fingerprintEncodingOffset(),
          at + Frame.HEADER_BYTES + NamespaceRecordDecoder.BLOCK_LENGTH,
          at + length(at));
    } else if (template == NamespaceAddedDecoder.TEMPLATE_ID && (what & FINGERPRINTS) != 0) {
      fingerprint(
          at + Frame.HEADER_BYTES + NamespaceAddedDecoder.fingerprintEncodingOffset(),
          at + Frame.HEADER_BYTES + NamespaceAddedDecoder.BLOCK_LENGTH,
          at + length(at));
    }
    if ((what & FRAMES) != 0) {
      Frame.seal(buffer, at, length(at), tag);
    }
  }

  /** The checksum of each chunk that the tables of a record place inside the bytes. */
  private void chunks(int at, int frameBytes) {
    if (frameBytes < PARTS_AT + 4) {
      return;
    }
    int parts = u16(at + PARTS_AT - 2);
    long chunksAt = (long) at + PARTS_AT + (long) parts * PART_BYTES + 4;
    if (chunksAt > at + frameBytes) {
      return;
    }
    int chunks = u16((int) chunksAt - 2);
    if (chunksAt + (long) chunks * CHUNK_BYTES > at + frameBytes) {
      return;
    }
    int chunk = 0;
    for (int part = 0; part < parts; part++) {
      int entry = at + PARTS_AT + part * PART_BYTES;
      long count = buffer.getInt(entry + 12, ByteOrder.LITTLE_ENDIAN);
      long from = buffer.getLong(entry + 40, ByteOrder.LITTLE_ENDIAN);
      for (long i = 0; i < count && chunk < chunks; i++, chunk++) {
        int index = (int) chunksAt + chunk * CHUNK_BYTES;
        int stored = buffer.getInt(index, ByteOrder.LITTLE_ENDIAN) & Integer.MAX_VALUE;
        if (from < 0 || from > (long) bytes.length - at - stored) {
          return;
        }
        int checksum = Frame.crc32c(buffer, (int) (at + from), stored);
        buffer.putInt(index + 4, checksum, ByteOrder.LITTLE_ENDIAN);
        from += stored;
      }
    }
  }

  /** The fingerprint of the three texts that stand from an index on. */
  private void fingerprint(int target, int textsAt, int end) {
    String[] texts = new String[3];
    int at = textsAt;
    for (int i = 0; i < texts.length; i++) {
      int length = at + 4 > end ? -1 : buffer.getInt(at, ByteOrder.LITTLE_ENDIAN);
      if (length < 0 || length > end - at - 4) {
        return;
      }
      texts[i] = new String(bytes, at + 4, length, StandardCharsets.UTF_8);
      at += 4 + length;
    }
    try {
      byte[] fingerprint =
          KeyChain.fingerprint(
              ModelIdentity.ofJson(texts[0]), Layout.ofJson(texts[1]), CodecPlan.ofJson(texts[2]));
      buffer.putBytes(target, fingerprint);
    } catch (InvalidSettingException e) {
      // Then there is no fingerprint that would be right.
    }
  }

  private int u16(int index) {
    return buffer.getShort(index, ByteOrder.LITTLE_ENDIAN) & 0xFFFF;
  }
}
