package dev.waymark.tools.model;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * A view of one tensor of a {@link ModelState}: where its bytes are and what they mean. Every
 * tensor reads as [heads][rows][width], dense, little-endian: element (h, r, c) is at byte {@code h
 * * outerStrideBytes() + r * rowStrideBytes() + c * dtype().bytes()}.
 */
public final class StateTensor {

  /** How a tensor changes as tokens come in. */
  public enum Kind {
    /** One row per token, token t in slot t. */
    ROWS,
    /** A ring of rows behind pinned first rows; see {@link StateTensor#slotOf}. */
    WINDOW,
    /** Rewritten as a whole by every token; means something at one token count only. */
    FIXED
  }

  /** How an element is encoded. */
  public enum Dtype {
    /** The upper half of a float32, two bytes. */
    BF16(2),
    /** IEEE float32, four bytes. */
    F32(4);

    private final int bytes;

    Dtype(int bytes) {
      this.bytes = bytes;
    }

    /** Bytes per element. */
    public int bytes() {
      return bytes;
    }
  }

  private final String name;
  private final int layer;
  private final Kind kind;
  private final Dtype dtype;
  private final List<Integer> shape;
  private final ByteBuffer bytes;
  private final RowSlots slots;
  private final IntSupplier tokens;

  private StateTensor(
      String name,
      int layer,
      Kind kind,
      Dtype dtype,
      List<Integer> shape,
      ByteBuffer bytes,
      RowSlots slots,
      IntSupplier tokens) {
    this.name = name;
    this.layer = layer;
    this.kind = kind;
    this.dtype = dtype;
    this.shape = shape;
    this.bytes = bytes;
    this.slots = slots;
    this.tokens = tokens;
  }

  static StateTensor rows(
      String name, int layer, AttentionCache cache, ByteBuffer bytes, IntSupplier tokens) {
    return new StateTensor(
        name,
        layer,
        cache.slots.ring() ? Kind.WINDOW : Kind.ROWS,
        Dtype.BF16,
        List.of(cache.heads, cache.slots.capacity(), cache.width),
        bytes,
        cache.slots,
        tokens);
  }

  static StateTensor fixed(
      String name,
      int layer,
      Dtype dtype,
      List<Integer> shape,
      ByteBuffer bytes,
      IntSupplier tokens) {
    return new StateTensor(name, layer, Kind.FIXED, dtype, shape, bytes, null, tokens);
  }

  /** A name unique in the state, such as {@code layer_3_keys}. */
  public String name() {
    return name;
  }

  /** Index of the layer in {@link ModelConfig#layers}. */
  public int layer() {
    return layer;
  }

  /** How the tensor changes as tokens come in. */
  public Kind kind() {
    return kind;
  }

  /** Element encoding. */
  public Dtype dtype() {
    return dtype;
  }

  /**
   * Dimensions, outermost first: [heads, capacity, width] for rows and rings, [heads, dk, dv] for a
   * recurrent state, [3, channels] for a convolution tail.
   */
  public List<Integer> shape() {
    return shape;
  }

  /** Outermost dimension; 1 for a tensor of two dimensions. */
  public int heads() {
    return shape.size() == 3 ? shape.get(0) : 1;
  }

  /** Row slots per head; for a fixed tensor the rows it always has. */
  public int capacityRows() {
    return shape.get(shape.size() - 2);
  }

  /** Elements per row. */
  public int width() {
    return shape.get(shape.size() - 1);
  }

  /** Bytes from one head to the next. */
  public int outerStrideBytes() {
    return capacityRows() * rowStrideBytes();
  }

  /** Bytes from one row to the next. */
  public int rowStrideBytes() {
    return width() * dtype.bytes();
  }

  /**
   * The tensor's own memory, direct and little-endian, from position 0 to its whole size. Each call
   * returns a new view. Writing through it takes effect with {@link ModelState#restoredTo}.
   */
  public ByteBuffer buffer() {
    return bytes.duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Tokens the tensor holds or, if fixed, sums up. */
  public int tokens() {
    return tokens.getAsInt();
  }

  /** Slots per head in use, always slots [0, heldRows()); for a fixed tensor all its rows. */
  public int heldRows() {
    return slots == null ? capacityRows() : slots.held(tokens());
  }

  /** Rows at the front of a ring that the first tokens keep for good; 0 for other kinds. */
  public int sinkRows() {
    return slots == null ? 0 : slots.sink();
  }

  /** Rows of a ring behind its sinks, used in turn; 0 for other kinds. */
  public int windowRows() {
    return kind == Kind.WINDOW ? slots.capacity() - slots.sink() : 0;
  }

  /**
   * The slot of a token's row in every head. For {@link Kind#ROWS} it is the token's position. For
   * {@link Kind#WINDOW} it is the position while that is below {@link #sinkRows}, and {@code
   * sinkRows() + (token - sinkRows()) % windowRows()} afterwards, so token t takes over the slot of
   * token {@code t - windowRows()}.
   *
   * @param token position in the sequence, from 0
   */
  public int slotOf(int token) {
    if (slots == null) {
      throw new IllegalStateException(name + " has no row per token");
    }
    if (token < 0) {
      throw new IllegalArgumentException("token " + token + " is negative");
    }
    return slots.slotOf(token);
  }

  /** The slot that the next token will be written to; the capacity if rows have run out. */
  public int nextSlot() {
    return slotOf(tokens());
  }

  /**
   * The oldest token behind the sinks whose row is still there. The tokens held are [0, sinkRows())
   * and [firstWindowToken(), tokens()), as far as they have been written; for {@link Kind#ROWS} 0.
   */
  public int firstWindowToken() {
    if (slots == null) {
      throw new IllegalStateException(name + " has no row per token");
    }
    return kind == Kind.ROWS ? 0 : Math.max(slots.sink(), tokens() - windowRows());
  }

  @Override
  public String toString() {
    return name + " " + kind + " " + dtype + shape;
  }
}
