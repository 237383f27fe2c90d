package dev.waymark.layout;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.ViewMismatchException;
import java.util.HashMap;
import java.util.Map;

/** Views of a model's state, by tensor name. */
public final class StateViews {
  private final Map<String, TensorView> views;

  private StateViews(Map<String, TensorView> views) {
    this.views = views;
  }

  /** Views by tensor name. */
  public static StateViews of(Map<String, TensorView> views) {
    return new StateViews(Map.copyOf(views));
  }

  /** An empty builder. */
  public static Builder builder() {
    return new Builder();
  }

  /** The view of a tensor, or null where the caller gave none. */
  public TensorView get(TensorSpec spec) {
    return views.get(spec.name());
  }

  /**
   * The view of a tensor.
   *
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
   * @throws ViewMismatchException if a name is not in the layout
   */
  public void checkNames(Layout layout) {
    for (String name : views.keySet()) {
      if (layout.tensor(name) == null) {
        throw new ViewMismatchException(
            ErrorDetail.of("a view of a tensor that the layout does not have")
                .expected("one of its " + layout.tensors().size() + " tensors")
                .found("'" + name + "'"));
      }
    }
  }

  /** Collects views. */
  public static final class Builder {
    private final Map<String, TensorView> views = new HashMap<>();

    private Builder() {}

    /** Adds or replaces the view of a tensor. */
    public Builder put(TensorSpec spec, TensorView view) {
      views.put(spec.name(), view);
      return this;
    }

    /** The views. */
    public StateViews build() {
      return StateViews.of(views);
    }
  }
}
