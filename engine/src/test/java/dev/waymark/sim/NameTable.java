package dev.waymark.sim;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The names of a directory as they are, as they are durable, and the changes in between.
 *
 * <p>Invariant: applying all changes to the durable names gives the present ones.
 */
final class NameTable {
  private final TreeMap<String, Inode> present = new TreeMap<>();
  private final TreeMap<String, Inode> durable = new TreeMap<>();
  private final List<NameChange> changes = new ArrayList<>();

  Inode get(String name) {
    return present.get(name);
  }

  Set<String> names() {
    return Collections.unmodifiableSet(present.keySet());
  }

  Collection<Inode> inodes() {
    return present.values();
  }

  void change(NameChange change) {
    change.apply(present);
    changes.add(change);
  }

  void force(boolean strict) {
    for (NameChange change : changes) {
      if (!strict || change.standing() == NameChange.Standing.PENDING) {
        change.setStanding(NameChange.Standing.CERTAIN);
      }
    }
    fold();
  }

  void failForce() {
    for (NameChange change : changes) {
      if (change.standing() == NameChange.Standing.PENDING) {
        change.setStanding(NameChange.Standing.DOUBTFUL);
      }
    }
  }

  /** Changes that a power loss may undo, in order. */
  List<NameChange> open() {
    List<NameChange> open = new ArrayList<>(changes);
    open.removeIf(change -> change.standing() == NameChange.Standing.CERTAIN);
    return open;
  }

  /** Every file that some state after a power loss has, with a name that it has or had. */
  Map<Inode, String> reachable() {
    Map<Inode, String> all = new LinkedHashMap<>();
    durable.forEach((name, inode) -> all.put(inode, name));
    for (NameChange change : changes) {
      if (change.kind != NameChange.Kind.DELETE) {
        all.put(change.inode, change.to);
      }
    }
    present.forEach((name, inode) -> all.put(inode, name));
    return all;
  }

  /** Names that a power loss leaves. */
  NavigableMap<String, Inode> afterPowerLoss(CrashChoices choices) {
    NavigableMap<String, Inode> names = new TreeMap<>(durable);
    int open = 0;
    for (NameChange change : changes) {
      if (change.standing() == NameChange.Standing.CERTAIN || choices.survives(open++)) {
        change.apply(names);
      }
    }
    return names;
  }

  /** All of it, over copies of the files. */
  NameTable copy(Map<Inode, Inode> copies) {
    NameTable copy = new NameTable();
    present.forEach((name, inode) -> copy.present.put(name, copies.get(inode)));
    durable.forEach((name, inode) -> copy.durable.put(name, copies.get(inode)));
    for (NameChange change : changes) {
      copy.changes.add(change.with(copies.get(change.inode)));
    }
    return copy;
  }

  /** Names that are durable, over those files. */
  static NameTable durable(Map<String, Inode> names) {
    NameTable table = new NameTable();
    table.present.putAll(names);
    table.durable.putAll(names);
    return table;
  }

  /**
   * Moves what is certain into the durable names, where nothing earlier in doubt touches the same
   * names; and forgets what is in doubt but overwritten by what is certain.
   */
  private void fold() {
    Set<String> overwritten = new HashSet<>();
    for (int i = changes.size() - 1; i >= 0; i--) {
      NameChange change = changes.get(i);
      if (change.standing() == NameChange.Standing.CERTAIN) {
        overwritten.add(change.decides());
      } else if (overwritten.contains(change.from) && overwritten.contains(change.to)) {
        changes.remove(i);
      }
    }
    Set<String> doubted = new HashSet<>();
    for (Iterator<NameChange> each = changes.iterator(); each.hasNext(); ) {
      NameChange change = each.next();
      boolean free = !doubted.contains(change.from) && !doubted.contains(change.to);
      if (free && change.standing() == NameChange.Standing.CERTAIN) {
        change.apply(durable);
        each.remove();
      } else {
        doubted.add(change.from);
        doubted.add(change.to);
      }
    }
  }
}
