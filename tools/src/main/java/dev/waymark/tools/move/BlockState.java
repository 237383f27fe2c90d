package dev.waymark.tools.move;

import java.util.List;

/**
 * One state of a layer in a server's block.
 *
 * @param name of its tensor in the file
 * @param kind how it grows; null where only its shape can tell
 * @param ring of a window; else null
 * @param tensor where its bytes are; null where the block holds none of it
 * @param emptyShape its shape where that has a 0 in it, so that the file could not hold it; else
 *     null
 */
record BlockState(
    String name,
    CacheKind kind,
    Ring ring,
    SafetensorsHeader.Tensor tensor,
    List<Long> emptyShape) {

  /**
   * Where a rotating cache stands.
   *
   * @param keep first rows that it keeps for good
   * @param maxRows rows in all, those included
   * @param offset tokens that it has seen
   * @param index slot that comes next
   */
  record Ring(long keep, long maxRows, long offset, long index) {}

  /** Its shape, or null where the block does not say. */
  List<Long> shape() {
    return tensor == null ? emptyShape : tensor.shape();
  }
}
