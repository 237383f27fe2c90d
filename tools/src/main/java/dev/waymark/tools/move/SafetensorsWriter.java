package dev.waymark.tools.move;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.layout.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Makes the front of a safetensors file; the tensors' bytes follow in the order they were added.
 */
final class SafetensorsWriter {
  /** The header is padded with spaces to a multiple of that, so that tensors can be mapped. */
  private static final int ALIGNMENT_BYTES = 64;

  private final ObjectNode root = JsonNodeFactory.instance.objectNode();
  private long endBytes;

  SafetensorsWriter(Map<String, String> metadata) {
    if (!metadata.isEmpty()) {
      ObjectNode node = root.putObject("__metadata__");
      metadata.forEach(node::put);
    }
  }

  /** Adds a tensor; returns where its bytes begin behind the front. */
  long add(String name, DType dtype, List<Long> shape) {
    long bytes = dtype.sizeBytes();
    for (long dim : shape) {
      bytes = Math.multiplyExact(bytes, dim);
    }
    ObjectNode node = root.putObject(name);
    node.put("dtype", dtype.name());
    ArrayNode dims = node.putArray("shape");
    shape.forEach(dims::add);
    long begin = endBytes;
    endBytes += bytes;
    node.putArray("data_offsets").add(begin).add(endBytes);
    return begin;
  }

  /** Bytes of all tensors. */
  long dataBytes() {
    return endBytes;
  }

  /** The front of the file. */
  byte[] front() {
    byte[] json = root.toString().getBytes(StandardCharsets.UTF_8);
    int length = SafetensorsHeader.LENGTH_BYTES + json.length;
    int padded = (length + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    byte[] front = new byte[padded];
    Arrays.fill(front, (byte) ' ');
    ByteBuffer buffer = ByteBuffer.wrap(front).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putLong(padded - SafetensorsHeader.LENGTH_BYTES).put(json);
    return front;
  }
}
