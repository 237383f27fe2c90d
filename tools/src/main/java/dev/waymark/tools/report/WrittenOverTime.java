package dev.waymark.tools.report;

import dev.waymark.StoreReader.Boundary;
import dev.waymark.StoreReader.NamespaceContent;
import dev.waymark.tools.replay.BundleCosts;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What is stored, by when it came, and what one file a boundary would have taken, each file holding
 * the whole prefix so far. Only boundaries that are still there are known.
 *
 * <p>Where all came within a few seconds, their order stands in for time.
 */
final class WrittenOverTime {
  static final int BUCKETS = 160;
  private static final long SHORT_MILLIS = 60_000;

  private final Map<Integer, BundleCosts> costs = new HashMap<>();
  private final Map<Integer, Integer> blockTokens = new HashMap<>();
  private final Map<Integer, Map<Integer, Double>> bundles = new HashMap<>();
  private final long firstMillis;
  private final long lastMillis;
  private final long count;
  private final double[] stored = new double[BUCKETS];
  private final double[] bundled = new double[BUCKETS];
  private long seen;

  /**
   * Over a span.
   *
   * @param count boundaries to come
   */
  WrittenOverTime(List<NamespaceContent> namespaces, Span span, long count) {
    for (NamespaceContent namespace : namespaces) {
      costs.put(namespace.id(), new BundleCosts(namespace.layout()));
      blockTokens.put(namespace.id(), namespace.layout().blockTokens());
      bundles.put(namespace.id(), new HashMap<>());
    }
    this.firstMillis = span.firstMillis();
    this.lastMillis = span.lastMillis();
    this.count = Math.max(1, count);
  }

  /** When the first boundary came, and the last. */
  static final class Span {
    private long firstMillis = Long.MAX_VALUE;
    private long lastMillis;

    void add(Boundary boundary) {
      firstMillis = Math.min(firstMillis, boundary.addedMillis());
      lastMillis = Math.max(lastMillis, boundary.addedMillis());
    }

    long firstMillis() {
      return Math.min(firstMillis, lastMillis);
    }

    long lastMillis() {
      return lastMillis;
    }
  }

  void add(Boundary boundary) {
    int bucket =
        isByTime()
            ? bucket(boundary.addedMillis() - firstMillis, lastMillis - firstMillis + 1)
            : bucket(seen, count);
    seen++;
    stored[bucket] += boundary.bytes();
    bundled[bucket] += bundleBytes(boundary);
  }

  private static int bucket(long at, long of) {
    return (int) Math.min(BUCKETS - 1, Math.max(0, (double) at * BUCKETS / of));
  }

  private double bundleBytes(Boundary boundary) {
    int id = boundary.namespaceId();
    int blocks = boundary.tokens() / blockTokens.get(id);
    return bundles.get(id).computeIfAbsent(blocks, n -> costs.get(id).bundleBytes(n).doubleValue());
  }

  boolean isByTime() {
    return lastMillis - firstMillis >= SHORT_MILLIS;
  }

  long firstMillis() {
    return firstMillis;
  }

  long lastMillis() {
    return lastMillis;
  }

  /** Bytes stored up to the end of each bucket. */
  double[] stored() {
    return sums(stored);
  }

  /** Bytes of bundles up to the end of each bucket. */
  double[] bundled() {
    return sums(bundled);
  }

  private static double[] sums(double[] values) {
    double[] sums = Arrays.copyOf(values, values.length);
    for (int i = 1; i < sums.length; i++) {
      sums[i] += sums[i - 1];
    }
    return sums;
  }
}
