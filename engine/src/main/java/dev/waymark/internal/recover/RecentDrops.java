package dev.waymark.internal.recover;

import dev.waymark.internal.manifest.DropReason;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.layout.BoundaryKey;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Why boundaries and points went of which someone may still ask; the oldest are forgotten. */
public final class RecentDrops {
  private static final int MOST = 8_192;

  private final Map<BoundaryKey, DropReason> rows = new Bounded();
  private final Map<BoundaryKey, DropReason> points = new Bounded();

  private static final class Bounded extends LinkedHashMap<BoundaryKey, DropReason> {
    private static final long serialVersionUID = 1L;

    @Override
    protected boolean removeEldestEntry(Map.Entry<BoundaryKey, DropReason> eldest) {
      return size() > MOST;
    }
  }

  /** Takes note of an edit, if it drops something. */
  public void note(Edit edit) {
    if (edit instanceof Edit.RowsDropped e) {
      rows.put(e.key(), e.reason());
    } else if (edit instanceof Edit.PointDropped e) {
      points.put(e.key(), e.reason());
    }
  }

  /** Why a boundary went, or null. */
  public DropReason rows(BoundaryKey key) {
    return rows.get(key);
  }

  /** Why a boundary's point went, or null. */
  public DropReason point(BoundaryKey key) {
    return points.get(key);
  }

  /** Why the boundaries went whose keys start with those hex digits. */
  public List<DropReason> rows(String keyPrefix) {
    List<DropReason> reasons = new ArrayList<>();
    rows.forEach(
        (key, reason) -> {
          if (key.toHex().startsWith(keyPrefix)) {
            reasons.add(reason);
          }
        });
    return reasons;
  }
}
