package dev.waymark.internal.forest;

import dev.waymark.internal.manifest.Edit;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A session that has not been closed, with the boundaries and points that would go if it took back
 * what only it uses.
 */
public final class OpenSession {
  private final Edit.SessionOpened opened;
  final Set<Integer> boundaries = new LinkedHashSet<>();
  final Set<Integer> points = new LinkedHashSet<>();

  OpenSession(Edit.SessionOpened opened) {
    this.opened = opened;
  }

  /** How it was opened. */
  public Edit.SessionOpened opened() {
    return opened;
  }

  /** Its number. */
  public long id() {
    return opened.sessionId();
  }

  /** Boundaries that it added, or shares with other open sessions; oldest first. */
  public int[] boundaries() {
    return boundaries.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Boundaries whose point it added, or shares with other open sessions; oldest first. */
  public int[] points() {
    return points.stream().mapToInt(Integer::intValue).toArray();
  }
}
