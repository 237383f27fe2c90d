package dev.waymark.jmh;

import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What is stored and given back: in each lane one prompt of so many boundaries. The store gathers
 * it from a server's memory and scatters it there again. What it is compared with is spared that:
 * it is given each boundary's bytes as one buffer, and puts them into one.
 */
final class Load {
  private final Shape shape;
  private final RestorePolicy policy;
  private final int boundaries;
  private final List<Lane> lanes = new ArrayList<>();

  /** One prompt, for one thread. */
  static final class Lane {
    private final Cache source;
    private final Cache target;
    private final List<ByteBuffer> packed = new ArrayList<>();
    private final List<ByteBuffer> unpacked = new ArrayList<>();
    private final int[] tokens;

    Lane(Load load, int number, boolean restores) {
      int block = load.layout().blockTokens();
      int capacity = block * load.boundaries;
      this.source = new Cache(load.layout(), capacity);
      this.target = restores ? new Cache(load.layout(), capacity + block) : null;
      this.tokens = new int[capacity + 1];
      Arrays.setAll(tokens, i -> i * 31 + number);
      for (int i = 0; i < load.boundaries; i++) {
        packed.add(Cache.direct(load.boundaryBytes(i)));
        if (restores) {
          unpacked.add(Cache.direct(load.boundaryBytes(i)));
        }
      }
    }

    /** The caller's memory. */
    Cache source() {
      return source;
    }

    /** The caller's memory for what comes back. */
    Cache target() {
      return target;
    }

    /** All that a boundary adds, as one run of bytes. */
    ByteBuffer packed(int boundary) {
      return packed.get(boundary).clear();
    }

    /** Room for it. */
    ByteBuffer unpacked(int boundary) {
      return unpacked.get(boundary).clear();
    }

    /** Whether what came back is what was put: the store's own way, or as runs of bytes. */
    void requireRestored(boolean packedOnes, int tokensRestored) {
      if (!packedOnes) {
        target.requireEqual(source, tokensRestored);
        return;
      }
      for (int i = 0; i < packed.size(); i++) {
        if (!packed(i).equals(unpacked(i))) {
          throw new AssertionError("a restore gave other bytes of boundary " + i);
        }
      }
    }

    void clearTargets() {
      target.clear();
      unpacked.forEach(Cache::clear);
    }

    /** The prompt, one token longer than its boundaries. */
    int[] tokens() {
      return tokens;
    }
  }

  Load(Shape shape, RestorePolicy policy, int lanes, int boundaries, boolean restores) {
    this.shape = shape;
    this.policy = policy;
    this.boundaries = boundaries;
    for (int i = 0; i < lanes; i++) {
      this.lanes.add(new Lane(this, i, restores));
    }
  }

  /** As many boundaries as make about so many bytes in all lanes, and at least two in each. */
  static int boundaries(Shape shape, RestorePolicy policy, int lanes, long bytes) {
    Load one = new Load(shape, policy, 0, Integer.MAX_VALUE, false);
    long state = policy.equals(RestorePolicy.LAST) ? one.stateBytes() : 0;
    return (int) Math.max(2, (bytes / lanes - state) / one.boundaryBytes(0));
  }

  Shape shape() {
    return shape;
  }

  Layout layout() {
    return shape.layout();
  }

  RestorePolicy policy() {
    return policy;
  }

  int boundaries() {
    return boundaries;
  }

  int lanes() {
    return lanes.size();
  }

  Lane lane(int number) {
    return lanes.get(number);
  }

  int tokens() {
    return boundaries * layout().blockTokens();
  }

  /** Bytes of all lanes. */
  long bytes() {
    return lanes() * laneBytes();
  }

  long laneBytes() {
    long bytes = 0;
    for (int i = 0; i < boundaries; i++) {
      bytes += boundaryBytes(i);
    }
    return bytes;
  }

  /** What a boundary adds: rows, and if it is a point, window rows that are new and state. */
  long boundaryBytes(int boundary) {
    int from = boundary * layout().blockTokens();
    int to = from + layout().blockTokens();
    long rows = layout().rowBytes(from, to);
    if (policy.equals(RestorePolicy.EVERY)) {
      return rows + layout().windowBytes(from, to) + layout().fixedBytes();
    }
    return boundary == boundaries - 1
        ? rows + layout().windowBytes(0, to) + layout().fixedBytes()
        : rows;
  }

  private long stateBytes() {
    return layout().windowBytes(0, layout().maxWindowTokens()) + layout().fixedBytes();
  }
}
