package dev.waymark.tools.replay;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.DType;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes a layout smaller, so that a trace of hundreds of gigabytes fits a test, and keeps the
 * ratios of its layers' kinds. Windows, sinks and tokens a row stay: what is stored when does not
 * change.
 *
 * <p>Each kind of layer is divided by about the factor: of each tensor the innermost dim first,
 * then the outer ones, each keeping at least 1; what is left over divides the number of layers of
 * the kind, keeping the first ones, at least one. A layer is the tensors whose names have the same
 * first number, and the same text before it; two layers are of a kind if their tensors differ in
 * that number only.
 */
final class LayoutScaler {
  private static final Pattern FIRST_NUMBER = Pattern.compile("(\\D*)(\\d+)(.*)", Pattern.DOTALL);

  private LayoutScaler() {}

  /** A tensor without its layer's number. */
  private record Role(String name, DType dtype, Growth growth, List<Long> shape) {}

  static ScaledLayout scale(Layout full, int factor) {
    if (factor < 1) {
      throw new InvalidSettingException(
          ErrorDetail.of("scale out of range").expected("1 or more").found(factor));
    }
    Map<String, List<TensorSpec>> layers = new LinkedHashMap<>();
    for (TensorSpec spec : full.tensors()) {
      layers.computeIfAbsent(layerOf(spec.name()), name -> new ArrayList<>()).add(spec);
    }
    Map<List<Role>, List<List<TensorSpec>>> kinds = new LinkedHashMap<>();
    for (List<TensorSpec> layer : layers.values()) {
      List<Role> roles = layer.stream().map(LayoutScaler::roleOf).toList();
      kinds.computeIfAbsent(roles, kind -> new ArrayList<>()).add(layer);
    }
    Set<String> kept = new HashSet<>();
    for (List<List<TensorSpec>> kind : kinds.values()) {
      for (List<TensorSpec> layer : kind.subList(0, layersKept(kind, factor))) {
        layer.forEach(spec -> kept.add(spec.name()));
      }
    }
    List<TensorSpec> scaled = new ArrayList<>();
    for (TensorSpec spec : full.tensors()) {
      if (kept.contains(spec.name())) {
        scaled.add(scaled(spec, factor));
      }
    }
    return new ScaledLayout(full, Layout.of(full.blockTokens(), scaled), factor);
  }

  private static int layersKept(List<List<TensorSpec>> kind, int factor) {
    double before = 0;
    double after = 0;
    for (TensorSpec spec : kind.get(0)) {
      before += elements(spec) * spec.dtype().sizeBytes();
      after += elements(scaled(spec, factor)) * spec.dtype().sizeBytes();
    }
    double rest = before == 0 ? 1 : factor / (before / after);
    return rest <= 1 ? kind.size() : (int) Math.max(1, Math.round(kind.size() / rest));
  }

  private static TensorSpec scaled(TensorSpec spec, int factor) {
    List<Long> shape = new ArrayList<>(spec.shape());
    double rest = factor;
    for (int i = shape.size() - 1; i >= 0 && rest > 1; i--) {
      long dim = shape.get(i);
      if (dim > 1) {
        long smaller = Math.min(dim, Math.max(1, Math.round(dim / rest)));
        shape.set(i, smaller);
        rest /= (double) dim / smaller;
      }
    }
    return new TensorSpec(spec.name(), spec.dtype(), spec.growth(), shape);
  }

  private static double elements(TensorSpec spec) {
    double product = 1;
    for (long dim : spec.shape()) {
      product *= dim == TensorSpec.TOKEN_AXIS ? 1 : dim;
    }
    return product;
  }

  private static String layerOf(String name) {
    Matcher matcher = FIRST_NUMBER.matcher(name);
    return matcher.matches() ? matcher.group(1) + matcher.group(2) : name;
  }

  private static Role roleOf(TensorSpec spec) {
    Matcher matcher = FIRST_NUMBER.matcher(spec.name());
    String name = matcher.matches() ? matcher.group(1) + "#" + matcher.group(3) : spec.name();
    return new Role(name, spec.dtype(), spec.growth(), spec.shape());
  }
}
