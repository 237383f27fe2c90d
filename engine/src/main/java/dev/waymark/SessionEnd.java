package dev.waymark;

import dev.waymark.error.DiskFullException;
import dev.waymark.internal.forest.OpenSession;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.SessionOutcome;
import dev.waymark.internal.recover.RecoveryPlanner;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The edits by which a session that was not completed ends: what it takes back, if it discards, and
 * that it is closed. They may be written at another time, where the disk is too full for them now.
 *
 * <p>Invariant: until it is done, the session is open in the forest; so whatever was not dropped is
 * dropped by the next {@link #run}, or by recovery.
 */
final class SessionEnd {
  private static final int STEP_DROPS = 64;

  /** Steps into what the manifest holds back, of which each takes about an eighth. */
  private static final int MOST_SQUEEZED = 4;

  private final StoreEngine engine;
  private final long sessionId;
  private final SessionOutcome outcome;
  private final ReentrantLock running = new ReentrantLock();
  private int squeezed;
  private volatile boolean done;

  SessionEnd(StoreEngine engine, long sessionId, SessionOutcome outcome) {
    this.engine = engine;
    this.sessionId = sessionId;
    this.outcome = outcome;
  }

  boolean isDone() {
    return done;
  }

  /**
   * Writes what is not written yet; what another thread is at is left to it.
   *
   * @throws DiskFullException if there is no room for all of it; what was written stays
   */
  void run() {
    if (!running.tryLock()) {
      return;
    }
    try {
      while (!done) {
        engine.publisher.write(
            () -> {
              step();
              return null;
            });
        if (squeezed > 0 && !done) {
          // What the step dropped may make room for the next.
          engine.publisher.commit();
          engine.reclaim();
        }
      }
    } finally {
      running.unlock();
    }
  }

  private void step() {
    OpenSession session = engine.forest.session(sessionId);
    if (outcome == SessionOutcome.DISCARDED) {
      requireRoom(session);
      if (!RecoveryPlanner.discardEdits(
          engine.forest, session, DropReason.DISCARDED, STEP_DROPS, engine::publishDrop)) {
        return;
      }
    }
    engine.publisher.publish(
        new Edit.SessionClosed(sessionId, outcome, engine.clockMillis.getAsLong()));
    done = true;
  }

  /** Others have to free space too: not all that is held back for that may be used up here. */
  private void requireRoom(OpenSession session) {
    int most = 2 * session.points().length + 2 * session.boundaries().length + 1;
    try {
      engine.publisher.requireRoom(Math.min(most, STEP_DROPS), 0);
      squeezed = 0;
    } catch (DiskFullException e) {
      if (squeezed == MOST_SQUEEZED) {
        throw e;
      }
      squeezed++;
    }
  }
}
