package dev.waymark.layout;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.ViewMismatchException;
import java.util.HashMap;
import java.util.Map;

/** Views of a model's state, by tensor name. */
public final class StateViews {
  private final Map<String, TensorView> views;

  /** What the caller took the tensors for, where it said so. */
  private final Map<String, TensorSpec> specs;

  private StateViews(Map<String, TensorView> views, Map<String, TensorSpec> specs) {
    this.views = views;
    this.specs = specs;
  }

  /**
   * {@return views by tensor name}
   *
   * @param views views by name of their tensor
   */
  public static StateViews of(Map<String, TensorView> views) {
    return new StateViews(Map.copyOf(views), Map.of());
  }

  /** {@return an empty builder} */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * {@return the view of a tensor, or null where the caller gave none}
   *
   * @param spec the tensor
   */
  public TensorView get(TensorSpec spec) {
    return views.get(spec.name());
  }

  /**
   * {@return the view of a tensor}
   *
   * @param spec the tensor
   * @throws ViewMismatchException if the caller gave none
   */
  public TensorView require(TensorSpec spec) {
    TensorView view = views.get(spec.name());
    if (view == null) {
      throw new ViewMismatchException(
          ErrorDetail.of("no view of a tensor that is needed here")
              .expected("a view of '" + spec.name() + "'")
              .found(views.size() + " other views"));
    }
    return view;
  }

  /**
   * Checks that every view is of a tensor of the layout.
   *
   * @param layout the layout that they have to be of
   * @throws ViewMismatchException if a name is not in the layout, or its tensor is another one
   */
  public void checkNames(Layout layout) {
    for (String name : views.keySet()) {
      if (layout.tensor(name) == null) {
        throw new ViewMismatchException(
            ErrorDetail.of("a view of a tensor that the layout does not have")
                .expected("one of its " + layout.tensors().size() + " tensors")
                .found("'" + name + "'"));
      }
      TensorSpec spec = specs.get(name);
      if (spec != null && !spec.equals(layout.tensor(name))) {
        throw new ViewMismatchException(
            ErrorDetail.of("tensor '" + name + "' is another one in the layout")
                .expected(describe(layout.tensor(name)))
                .found(describe(spec)));
      }
    }
  }

  private static String describe(TensorSpec spec) {
    return spec.dtype() + " " + spec.shape() + ", " + spec.growth();
  }

  /** Collects views. */
  public static final class Builder {
    private final Map<String, TensorView> views = new HashMap<>();
    private final Map<String, TensorSpec> specs = new HashMap<>();

    private Builder() {}

    /**
     * Adds or replaces the view of a tensor.
     *
     * @param spec the tensor
     * @param view the memory to look at, in the shape of the tensor
     * @return this builder
     */
    public Builder put(TensorSpec spec, TensorView view) {
      views.put(spec.name(), view);
      specs.put(spec.name(), spec);
      return this;
    }

    /** {@return the views} */
    public StateViews build() {
      return new StateViews(Map.copyOf(views), Map.copyOf(specs));
    }
  }
}
