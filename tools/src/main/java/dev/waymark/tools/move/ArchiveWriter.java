package dev.waymark.tools.move;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.tools.move.ArchiveFormat.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;

/** Writes records one behind the other; never goes back. */
final class ArchiveWriter {
  private final WritableByteChannel out;
  private final MessageDigest digest = ArchiveFormat.sha256();
  private byte[] hash = new byte[ArchiveFormat.HASH_BYTES];
  private long writtenBytes;

  ArchiveWriter(WritableByteChannel out) {
    this.out = out;
  }

  void write(Kind kind, ObjectNode head, List<ByteBuffer> body) throws IOException {
    byte[] json = head.toString().getBytes(StandardCharsets.UTF_8);
    ByteBuffer front = ByteBuffer.allocate(ArchiveFormat.FRONT_BYTES + json.length);
    front.order(ByteOrder.LITTLE_ENDIAN).putInt(ArchiveFormat.MAGIC);
    front.putShort(kind.wireCode()).putShort((short) 0).putLong(json.length);
    front.putLong(body.stream().mapToLong(ByteBuffer::remaining).sum()).put(json).flip();
    digest.update(hash);
    write(front);
    for (ByteBuffer part : body) {
      write(part);
    }
    hash = digest.digest();
    writeAll(ByteBuffer.wrap(hash));
  }

  private void write(ByteBuffer bytes) throws IOException {
    digest.update(bytes.duplicate());
    writeAll(bytes);
  }

  private void writeAll(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      writtenBytes += out.write(bytes);
    }
  }

  /** The hash of the last record: of all that was written. */
  byte[] hash() {
    return hash.clone();
  }

  long writtenBytes() {
    return writtenBytes;
  }
}
