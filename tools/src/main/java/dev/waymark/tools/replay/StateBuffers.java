package dev.waymark.tools.replay;

import dev.waymark.layout.Layout;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorView;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.agrona.concurrent.UnsafeBuffer;

/** The state of the prefix that is being worked on: a buffer a tensor, reused by all requests. */
final class StateBuffers {
  private final Layout layout;
  private final TensorBuffer[] tensors;
  private BlockSeeds seeds;
  private int tokens;

  StateBuffers(Layout layout) {
    this.layout = layout;
    SyntheticState source = new SyntheticState(layout);
    this.tensors =
        IntStream.range(0, layout.tensors().size())
            .mapToObj(i -> TensorBuffer.of(source, i, layout.tensors().get(i)))
            .toArray(TensorBuffer[]::new);
  }

  /**
   * A tensor that is not what it should be.
   *
   * @param name of the tensor
   * @param atByte where the first wrong byte stands in what was restored of it
   */
  record Mismatch(String name, long atByte) {}

  /** Starts a request: nothing is held of it, and there is room for all of it. */
  void begin(BlockSeeds requestSeeds) {
    seeds = requestSeeds;
    tokens = 0;
    int end = Math.multiplyExact(requestSeeds.blocks(), layout.blockTokens());
    for (TensorBuffer tensor : tensors) {
      tensor.begin(end);
    }
  }

  /** Where a restore is to put the state after {@code at} tokens. */
  StateViews restoring(int at) {
    tokens = at;
    return views(tensor -> tensor.restoring(at));
  }

  /** Overwrites what is left of requests before, so that it cannot pass for what is restored. */
  void scrub() {
    IntStream.range(0, tensors.length).parallel().forEach(i -> tensors[i].scrub());
  }

  /** Compares all that was restored with what belongs there; the first tensor that differs. */
  Optional<Mismatch> firstMismatch() {
    return IntStream.range(0, tensors.length)
        .parallel()
        .mapToObj(i -> new Mismatch(name(i), tensors[i].firstMismatch(seeds, tokens)))
        .filter(mismatch -> mismatch.atByte() >= 0)
        .findFirst();
  }

  /**
   * Goes on to the state after {@code to} tokens.
   *
   * @param stored tokens whose rows are stored, and are not made
   */
  StateViews advance(int stored, int to) {
    int from = tokens;
    tokens = to;
    return views(tensor -> tensor.advance(seeds, from, stored, to));
  }

  /** The memory of a tensor. */
  UnsafeBuffer memoryOf(int tensor) {
    return tensors[tensor].buffer();
  }

  private StateViews views(Function<TensorBuffer, TensorView> view) {
    StateViews.Builder builder = StateViews.builder();
    for (TensorBuffer tensor : tensors) {
      builder.put(tensor.spec, view.apply(tensor));
    }
    return builder.build();
  }

  private String name(int tensor) {
    return layout.tensors().get(tensor).name();
  }
}
