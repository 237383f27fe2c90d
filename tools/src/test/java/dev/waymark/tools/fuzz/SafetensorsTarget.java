package dev.waymark.tools.fuzz;

import dev.waymark.tools.move.BadSafetensorsException;
import dev.waymark.tools.move.SafetensorsHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The front of a safetensors file. What is accepted gives each byte behind the header to one
 * tensor, as many as its shape needs.
 *
 * <p>An input's first byte says what the rest is: 0 a file; else a header alone, which is given its
 * length, and two bytes in front of it that say how many bytes follow it.
 */
public final class SafetensorsTarget {
  static final byte FILE = 0;
  static final byte HEADER = 1;

  private SafetensorsTarget() {}

  /** Called by Jazzer. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length < 3) {
      return;
    }
    try {
      if (input[0] == FILE) {
        byte[] file = Arrays.copyOfRange(input, 1, input.length);
        check(SafetensorsHeader.parse(file), file.length);
      } else {
        byte[] header = Arrays.copyOfRange(input, 3, input.length);
        int dataBytes = (input[1] & 0xff) | (input[2] & 0xff) << 8;
        long fileBytes = SafetensorsHeader.LENGTH_BYTES + header.length + dataBytes;
        byte[] front = new byte[SafetensorsHeader.LENGTH_BYTES];
        ByteBuffer.wrap(front).order(ByteOrder.LITTLE_ENDIAN).putLong(header.length);
        require(
            SafetensorsHeader.headerBytes(front, fileBytes) == header.length,
            "a length that is right is read as another");
        check(SafetensorsHeader.parse(header, fileBytes), fileBytes);
      }
    } catch (BadSafetensorsException e) {
      // As declared. What it says goes to a terminal.
      require(
          e.getMessage().codePoints().noneMatch(Character::isISOControl),
          "a message with a control character");
    }
  }

  private static void check(SafetensorsHeader header, long fileBytes) {
    long end = 0;
    for (SafetensorsHeader.Tensor tensor : header.tensors()) {
      require(tensor.beginBytes() == end, "bytes that are no tensor's, or two tensors'");
      end = tensor.endBytes();
      long elements = 1;
      for (long dim : tensor.shape()) {
        elements = Math.multiplyExact(elements, dim);
      }
      require(
          elements * tensor.dtype().sizeBytes() == tensor.lengthBytes(),
          "a tensor of other bytes than its shape's");
      require(header.tensor(tensor.name()).equals(tensor), "a name that finds another tensor");
    }
    require(header.dataOffset() + end == fileBytes, "bytes behind the last tensor");
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }
}
