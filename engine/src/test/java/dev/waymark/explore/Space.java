package dev.waymark.explore;

import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.DType;
import dev.waymark.layout.Growth;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * One namespace of the explored world: a layout and a small forest of prompts. Every byte of every
 * boundary follows from its tokens, so that what a restore has to return is known whoever stored
 * it.
 */
final class Space {
  static final int BLOCK = 4;

  /** Points with windows, sinks, pools and fixed state; records of two pages and more. */
  static final Space POINTS =
      new Space(
          "points",
          Layout.of(
              BLOCK,
              TensorSpec.rows("k", DType.BF16, 1, 2, -1, 256),
              TensorSpec.rows("pool", DType.BF16, 8, 1, -1, 32),
              TensorSpec.window("w", DType.BF16, 6, 2, 1, -1, 64),
              TensorSpec.fixed("state", DType.F32, 64)),
          0);

  /** Rows alone, a page a record. */
  static final Space ROWS =
      new Space("rows", Layout.of(BLOCK, TensorSpec.rows("k", DType.BF16, 1, 1, -1, 16)), 0);

  /** Rows alone, of which a few fill a segment. */
  static final Space WIDE =
      new Space("wide", Layout.of(BLOCK, TensorSpec.rows("k", DType.BF16, 1, 2, -1, 2_048)), 0);

  /** Points whose rows fill a segment in a few boundaries, on many prompts. */
  static final Space HEAVY =
      new Space(
          "heavy",
          Layout.of(
              BLOCK,
              TensorSpec.rows("k", DType.BF16, 1, 2, -1, 1_024),
              TensorSpec.window("w", DType.BF16, 6, 2, 1, -1, 64),
              TensorSpec.fixed("state", DType.F32, 64)),
          6);

  /** A boundary that may be stored. */
  static final class Node {
    final Space space;
    final int index;
    final Node parent;
    final int depth;
    final long hash;
    final int[] tokens;
    final List<Node> children = new ArrayList<>();
    private ByteBuffer fixed;

    /** What the store knows it by. */
    final BoundaryKey key;

    private Node(Space space, Node parent, int branch) {
      this.space = space;
      this.index = space.nodes.size();
      this.parent = parent;
      this.depth = parent == null ? 1 : parent.depth + 1;
      this.hash = mix((parent == null ? space.name.hashCode() : parent.hash) * 31 + branch);
      this.tokens = new int[BLOCK];
      for (int i = 0; i < BLOCK; i++) {
        tokens[i] = (int) (mix(hash + i) >>> 40);
      }
      this.key =
          Prompt.ofTokens(tokens)
              .key(new KeyChain(), parent == null ? space.rootKey : parent.key, 0, BLOCK);
      space.nodes.add(this);
      if (parent != null) {
        parent.children.add(this);
      }
    }

    int endTokens() {
      return depth * BLOCK;
    }

    boolean isOnPathTo(Node below) {
      Node at = below;
      while (at != null && at.depth > depth) {
        at = at.parent;
      }
      return at == this;
    }

    @Override
    public String toString() {
      return space.name + "#" + index + "@" + endTokens();
    }
  }

  /** A prompt that no other continues. */
  final class Leaf {
    final List<Node> path = new ArrayList<>();
    final int[] tokens;
    private final List<ByteBuffer> images = new ArrayList<>();

    private Leaf(Node end) {
      for (Node at = end; at != null; at = at.parent) {
        path.add(0, at);
      }
      tokens = new int[path.size() * BLOCK];
      for (int i = 0; i < path.size(); i++) {
        System.arraycopy(path.get(i).tokens, 0, tokens, i * BLOCK, BLOCK);
      }
      layout.tensors().forEach(spec -> images.add(spec.isFixed() ? null : image(spec)));
    }

    Space space() {
      return Space.this;
    }

    /** The node at a number of blocks, from 1. */
    Node node(int blocks) {
      return path.get(blocks - 1);
    }

    /** All rows of a tensor as they are, row after row at each outer position. */
    private ByteBuffer image(TensorSpec spec) {
      int rows = (int) spec.rowsAfter(tokens.length);
      int inner = (int) spec.innerBytes();
      int perRow = spec.growth() instanceof Growth.Rows r ? r.tokensPerRow() : 1;
      byte[] bytes = new byte[spec.outer() * rows * inner];
      byte[] row = new byte[inner];
      for (int outer = 0; outer < spec.outer(); outer++) {
        for (int r = 0; r < rows; r++) {
          Node node = path.get(((r + 1) * perRow - 1) / BLOCK);
          long seed = node.hash + 1_000_003L * r + 31L * outer + spec.name().hashCode();
          new SplittableRandom(seed).nextBytes(row);
          System.arraycopy(row, 0, bytes, (outer * rows + r) * inner, inner);
        }
      }
      return ByteBuffer.wrap(bytes);
    }

