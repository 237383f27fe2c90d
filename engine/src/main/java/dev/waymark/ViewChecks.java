package dev.waymark;

import dev.waymark.error.BoundaryMismatchException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.ViewMismatchException;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;

/** Finds all that can be wrong with a caller's views before anything is written. Pure. */
final class ViewChecks {
  private final Layout layout;

  ViewChecks(Layout layout) {
    this.layout = layout;
  }

  /** Views are of this layout, and all of them stand for the state after so many tokens. */
  void end(StateViews views, int end) {
    views.checkNames(layout);
    for (TensorSpec spec : layout.tensors()) {
      TensorView view = views.get(spec);
      if (view == null) {
        continue;
      }
      if (view.endRow() != spec.rowsAfter(end)) {
        throw endsElsewhere(spec, view, end);
      }
      view.checkFits(spec);
    }
  }

  private static RuntimeException endsElsewhere(TensorSpec spec, TensorView view, int end) {
    String what = "the rows of tensor '" + spec.name() + "' end elsewhere than the boundary";
    ErrorDetail detail =
        ErrorDetail.of(spec.isFixed() ? "a fixed tensor has another size" : what)
            .expected(spec.rowsAfter(end) + " rows at " + end + " tokens")
            .found(view.endRow() + " rows");
    return spec.isFixed()
        ? new ViewMismatchException(detail)
        : new BoundaryMismatchException(detail.remedy("append the tokens that the rows are of"));
  }

  /** Views hold the rows, and the sinks, that the blocks between two boundaries add. */
  void rows(StateViews views, int from, int to) {
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Rows) {
        tensor(views, spec, spec.rowsAfter(from), spec.rowsAfter(to));
      } else if (spec.growth() instanceof Growth.Window window) {
        long sinks = window.sinkTokens();
        tensor(views, spec, Math.min(from, sinks), Math.min(to, sinks));
      }
    }
  }

  /** Views hold what a point takes: its window from the first row not covered, and fixed state. */
  void point(StateViews views, int coveredTo, int to) {
    for (TensorSpec spec : layout.tensors()) {
      if (spec.growth() instanceof Growth.Window window) {
        tensor(views, spec, Layout.windowStart(window, coveredTo, to), to);
      } else if (spec.isFixed()) {
        tensor(views, spec, 0, spec.rowsAfter(to));
      }
    }
  }

  /** The view of a tensor holds these rows. */
  static void tensor(StateViews views, TensorSpec spec, long from, long to) {
    if (from >= to || spec.bytesOfRows(to - from) == 0) {
      return;
    }
    TensorView view = views.require(spec);
    if (!view.holds(from, to)) {
      throw new ViewMismatchException(
          ErrorDetail.of("the view of tensor '" + spec.name() + "' does not hold what is stored")
              .expected("rows " + from + " to " + to)
              .found("rows " + view.firstRow() + " to " + view.endRow()));
    }
  }
}
