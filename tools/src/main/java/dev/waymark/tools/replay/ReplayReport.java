package dev.waymark.tools.replay;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.tools.Output;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Locale;

/** What a replay found: as JSON for programs, as a table for people. */
final class ReplayReport {
  private final Builder values;

  private ReplayReport(Builder values) {
    this.values = values;
  }

  static Builder builder() {
    return new Builder();
  }

  /** One object; names with the unit last, numbers as numbers. */
  String toJson() {
    ObjectNode root = Output.envelope("replay");
    root.put("requests", values.requests);
    root.put("blocks_total", values.blocksTotal);
    root.put("blocks_unique", values.blocksUnique);
    root.put("blocks_hit", values.blocksHit);
    root.put("blocks_restored", values.blocksRestored);
    root.put("bundle_bytes", values.bundleBytes);
    root.put("bundle_bytes_per_request", values.bundleBytesPerRequest);
    root.put("appended_bytes", values.appendedBytes);
    root.put("written_bytes", values.writtenBytes);
    root.put("allocated_bytes", values.allocatedBytes);
    root.put("restore_points", values.restorePoints);
    root.put("restores", values.restores);
    root.put("restores_missed", values.restoresMissed);
    root.put("restores_verified", values.restoresVerified);
    root.put("mismatches", values.mismatches);
    root.put("requests_refused", values.requestsRefused);
    root.put("evicted_blocks", values.evictedBlocks);
    root.put("record_bytes", values.recordBytes);
    root.put(
        "write_amplification",
        BigDecimal.valueOf(values.writeAmplification).setScale(4, RoundingMode.HALF_UP));
    root.put("seconds", BigDecimal.valueOf(values.seconds).setScale(3, RoundingMode.HALF_UP));
    return root.toPrettyString();
  }

  /** Lines for a terminal. */
  String toTable() {
    StringBuilder table = new StringBuilder();
    line(table, "requests", count(values.requests), "");
    line(table, "blocks", count(values.blocksTotal), "");
    line(table, "  unique", count(values.blocksUnique), share(values.blocksUnique));
    line(table, "  hit", count(values.blocksHit), share(values.blocksHit));
    line(table, "  restored", count(values.blocksRestored), share(values.blocksRestored));
    line(table, "bundles, one a boundary", bytes(values.bundleBytes), times(values.bundleBytes));
    line(
        table,
        "bundles, one a request",
        bytes(values.bundleBytesPerRequest),
        times(values.bundleBytesPerRequest));
    line(table, "appended", bytes(BigInteger.valueOf(values.appendedBytes)), "");
    line(table, "written", bytes(BigInteger.valueOf(values.writtenBytes)), "");
    line(table, "allocated", bytes(BigInteger.valueOf(values.allocatedBytes)), "");
    line(table, "restore points", count(values.restorePoints), "");
    line(table, "restores", count(values.restores), "");
    line(table, "  missed", count(values.restoresMissed), "");
    line(table, "  verified", count(values.restoresVerified), "");
    line(table, "  mismatches", count(values.mismatches), "");
    line(table, "requests refused", count(values.requestsRefused), "");
    line(table, "evicted blocks", count(values.evictedBlocks), "");
    line(
        table,
        "write amplification",
        String.format(Locale.ROOT, "%,.4f", values.writeAmplification),
        "");
    line(table, "seconds", String.format(Locale.ROOT, "%,.1f", values.seconds), "");
    return table.toString();
  }

  private static void line(StringBuilder table, String name, String value, String remark) {
    table.append(String.format(Locale.ROOT, "%-24s %22s  %s", name, value, remark).stripTrailing());
    table.append(System.lineSeparator());
  }

  private static String count(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }

  private static String bytes(BigInteger value) {
    return String.format(Locale.ROOT, "%,d B", value);
  }

  private String share(long blocks) {
    return values.blocksTotal == 0
        ? ""
        : String.format(Locale.ROOT, "%.2f%%", 100.0 * blocks / values.blocksTotal);
  }

  private String times(BigInteger bytes) {
    return values.writtenBytes == 0
        ? ""
        : String.format(
            Locale.ROOT, "%,.2f times what was written", bytes.doubleValue() / values.writtenBytes);
  }

  /** Collects the values; what is not said is 0. */
  static final class Builder {
    private long requests;
    private long blocksTotal;
    private long blocksUnique;
    private long blocksHit;
    private long blocksRestored;
    private BigInteger bundleBytes = BigInteger.ZERO;
    private BigInteger bundleBytesPerRequest = BigInteger.ZERO;
    private long appendedBytes;
    private long writtenBytes;
    private long allocatedBytes;
    private long restorePoints;
    private long restores;
    private long restoresMissed;
    private long restoresVerified;
    private long mismatches;
    private long requestsRefused;
    private long evictedBlocks;
    private long recordBytes;
    private double writeAmplification = 1;
    private double seconds;

    private Builder() {}

    Builder requests(long value) {
      requests = value;
      return this;
    }

    /** Blocks of all requests. */
    Builder blocksTotal(long value) {
      blocksTotal = value;
      return this;
    }

    /** Blocks that differ in scope or prefix. */
    Builder blocksUnique(long value) {
      blocksUnique = value;
      return this;
    }

    /** Leading blocks of a request whose rows the store held when it came. */
    Builder blocksHit(long value) {
      blocksHit = value;
      return this;
    }

    /** Those up to the restore point that the request used. */
    Builder blocksRestored(long value) {
      blocksRestored = value;
      return this;
    }

    Builder bundles(BundleCosts costs) {
      bundleBytes = costs.everyBoundaryBytes();
      bundleBytesPerRequest = costs.everyRequestBytes();
      return this;
    }

    /** Payload. */
    Builder appendedBytes(long value) {
      appendedBytes = value;
      return this;
    }

    /** Whole records, every copy, and the manifest. */
    Builder writtenBytes(long value) {
      writtenBytes = value;
      return this;
    }

    /** By the file system's count. */
    Builder allocatedBytes(long value) {
      allocatedBytes = value;
      return this;
    }

    Builder restorePoints(long value) {
      restorePoints = value;
      return this;
    }

    Builder restores(long value) {
      restores = value;
      return this;
    }

    /** Points that could not be given back, after which a shallower one was tried. */
    Builder restoresMissed(long value) {
      restoresMissed = value;
      return this;
    }

    Builder restoresVerified(long value) {
      restoresVerified = value;
      return this;
    }

    Builder mismatches(long value) {
      mismatches = value;
      return this;
    }

    /** Requests whose state did not fit the quota, and was not stored. */
    Builder requestsRefused(long value) {
      requestsRefused = value;
      return this;
    }

    /** Boundaries that made room. */
    Builder evictedBlocks(long value) {
      evictedBlocks = value;
      return this;
    }

    /** Whole records, written the first time. */
    Builder recordBytes(long value) {
      recordBytes = value;
      return this;
    }

    /** Record bytes written, every copy, over those written the first time. */
    Builder writeAmplification(double value) {
      writeAmplification = value;
      return this;
    }

    Builder seconds(double value) {
      seconds = value;
      return this;
    }

    /** The report; call once, with everything said. */
    ReplayReport build() {
      return new ReplayReport(this);
    }
  }
}
