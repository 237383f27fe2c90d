package dev.waymark.sim;

/** What can be asked of a simulated directory, as faults and crashes count it. */
public enum OperationKind {
  /** {@code StoreDirectory.create}. */
  CREATE(true),
  /** {@code StoreDirectory.open} and {@code openReadOnly}. */
  OPEN(false),
  /** {@code StoreDirectory.rename}. */
  RENAME(true),
  /** {@code StoreDirectory.delete}. */
  DELETE(true),
  /** {@code StoreDirectory.force}. */
  DIRECTORY_FORCE(true),
  /** {@code StoreDirectory.lock}. */
  LOCK(true),
  /** {@code StoreFile.allocate}. */
  ALLOCATE(true),
  /** {@code StoreFile.setLength}. */
  SET_LENGTH(true),
  /** {@code StoreFile.punch}. */
  PUNCH(true),
  /** {@code StoreFile.write}. */
  WRITE(true),
  /** {@code StoreFile.read}. */
  READ(false),
  /** {@code StoreFile.force}. */
  FORCE(true),
  /** {@code StoreFile.map}. */
  MAP(false),
  /** {@code MappedRegion.put}. */
  PUT(true),
  /** {@code MappedRegion.get}. */
  GET(false),
  /** {@code MappedRegion.force}. */
  REGION_FORCE(true),
  /** {@code SimulatedDirectory.yieldPoint}. */
  YIELD(true);

  private final boolean crashPoint;

  OperationKind(boolean crashPoint) {
    this.crashPoint = crashPoint;
  }

  /** Whether a crash before it differs from a crash before the next one. */
  boolean isCrashPoint() {
    return crashPoint;
  }
}
