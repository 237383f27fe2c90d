package dev.waymark.tools.replay;

import dev.waymark.layout.Growth;
import dev.waymark.layout.Layout;
import dev.waymark.layout.TensorSpec;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * What servers that keep a prefix as one file would have written for the same requests; computed,
 * not written. A bundle after some blocks holds all rows of the prefix so far, its window and
 * sinks, and its fixed state. Counted in whole numbers of any size: a bundle a boundary grows with
 * the square of a prompt's length.
 */
public final class BundleCosts {
  private final Layout layout;

  /** At index n: bytes of the bundles after 1, 2, ... n blocks, together. */
  private final List<BigInteger> sums = new ArrayList<>(List.of(BigInteger.ZERO));

  private BigInteger everyBoundaryBytes = BigInteger.ZERO;
  private BigInteger everyRequestBytes = BigInteger.ZERO;

  /** For states of a layout. */
  public BundleCosts(Layout layout) {
    this.layout = layout;
  }

  /** Counts a request of so many blocks; one of none writes nothing. */
  void add(int blocks) {
    if (blocks == 0) {
      return;
    }
    while (sums.size() <= blocks) {
      sums.add(sums.get(sums.size() - 1).add(bundleBytes(sums.size())));
    }
    everyBoundaryBytes = everyBoundaryBytes.add(sums.get(blocks));
    everyRequestBytes = everyRequestBytes.add(sums.get(blocks).subtract(sums.get(blocks - 1)));
  }

  /** One file a boundary of every request. */
  BigInteger everyBoundaryBytes() {
    return everyBoundaryBytes;
  }

  /** One file a request, at its last boundary. */
  BigInteger everyRequestBytes() {
    return everyRequestBytes;
  }

  /** Bytes of the bundle after so many blocks. */
  public BigInteger bundleBytes(int blocks) {
    long tokens = (long) blocks * layout.blockTokens();
    BigInteger bytes = BigInteger.ZERO;
    for (TensorSpec spec : layout.tensors()) {
      long rows = spec.rowsAfter(tokens);
      if (spec.growth() instanceof Growth.Window window) {
        // Sinks that the window has not left behind stand in it, and count once.
        rows = Math.min(rows, (long) window.windowTokens() + window.sinkTokens());
      }
      bytes = bytes.add(BigInteger.valueOf(spec.bytesOfRows(1)).multiply(BigInteger.valueOf(rows)));
    }
    return bytes;
  }
}
