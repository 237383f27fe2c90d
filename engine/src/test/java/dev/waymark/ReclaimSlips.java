package dev.waymark;

/** What planted mistakes do in place of the right thing, where it takes a store's insides. */
public final class ReclaimSlips {
  private ReclaimSlips() {}

  /** Gives back what is dead, and only then makes durable what says so. */
  public static long reclaimThenCommit(StoreEngine engine) {
    long bytes = engine.reclaim();
    engine.publisher.commit();
    return bytes;
  }
}
