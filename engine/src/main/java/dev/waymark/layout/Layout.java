package dev.waymark.layout;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a model's state is made of: its tensors in order, and the tokens a block. Boundaries lie on
 * multiples of {@code blockTokens}.
 */
public final class Layout {
  /** Most tensors that a layout may have: an index fits 16 bits. */
  public static final int MAX_TENSORS = 65_535;

  private final int blockTokens;
  private final List<TensorSpec> tensors;
  private final Map<String, Integer> indexByName;
  private final int maxWindowTokens;
  private final int maxSinkTokens;
  private final boolean hasFixed;

  private Layout(int blockTokens, List<TensorSpec> tensors) {
    if (blockTokens < 1) {
      throw invalid("blockTokens out of range", "1 or more", blockTokens);
    }
    if (tensors.isEmpty() || tensors.size() > MAX_TENSORS) {
      throw invalid("number of tensors out of range", "1 to " + MAX_TENSORS, tensors.size());
    }
    this.blockTokens = blockTokens;
    this.tensors = List.copyOf(tensors);
    this.indexByName = new HashMap<>();
    int window = 0;
    int sink = 0;
    boolean fixed = false;
    for (TensorSpec spec : tensors) {
      if (indexByName.put(spec.name(), indexByName.size()) != null) {
        throw invalid("two tensors of one name", "unique names", "'" + spec.name() + "'");
      }
      if (spec.growth() instanceof Growth.Window w) {
        window = Math.max(window, w.windowTokens());
        sink = Math.max(sink, w.sinkTokens());
      }
      fixed |= spec.isFixed();
    }
    this.maxWindowTokens = window;
    this.maxSinkTokens = sink;
    this.hasFixed = fixed;
  }

  /**
   * {@return a layout of these tensors}
   *
   * @param blockTokens tokens a block, 1 or more
   * @param tensors the tensors, each of another name
   */
  public static Layout of(int blockTokens, List<TensorSpec> tensors) {
    return new Layout(blockTokens, tensors);
  }

  /**
   * {@return a layout of these tensors}
   *
   * @param blockTokens tokens a block, 1 or more
   * @param tensors the tensors, each of another name
   */
  public static Layout of(int blockTokens, TensorSpec... tensors) {
    return new Layout(blockTokens, List.of(tensors));
  }

  /** {@return tokens a block} */
  public int blockTokens() {
    return blockTokens;
  }

  /** {@return the tensors in order: the order in which a server uploads them} */
  public List<TensorSpec> tensors() {
    return tensors;
  }

  /**
   * {@return the tensor of a name, or null}
   *
   * @param name the tensor's name
   */
  public TensorSpec tensor(String name) {
    Integer index = indexByName.get(name);
    return index == null ? null : tensors.get(index);
  }

  /**
   * {@return place of a tensor in {@link #tensors()}, or -1}
   *
   * @param name the tensor's name
   */
  public int indexOf(String name) {
    return indexByName.getOrDefault(name, -1);
  }

  /** {@return the largest window, 0 where there is none} */
  public int maxWindowTokens() {
    return maxWindowTokens;
  }

  /** {@return the largest sink, 0 where there is none} */
  public int maxSinkTokens() {
    return maxSinkTokens;
  }

  /** {@return whether any tensor is wholly replaced as tokens pass} */
  public boolean hasFixed() {
    return hasFixed;
  }

  /** {@return whether a boundary's rows alone are not enough to resume from} */
  public boolean needsPoints() {
    return hasFixed || maxWindowTokens > 0;
  }

  /**
   * {@return raw bytes of the rows (sinks included) that the tokens {@code [from, to)} add}
   *
   * @param from first token
   * @param to one past the last token
   */
  public long rowBytes(long from, long to) {
    long bytes = 0;
    for (TensorSpec spec : tensors) {
      if (spec.growth() instanceof Growth.Rows) {
        bytes += spec.bytesOfRows(spec.rowsAfter(to) - spec.rowsAfter(from));
      } else if (spec.growth() instanceof Growth.Window window) {
        bytes +=
            spec.bytesOfRows(
                Math.min(to, window.sinkTokens()) - Math.min(from, window.sinkTokens()));
      }
    }
    return bytes;
  }

