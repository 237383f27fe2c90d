package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.EvictionPolicy;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a store is opened.
 *
 * @param quotaBytes most that everything in the directory may occupy, or {@link #AUTO_QUOTA}
 * @param createIfMissing whether a store is made where there is none
 * @param durability for prefills that do not say otherwise
 * @param groupBytes under {@code GROUP} a force begins once so many bytes wait for one
 * @param groupMillis under {@code GROUP} a force begins once bytes have waited that long
 * @param maxInFlightBytes appends wait for a force, within a boundary too, so that no more bytes
 *     are in flight: being written, or not forced yet. One record of up to 60 MiB may go ahead
 *     alone
 * @param backPressure what an append does when it would have to wait for that
 * @param heldStateBytes memory for the newest point of sessions that generate tokens
 * @param memoryBudgetBytes memory of the caller that all admitted prefills share, or {@link
 *     #NO_MEMORY_BUDGET}
 * @param restoreThreads threads that one restore reads with, the caller's among them
 * @param eviction whose chain goes first when room has to be made
 * @param punchHoles whether dead bytes are punched out of files, where the file system can; without
 *     it they come back only with whole segments
 * @param writeBudgetBytesPerDay most that is written on a day (UTC), or {@link #NO_WRITE_BUDGET}
 * @param compactionBytesPerSecond most that compaction copies in a second: in the background, and
 *     on request
 * @param backgroundThread whether the store runs its own thread; without it the caller drives
 *     {@link SnapshotStore#runOnce()}
 * @param verifyLossy whether what a lossy codec made is decoded as it is written, and stored as it
 *     was where its error is larger than the codec states
 * @param mappedWriter whether records are written through maps; otherwise by positional writes
 */
public record StoreOptions(
    long quotaBytes,
    boolean createIfMissing,
    Durability durability,
    long groupBytes,
    long groupMillis,
    long maxInFlightBytes,
    BackPressure backPressure,
    long heldStateBytes,
    long memoryBudgetBytes,
    int restoreThreads,
    EvictionPolicy eviction,
    boolean punchHoles,
    long writeBudgetBytesPerDay,
    long compactionBytesPerSecond,
    boolean backgroundThread,
    boolean verifyLossy,
    boolean mappedWriter) {
  /** Resolves to a share of what the file system has free when the store is opened. */
  public static final long AUTO_QUOTA = -1;

  /** As much may be written as the device takes. */
  public static final long NO_WRITE_BUDGET = Long.MAX_VALUE;

  /** Admission refuses no prefill for the memory that it takes. */
  public static final long NO_MEMORY_BUDGET = Long.MAX_VALUE;

  /** No store works in less. */
  public static final long MIN_QUOTA_BYTES = 16L << 20;

  private static final Pattern SIZE =
      Pattern.compile("(\\d{1,15})(?:\\.(\\d))?\\s*(B|KIB|MIB|GIB|TIB|KB|MB|GB|TB)?");

  /**
   * Checks ranges, and that the settings do not contradict each other.
   *
   * @param quotaBytes most that everything in the directory may occupy, or {@link #AUTO_QUOTA}
   * @param createIfMissing whether a store is made where there is none
   * @param durability for prefills that do not say otherwise
   * @param groupBytes under {@code GROUP} a force begins once so many bytes wait for one
   * @param groupMillis under {@code GROUP} a force begins once bytes have waited that long
   * @param maxInFlightBytes appends wait for a force, within a boundary too, so that no more bytes
   *     are in flight: being written, or not forced yet. One record of up to 60 MiB may go ahead
   *     alone
   * @param backPressure what an append does when it would have to wait for that
   * @param heldStateBytes memory for the newest point of sessions that generate tokens
   * @param memoryBudgetBytes memory of the caller that all admitted prefills share, or {@link
   *     #NO_MEMORY_BUDGET}
   * @param restoreThreads threads that one restore reads with, the caller's among them
   * @param eviction whose chain goes first when room has to be made
   * @param punchHoles whether dead bytes are punched out of files, where the file system can;
   *     without it they come back only with whole segments
   * @param writeBudgetBytesPerDay most that is written on a day (UTC), or {@link #NO_WRITE_BUDGET}
   * @param compactionBytesPerSecond most that compaction copies in a second: in the background, and
   *     on request
   * @param backgroundThread whether the store runs its own thread; without it the caller drives
   *     {@link SnapshotStore#runOnce()}
   * @param verifyLossy whether what a lossy codec made is decoded as it is written, and stored as
   *     it was where its error is larger than the codec states
   * @param mappedWriter whether records are written through maps; otherwise by positional writes
   * @throws InvalidSettingException if a setting is out of its range
   */
  public StoreOptions {
    Objects.requireNonNull(durability, "durability");
    Objects.requireNonNull(eviction, "eviction");
    Objects.requireNonNull(backPressure, "backPressure");
    if (quotaBytes != AUTO_QUOTA && quotaBytes < MIN_QUOTA_BYTES) {
      throw invalid("quota", MIN_QUOTA_BYTES + " bytes or more, or auto", quotaBytes);
    }
    if (groupBytes < 1) {
      throw invalid("groupBytes", "1 byte or more", groupBytes);
    }
    if (groupMillis < 1) {
      throw invalid("groupMillis", "1 ms or more", groupMillis);
    }
    if (heldStateBytes < 0) {
      throw invalid("heldStateBytes", "0 bytes or more", heldStateBytes);
    }
    if (maxInFlightBytes < groupBytes) {
      throw invalid("maxInFlightBytes", "at least groupBytes, " + groupBytes, maxInFlightBytes);
    }
    if (writeBudgetBytesPerDay < 1) {
      throw invalid("writeBudgetBytesPerDay", "1 byte or more", writeBudgetBytesPerDay);
    }
    if (compactionBytesPerSecond < 1) {
      throw invalid("compactionBytesPerSecond", "1 byte or more", compactionBytesPerSecond);
    }
    if (memoryBudgetBytes < 1) {
      throw invalid("memoryBudgetBytes", "1 byte or more", memoryBudgetBytes);
    }
    if (restoreThreads < 1 || restoreThreads > 256) {
      throw invalid("restoreThreads", "1 to 256", restoreThreads);
    }
  }

  /** {@return a builder with the defaults} */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Reads a size such as {@code 100GiB}, {@code 1.5 TiB} or {@code 64000000}, or {@code auto}.
   *
   * @param text a number, with or without a unit
   * @return the size in bytes, or {@link #AUTO_QUOTA}
   * @throws InvalidSettingException if it is none of these
   */
  public static long parseSize(String text) {
    String upper = text.trim().toUpperCase(Locale.ROOT);
    if (upper.equals("AUTO")) {
      return AUTO_QUOTA;
    }
    Matcher matcher = SIZE.matcher(upper);
    if (!matcher.matches()) {
      throw invalid("size", "a number with a unit, such as 100GiB, or auto", "'" + text + "'");
    }
    String unit = matcher.group(3) == null ? "B" : matcher.group(3);
    int power = "BKMGT".indexOf(unit.charAt(0));
    long scale = 1;
    for (int i = 0; i < power; i++) {
      scale *= unit.endsWith("IB") ? 1_024 : 1_000;
    }
    try {
      long whole = Math.multiplyExact(Long.parseLong(matcher.group(1)), scale);
      long tenth = matcher.group(2) == null ? 0 : Long.parseLong(matcher.group(2)) * (scale / 10);
      return Math.addExact(whole, tenth);
    } catch (ArithmeticException e) {
      throw invalid("size", "less than 2^63 bytes", "'" + text + "'");
    }
  }

  private static InvalidSettingException invalid(String what, Object expected, Object found) {
    return new InvalidSettingException(
        ErrorDetail.of("setting out of range: " + what).expected(expected).found(found));
  }

  /** Collects options. */
  public static final class Builder {
    private long quotaBytes = AUTO_QUOTA;
    private boolean createIfMissing = true;
    private Durability durability = Durability.GROUP;
    private long groupBytes = 32L << 20;
    private long groupMillis = 200;
    private long maxInFlightBytes = 256L << 20;
    private BackPressure backPressure = BackPressure.BLOCK;
    private long heldStateBytes = 128L << 20;
    private long memoryBudgetBytes = NO_MEMORY_BUDGET;
    private int restoreThreads = Math.min(4, Runtime.getRuntime().availableProcessors());
    private EvictionPolicy eviction = EvictionPolicy.LRU;
    private boolean punchHoles = true;
    private long writeBudgetBytesPerDay = NO_WRITE_BUDGET;
    private long compactionBytesPerSecond = 64L << 20;
    private boolean backgroundThread = true;
    private boolean verifyLossy;
    private boolean mappedWriter;

    private Builder() {}

    /**
     * Most that the directory may occupy, such as {@code 100GiB}, or {@code auto}.
     *
     * @param size a size with or without a unit, or {@code auto}
     * @return this builder
     */
    public Builder quota(String size) {
      return quota(parseSize(size));
    }

    /**
     * Most that the directory may occupy.
     *
     * @param bytes how many bytes
     * @return this builder
     */
    public Builder quota(long bytes) {
      quotaBytes = bytes;
      return this;
    }

    /**
     * Whether a store is made where there is none; it is, unless told otherwise.
     *
     * @param value whether it is so
     * @return this builder
     */
    public Builder createIfMissing(boolean value) {
      createIfMissing = value;
      return this;
    }

    /**
     * Durability of prefills that do not say otherwise.
     *
     * @param value the level
     * @return this builder
     */
    public Builder durability(Durability value) {
      durability = value;
      return this;
    }

    /**
     * When a group is forced: after so many bytes or milliseconds.
     *
     * @param bytes how many bytes
     * @param millis or how many milliseconds after the first of them
     * @return this builder
     */
    public Builder group(long bytes, long millis) {
      groupBytes = bytes;
      groupMillis = millis;
      return this;
    }

    /**
     * Appends wait for a force once so many bytes are not forced.
     *
     * @param bytes how many bytes
     * @return this builder
     */
    public Builder maxInFlight(long bytes) {
      maxInFlightBytes = bytes;
      return this;
    }

    /**
     * What an append does when it would have to wait for others' bytes; it waits, unless told
     * otherwise.
     *
     * @param value what it does
     * @return this builder
     */
    public Builder backPressure(BackPressure value) {
      backPressure = value;
      return this;
    }

    /**
     * Memory for the newest point of sessions that generate tokens.
     *
     * @param bytes how many bytes, 0 or more
     * @return this builder
     */
    public Builder heldState(long bytes) {
      heldStateBytes = bytes;
      return this;
    }

    /**
     * Memory of the caller's that all admitted prefills share.
     *
     * @param bytes how many bytes
     * @return this builder
     */
    public Builder memoryBudget(long bytes) {
      memoryBudgetBytes = bytes;
      return this;
    }

    /**
     * Threads that one restore reads with.
     *
     * @param threads how many, 1 or more
     * @return this builder
     */
    public Builder restoreThreads(int threads) {
      restoreThreads = threads;
      return this;
    }

    /**
     * Whose chain goes first when room has to be made.
     *
     * @param value the order
     * @return this builder
     */
    public Builder eviction(EvictionPolicy value) {
      eviction = value;
      return this;
    }

    /**
     * Whether dead bytes are punched out of files, where the file system can.
     *
     * @param value whether it is so
     * @return this builder
     */
    public Builder punchHoles(boolean value) {
      punchHoles = value;
      return this;
    }

    /**
     * Most that is written on a day (UTC).
     *
     * @param bytesPerDay bytes a day
     * @return this builder
     */
    public Builder writeBudget(long bytesPerDay) {
      writeBudgetBytesPerDay = bytesPerDay;
      return this;
    }

    /**
     * Most that compaction copies in a second, in the background and on request; 64 MiB, unless
     * told otherwise.
     *
     * @param bytesPerSecond bytes a second, 1 or more
     * @return this builder
     */
    public Builder compactionRate(long bytesPerSecond) {
      compactionBytesPerSecond = bytesPerSecond;
      return this;
    }

    /**
     * Whether the store runs its own thread; it does, unless told otherwise.
     *
     * @param value whether it is so
     * @return this builder
     */
    public Builder backgroundThread(boolean value) {
      backgroundThread = value;
      return this;
    }

    /**
     * Whether what lossy codecs make is decoded and measured as it is written: a chunk whose error
     * is larger than its codec states is stored as it is, and counted in {@link
     * StoreStats#chunksLeftRaw()}. Off, unless told otherwise: the codecs keep their bounds by how
     * they are made.
     *
     * @param value whether it is so
     * @return this builder
     */
    public Builder verifyLossy(boolean value) {
      verifyLossy = value;
      return this;
    }

    /**
     * Whether records are written through maps, which costs a fault a page. They are read through
     * maps in any case, where the file system can map.
     *
     * @param value false, unless it is set: they are written by positional writes
     * @return this builder
     */
    public Builder mappedWriter(boolean value) {
      mappedWriter = value;
      return this;
    }

    /** {@return the options} */
    public StoreOptions build() {
      return new StoreOptions(
          quotaBytes,
          createIfMissing,
          durability,
          groupBytes,
          groupMillis,
          maxInFlightBytes,
          backPressure,
          heldStateBytes,
          memoryBudgetBytes,
          restoreThreads,
          eviction,
          punchHoles,
          writeBudgetBytesPerDay,
          compactionBytesPerSecond,
          backgroundThread,
          verifyLossy,
          mappedWriter);
    }
  }
}
