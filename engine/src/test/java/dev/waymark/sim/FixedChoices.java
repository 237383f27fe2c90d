package dev.waymark.sim;

/**
 * Choices that are all new or all old, but for one exception. What is called new is the last that
 * was in memory, old what was durable.
 */
final class FixedChoices implements CrashChoices {
  private static final long NONE = Long.MIN_VALUE;

  private final boolean newNames;
  private final boolean newLengths;
  private final boolean newPages;

  private int otherName = -1;
  private long otherLengthFile = NONE;
  private int otherLength;
  private long otherPageFile = NONE;
  private int otherPage;
  private int otherPageVersion;
  private int headSectors;
  private boolean headIsNew;

  FixedChoices(boolean newNames, boolean newLengths, boolean newPages) {
    this.newNames = newNames;
    this.newLengths = newLengths;
    this.newPages = newPages;
  }

  /** Except the change of that number. */
  FixedChoices butName(int change) {
    otherName = change;
    return this;
  }

  /** Except the length of that file. */
  FixedChoices butLength(long file, int version) {
    otherLengthFile = file;
    otherLength = version;
    return this;
  }

  /** Except that page. */
  FixedChoices butPage(long file, int page, int version) {
    otherPageFile = file;
    otherPage = page;
    otherPageVersion = version;
    return this;
  }

  /** Except that page, whose first sectors are new and the others old, or the other way round. */
  FixedChoices butTorn(long file, int page, int sectors, boolean firstAreNew) {
    headSectors = sectors;
    headIsNew = firstAreNew;
    return butPage(file, page, TORN);
  }

  @Override
  public boolean survives(int change) {
    return newNames != (change == otherName);
  }

  @Override
  public int length(long file, int versions) {
    if (file == otherLengthFile) {
      return otherLength;
    }
    return newLengths ? versions - 1 : 0;
  }

  @Override
  public boolean allocation(long file) {
    return newLengths;
  }

  @Override
  public int page(long file, int page, int versions) {
    if (file == otherPageFile && page == otherPage) {
      return otherPageVersion;
    }
    return newPages ? versions - 1 : 0;
  }

  @Override
  public int sector(long file, int page, int sector, int versions) {
    return (sector < headSectors) == headIsNew ? versions - 1 : 0;
  }
}