  /**
   * {@return raw bytes of the window rows that a point at {@code to} adds where its chain covers
   * those before {@code coveredTo}}
   *
   * @param coveredTo tokens up to which the chain holds the window
   * @param to one past the last token
   */
  public long windowBytes(long coveredTo, long to) {
    long bytes = 0;
    for (TensorSpec spec : tensors) {
      if (spec.growth() instanceof Growth.Window window) {
        bytes += spec.bytesOfRows(to - windowStart(window, coveredTo, to));
      }
    }
    return bytes;
  }

  /**
   * {@return first window row that a delta at {@code to} holds: its sinks are stored with the rows,
   * so that they never count twice}
   *
   * @param window the growth of the tensor
   * @param coveredTo tokens up to which the chain holds the window
   * @param to one past the last token
   */
  public static long windowStart(Growth.Window window, long coveredTo, long to) {
    long start = Math.max(to - window.windowTokens(), window.sinkTokens());
    return Math.min(to, Math.max(start, coveredTo));
  }

  /**
   * {@return first window row that a point at {@code to} needs from deltas: those before it have
   * left every window, or are sinks, which are stored with the rows} Equal to {@code to} where it
   * needs none.
   *
   * @param to one past the last token
   */
  public int windowFrom(int to) {
    long from = to;
    for (TensorSpec spec : tensors) {
      if (spec.growth() instanceof Growth.Window window) {
        from = Math.min(from, windowStart(window, 0, to));
      }
    }
    return (int) from;
  }

  /** {@return raw bytes of the fixed tensors} */
  public long fixedBytes() {
    long bytes = 0;
    for (TensorSpec spec : tensors) {
      if (spec.isFixed()) {
        bytes += spec.bytesOfRows(spec.rowsAfter(0));
      }
    }
    return bytes;
  }

  /** {@return the one JSON text of this layout; equal layouts give equal texts} */
  public String toJson() {
    ObjectNode root = JsonNodeFactory.instance.objectNode();
    root.put("block_tokens", blockTokens);
    ArrayNode list = root.putArray("tensors");
    for (TensorSpec spec : tensors) {
      ObjectNode node = list.addObject();
      node.put("name", spec.name());
      node.put("dtype", spec.dtype().name());
      if (spec.growth() instanceof Growth.Rows rows) {
        node.put("growth", "rows");
        node.put("tokens_per_row", rows.tokensPerRow());
      } else if (spec.growth() instanceof Growth.Window window) {
        node.put("growth", "window");
        node.put("window", window.windowTokens());
        node.put("sink", window.sinkTokens());
      } else {
        node.put("growth", "fixed");
      }
      ArrayNode shape = node.putArray("shape");
      spec.shape().forEach(shape::add);
    }
    return root.toString();
  }

  /**
   * Reads a layout from its JSON.
   *
   * @param text the JSON text
   * @return the layout
   * @throws InvalidSettingException naming the field that is missing, unknown or out of range
   */
  public static Layout ofJson(String text) {
    return LayoutJson.parse(StrictJson.object(text, "a layout"));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Layout that
        && blockTokens == that.blockTokens
        && tensors.equals(that.tensors);
  }

  @Override
  public int hashCode() {
    return 31 * blockTokens + tensors.hashCode();
  }

  @Override
  public String toString() {
    return "Layout[" + blockTokens + " tokens a block, " + tensors.size() + " tensors]";
  }

  private static InvalidSettingException invalid(String what, Object expected, Object found) {
    return new InvalidSettingException(ErrorDetail.of(what).expected(expected).found(found));
  }
}
