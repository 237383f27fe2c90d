package dev.waymark.tools.move;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Memory on the heap for tensors that may be longer than an array. */
final class HeapPieces {
  private static final int PIECE_BYTES = 1 << 28;

  private HeapPieces() {}

  static List<ByteBuffer> allocate(long lengthBytes) {
    List<ByteBuffer> pieces = new ArrayList<>();
    for (long left = lengthBytes; left > 0; left -= PIECE_BYTES) {
      pieces.add(ByteBuffer.allocate((int) Math.min(PIECE_BYTES, left)));
    }
    return pieces;
  }
}
