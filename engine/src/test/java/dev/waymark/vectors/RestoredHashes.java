package dev.waymark.vectors;

import dev.waymark.PrefixMatch;
import dev.waymark.RestoredState;
import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a restore gives, as a hash of each tensor, by which readers are compared. */
final class RestoredHashes {
  private RestoredHashes() {}

  /** Restores a point; SHA-256 of each tensor's bytes by name, in the layout's order. */
  static Map<String, String> of(Layout layout, PrefixMatch match, int at) {
    Map<String, String> hashes = new LinkedHashMap<>();
    try (RestoredState state = match.restore(at)) {
      Map<String, byte[]> data = new HashMap<>();
      StateViews.Builder views = StateViews.builder();
      for (TensorSpec spec : layout.tensors()) {
        long length = spec.outer() * spec.rowsAfter(at) * spec.innerBytes();
        byte[] buffer = new byte[Math.toIntExact(length)];
        data.put(spec.name(), buffer);
        views.put(spec, view(spec, buffer, at, at));
      }
      state.read(views.build());
      state.finish();
      for (TensorSpec spec : layout.tensors()) {
        hashes.put(spec.name(), hash(spec, data.get(spec.name()), at, state.firstRow(spec)));
      }
    }
    return hashes;
  }

  /**
   * A view of a tensor's value, {@code [outer][rows][inner]}.
   *
   * @param most tokens that the array has room for
   * @param tokens tokens that are there
   */
  static TensorView view(TensorSpec spec, byte[] data, int most, int tokens) {
    if (spec.isFixed()) {
      return TensorView.value(spec, ByteBuffer.wrap(data));
    }
    long inner = spec.innerBytes();
    long stride = spec.rowsAfter(most) * inner;
    return TensorView.linear(
        Memory.of(ByteBuffer.wrap(data)), 0, stride, inner, 0, spec.rowsAfter(tokens));
  }

  /** Of a window tensor with its sinks only the rows that a restore gives, in order. */
  private static String hash(TensorSpec spec, byte[] data, int tokens, long firstRow) {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
    if (spec.growth() instanceof Growth.Window window) {
      int inner = Math.toIntExact(spec.innerBytes());
      int sinks = (int) Math.min(window.sinkTokens(), tokens);
      int from = (int) Math.max(sinks, firstRow);
      for (int o = 0; o < spec.outer(); o++) {
        int line = o * tokens * inner;
        digest.update(data, line, sinks * inner);
        digest.update(data, line + from * inner, (tokens - from) * inner);
      }
    } else {
      digest.update(data);
    }
    return HexFormat.of().formatHex(digest.digest());
  }
}