    /** Views of the state at a number of blocks. */
    StateViews views(int blocks) {
      return views(blocks, images, true);
    }

    /** Views of empty memory, to restore into. */
    StateViews views(int blocks, List<ByteBuffer> memory) {
      return views(blocks, memory, false);
    }

    private StateViews views(int blocks, List<ByteBuffer> memory, boolean source) {
      StateViews.Builder builder = StateViews.builder();
      for (int i = 0; i < layout.tensors().size(); i++) {
        TensorSpec spec = layout.tensors().get(i);
        if (spec.isFixed()) {
          ByteBuffer value = source ? fixed(node(blocks), spec) : memory.get(i);
          builder.put(spec, TensorView.value(spec, value));
        } else {
          long stride = spec.rowsAfter(tokens.length) * spec.innerBytes();
          long rows = spec.rowsAfter((long) blocks * BLOCK);
          Memory bytes = Memory.of(memory.get(i));
          builder.put(spec, TensorView.linear(bytes, 0, stride, spec.innerBytes(), 0, rows));
        }
      }
      return builder.build();
    }

    /** Memory for a restore. */
    List<ByteBuffer> memory() {
      List<ByteBuffer> memory = new ArrayList<>();
      for (int i = 0; i < layout.tensors().size(); i++) {
        TensorSpec spec = layout.tensors().get(i);
        long bytes =
            spec.isFixed() ? spec.bytesOfRows(spec.rowsAfter(0)) : images.get(i).capacity();
        memory.add(ByteBuffer.allocate((int) bytes));
      }
      return memory;
    }

    /** What differs from what a restore at that depth has to give, or null. */
    String difference(int blocks, List<ByteBuffer> memory) {
      int end = blocks * BLOCK;
      for (int i = 0; i < layout.tensors().size(); i++) {
        TensorSpec spec = layout.tensors().get(i);
        if (spec.isFixed()) {
          if (!fixed(node(blocks), spec).equals(memory.get(i))) {
            return "the value of " + spec.name();
          }
          continue;
        }
        int all = (int) spec.rowsAfter(tokens.length);
        int rows = (int) spec.rowsAfter(end);
        int from = 0;
        if (spec.growth() instanceof Growth.Window window) {
          from = Math.max(0, end - window.windowTokens());
          int sinks = Math.min(window.sinkTokens(), end);
          if (differs(spec, i, memory, all, 0, sinks)) {
            return "the sinks of " + spec.name();
          }
        }
        if (differs(spec, i, memory, all, from, rows)) {
          return "rows of " + spec.name();
        }
      }
      return null;
    }

    private boolean differs(
        TensorSpec spec, int tensor, List<ByteBuffer> memory, int all, int from, int to) {
      int inner = (int) spec.innerBytes();
      for (int outer = 0; outer < spec.outer(); outer++) {
        int at = (outer * all + from) * inner;
        int length = (to - from) * inner;
        if (!images.get(tensor).slice(at, length).equals(memory.get(tensor).slice(at, length))) {
          return true;
        }
      }
      return false;
    }
  }

  final String name;
  final Layout layout;
  final ModelIdentity identity;
  private final BoundaryKey rootKey;
  final List<Node> nodes = new ArrayList<>();
  final List<Leaf> leaves = new ArrayList<>();

  private Space(String name, Layout layout, int otherPrompts) {
    this.name = name;
    this.layout = layout;
    this.identity = ModelIdentity.builder().weights(name).build();
    this.rootKey = KeyChain.root(KeyChain.fingerprint(identity, layout, CodecPlan.RAW));
    Node trunk2 = chain(null, 2, 0);
    Node trunk4 = chain(trunk2, 2, 0);
    leaves.add(new Leaf(chain(trunk4, 2, 0)));
    leaves.add(new Leaf(chain(trunk4, 1, 1)));
    leaves.add(new Leaf(chain(trunk2, 3, 2)));
    leaves.add(new Leaf(chain(null, 3, 3)));
    for (int i = 0; i < otherPrompts; i++) {
      leaves.add(new Leaf(chain(null, 4, 4 + i)));
    }
  }

  private Node chain(Node from, int blocks, int branch) {
    Node at = from;
    for (int i = 0; i < blocks; i++) {
      at = new Node(this, at, i == 0 ? branch : 0);
    }
    return at;
  }

  boolean needsPoints() {
    return layout.needsPoints();
  }

  private static ByteBuffer fixed(Node node, TensorSpec spec) {
    if (node.fixed == null) {
      byte[] bytes = new byte[(int) spec.bytesOfRows(spec.rowsAfter(0))];
      new SplittableRandom(node.hash + spec.name().hashCode()).nextBytes(bytes);
      node.fixed = ByteBuffer.wrap(bytes);
    }
    return node.fixed;
  }

  private static long mix(long value) {
    long z = value + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
