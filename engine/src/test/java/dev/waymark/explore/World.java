package dev.waymark.explore;

import dev.waymark.StoreOptions;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.sim.SimulatedDirectory;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * What a workload works with: its namespaces, and how much room the store has.
 *
 * @param quotaBytes what the next process opens the store with
 */
record World(List<Space> spaces, Kind kind, long quotaBytes) {
  /** What happens to a store beside prefills and restores. */
  enum Kind {
    /** Nothing. */
    PLAIN,
    /** It is deleted from and compacted, again and again, and has room enough. */
    CHURNED,
    /** It is kept so full that it has to evict, and is deleted from, compacted and given less. */
    FULL;

    /** How it is called where things are counted. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final long LOW_QUOTA_BYTES = StoreOptions.MIN_QUOTA_BYTES;
  private static final long HIGH_QUOTA_BYTES = LOW_QUOTA_BYTES + (384 << 10);

  /** What the quarantine takes of a full store's quota. */
  private static final long ASIDE_BYTES = 14_450L << 10;

  /** Ends like a segment's name: nothing in the quarantine is the store's to delete. */
  private static final String ASIDE_NAME = "quarantine/append-1.seg";

  static World any(SplittableRandom random) {
    List<Space> spaces =
        switch (random.nextInt(6)) {
          case 0 -> List.of(Space.ROWS, Space.POINTS);
          case 1 -> List.of(Space.WIDE, Space.POINTS);
          case 2 -> List.of(Space.WIDE);
          default -> List.of(Space.POINTS);
        };
    return new World(spaces, Kind.PLAIN, LOW_QUOTA_BYTES);
  }

  static World churned(SplittableRandom random) {
    return new World(heavy(random), Kind.CHURNED, LOW_QUOTA_BYTES);
  }

  static World full(SplittableRandom random) {
    return new World(heavy(random), Kind.FULL, HIGH_QUOTA_BYTES);
  }

  private static List<Space> heavy(SplittableRandom random) {
    return random.nextInt(3) == 0 ? List.of(Space.HEAVY, Space.POINTS) : List.of(Space.HEAVY);
  }

  boolean isFull() {
    return kind == Kind.FULL;
  }

  boolean isChurned() {
    return kind == Kind.CHURNED;
  }

  /** The same, with another quota perhaps. */
  World next(SplittableRandom random) {
    if (!isFull()) {
      return this;
    }
    long quota = random.nextInt(3) == 0 ? LOW_QUOTA_BYTES : HIGH_QUOTA_BYTES;
    return new World(spaces, kind, quota);
  }

  long lowQuotaBytes() {
    return LOW_QUOTA_BYTES;
  }

  /** Takes up the room that the store is not to have. */
  void furnish(SimulatedDirectory disk) {
    if (isFull()) {
      SimulatedDirectory other = disk.another();
      try (StoreFile file = other.create(ASIDE_NAME)) {
        file.allocate(0, ASIDE_BYTES);
        file.force();
      }
      other.force();
      other.close();
    }
  }

  /**
   * That what {@link #furnish} put there is still there.
   *
   * @throws Violation if not
   */
  void requireFurniture(SimulatedDirectory disk) {
    if (isFull() && !disk.another().exists(ASIDE_NAME)) {
      throw new Violation(Violation.Kind.LOST, "what was in the quarantine was deleted");
    }
  }

  /** The smallest store there is: segments of 256 KiB. Nothing is forced unless asked for. */
  StoreOptions options() {
    return StoreOptions.builder()
        .quota(quotaBytes)
        .restoreThreads(1)
        .backgroundThread(false)
        .build();
  }

  Space.Leaf anyLeaf(SplittableRandom random) {
    Space space = spaces.get(random.nextInt(spaces.size()));
    return space.leaves.get(random.nextInt(space.leaves.size()));
  }
}
