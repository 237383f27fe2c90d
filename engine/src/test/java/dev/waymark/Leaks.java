package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

/** What a session may not leave behind in memory, however it ended. */
final class Leaks {
  private Leaks() {}

  /** Nothing holds a boundary, reserves room or memory, or waits for an edit that never comes. */
  static void check(TestStore test) {
    StoreEngine engine = test.store().engine();
    assertThat(engine.sessions).isEmpty();
    assertThat(engine.forest.sessions()).isEmpty();
    assertThat(engine.forest.heldNodes()).isEmpty();
    assertThat(engine.space.gate().reservedBytes()).isZero();
    long all = engine.options.heldStateBytes();
    assertThat(engine.takeHeld(all)).as("memory for held state is all there").isTrue();
    engine.giveHeld(all);
    test.check();
    // A segment stays while a record in it waits for its edit.
    if (test.store().stats().boundaries() == 0) {
      engine.publisher.sealAll();
      engine.reclaim();
      assertThat(test.store().stats().segments()).isZero();
    }
  }
}
