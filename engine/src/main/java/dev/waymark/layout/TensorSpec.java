package dev.waymark.layout;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import java.util.List;

/**
 * One tensor of a layout. With a token axis its value is {@code [outer][rows][inner]}: {@code
 * outer} is the product of the dims before the token axis, {@code inner} the bytes after it. A
 * fixed tensor has no token axis; its elements in order count as its rows, so that any part of it
 * is a range of elements.
 *
 * @param name unique within the layout, 1 to 255 UTF-8 bytes
 * @param dtype element type
 * @param growth how it grows
 * @param shape dims in order, {@link #TOKEN_AXIS} at the token axis; fixed tensors have none of it.
 *     Dims may be 0
 */
public record TensorSpec(String name, DType dtype, Growth growth, List<Long> shape) {
  /** Stands in a shape for the token axis. */
  public static final long TOKEN_AXIS = -1;

  /**
   * Checks name, dims and the token axis, and that no size overflows.
   *
   * @param name unique within the layout, 1 to 255 UTF-8 bytes
   * @param dtype element type
   * @param growth how it grows
   * @param shape dims in order, {@link #TOKEN_AXIS} at the token axis; fixed tensors have none of
   *     it. Dims may be 0
   */
  public TensorSpec {
    shape = List.copyOf(shape);
    int nameBytes = name.getBytes(java.nio.charset.StandardCharsets.UTF_8).length;
    if (nameBytes < 1 || nameBytes > 255) {
      throw invalid(name, "name of 1 to 255 UTF-8 bytes", nameBytes + " bytes");
    }
    if (name.chars().anyMatch(c -> c < 0x20 || c == 0x7f)
        || !java.nio.charset.StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
      throw invalid("(unprintable)", "a name without control characters", "some");
    }
    long axes = shape.stream().filter(dim -> dim == TOKEN_AXIS).count();
    long wanted = growth instanceof Growth.Fixed ? 0 : 1;
    if (axes != wanted) {
      throw invalid(name, wanted + " token axes", axes);
    }
    if (shape.size() > 16 || shape.stream().anyMatch(dim -> dim < TOKEN_AXIS)) {
      throw invalid(name, "at most 16 dims, none negative", shape);
    }
    long bytes = dtype.sizeBytes();
    for (long dim : shape) {
      if (dim > 0) {
        try {
          bytes = Math.multiplyExact(bytes, dim);
        } catch (ArithmeticException e) {
          throw invalid(name, "a size below 2^48 bytes", shape);
        }
      }
    }
    if (bytes >= 1L << 48) {
      throw invalid(name, "a size below 2^48 bytes", bytes);
    }
    long outer = 1;
    for (long dim : shape) {
      if (dim == TOKEN_AXIS) {
        break;
      }
      outer *= wanted == 0 ? 1 : dim;
    }
    if (outer > Integer.MAX_VALUE) {
      throw invalid(name, "at most 2^31 - 1 outer positions", outer);
    }
  }

  /**
   * {@return a tensor of one row per {@code tokensPerRow} tokens}
   *
   * @param name 1 to 255 bytes of UTF-8
   * @param dtype type of its elements
   * @param tokensPerRow tokens that one row stands for, 1 or more
   * @param shape its dims in order, {@link #TOKEN_AXIS} where the tokens run
   */
  public static TensorSpec rows(String name, DType dtype, int tokensPerRow, long... shape) {
    return new TensorSpec(name, dtype, new Growth.Rows(tokensPerRow), boxed(shape));
  }

  /**
   * {@return a tensor of the last {@code windowTokens} tokens and the first {@code sinkTokens}}
   *
   * @param name 1 to 255 bytes of UTF-8
   * @param dtype type of its elements
   * @param windowTokens tokens that the window holds, 1 or more
   * @param sinkTokens first tokens that stay for good, 0 or more
   * @param shape its dims in order, {@link #TOKEN_AXIS} where the tokens run
   */
  public static TensorSpec window(
      String name, DType dtype, int windowTokens, int sinkTokens, long... shape) {
    return new TensorSpec(name, dtype, new Growth.Window(windowTokens, sinkTokens), boxed(shape));
  }

  /**
   * {@return a tensor of one value}
   *
   * @param name 1 to 255 bytes of UTF-8
   * @param dtype type of its elements
   * @param shape its dims in order, {@link #TOKEN_AXIS} where the tokens run
   */
  public static TensorSpec fixed(String name, DType dtype, long... shape) {
    return new TensorSpec(name, dtype, new Growth.Fixed(), boxed(shape));
  }

  /** {@return whether the tensor has no token axis} */
  public boolean isFixed() {
    return growth instanceof Growth.Fixed;
  }

  /** {@return product of the dims before the token axis; 1 for a fixed tensor} */
  public int outer() {
    long product = 1;
    if (!isFixed()) {
      for (int i = 0; shape.get(i) != TOKEN_AXIS; i++) {
        product *= shape.get(i);
      }
    }
    return (int) product;
  }

  /** {@return bytes of one row at one outer position; of one element for a fixed tensor} */
  public long innerBytes() {
    long product = dtype.sizeBytes();
    if (!isFixed()) {
      // Asked for at every part of a record: no iterators.
      for (int i = shape.size() - 1; shape.get(i) != TOKEN_AXIS; i--) {
        product *= shape.get(i);
      }
    }
    return product;
  }

  /**
   * {@return elements of a codec's row: the last dim} Row codecs keep one scale for each of them. 1
   * where the token axis comes last, or where there is no dim.
   */
  public long rowWidth() {
    long last = shape.isEmpty() ? 1 : shape.get(shape.size() - 1);
    return last == TOKEN_AXIS ? 1 : last;
  }

  /**
   * {@return rows that exist after {@code tokens} tokens; of a window tensor, rows ever written}
   *
   * @param tokens tokens of the prefix
   */
  public long rowsAfter(long tokens) {
    if (growth instanceof Growth.Rows rows) {
      return tokens / rows.tokensPerRow();
    }
    return isFixed() ? elements() : tokens;
  }

  /**
   * {@return bytes of {@code rows} rows over all outer positions}
   *
   * @param rows number of rows
   */
  public long bytesOfRows(long rows) {
    return Math.multiplyExact(Math.multiplyExact(rows, innerBytes()), (long) outer());
  }

  /** Elements of a fixed tensor. */
  private long elements() {
    long product = 1;
    for (long dim : shape) {
      product *= dim;
    }
    return product;
  }

  private static List<Long> boxed(long[] shape) {
    return java.util.Arrays.stream(shape).boxed().toList();
  }

  private static InvalidSettingException invalid(String name, Object expected, Object found) {
    return new InvalidSettingException(
        ErrorDetail.of("tensor '" + name + "' is not valid").expected(expected).found(found));
  }
}
