package dev.waymark.layout;

import java.util.Map;
import java.util.TreeMap;

/**
 * Which codec a namespace stores each tensor with: by growth, and by name where that differs. A
 * tensor that a codec cannot take is stored as it is, which the record says.
 */
public record CodecPlan(Codec rows, Codec window, Codec fixed, Map<String, Codec> byTensor) {
  /** Everything as it is. */
  public static final CodecPlan RAW = new CodecPlan(Codec.RAW, Codec.RAW, Codec.RAW, Map.of());

  /** Everything lossless and smaller where that is possible. */
  public static final CodecPlan PLANES =
      new CodecPlan(Codec.PLANES, Codec.PLANES, Codec.PLANES, Map.of());

  /** Copies the map. */
  public CodecPlan {
    byTensor = Map.copyOf(byTensor);
  }

  /** A copy with another codec for fixed tensors. */
  public CodecPlan withFixed(Codec codec) {
    return new CodecPlan(rows, window, codec, byTensor);
  }

  /** A copy with another codec for rows and windows. */
  public CodecPlan withRows(Codec codec) {
    return new CodecPlan(codec, codec, fixed, byTensor);
  }

  /** A copy with another codec for one tensor. */
  public CodecPlan withTensor(String name, Codec codec) {
    Map<String, Codec> map = new TreeMap<>(byTensor);
    map.put(name, codec);
    return new CodecPlan(rows, window, fixed, map);
  }

  /** The codec of a tensor. */
  public Codec of(TensorSpec spec) {
    Codec named = byTensor.get(spec.name());
    if (named != null) {
      return named;
    }
    if (spec.growth() instanceof Growth.Rows) {
      return rows;
    }
    return spec.isFixed() ? fixed : window;
  }
}
