package dev.waymark.sim;

import java.util.Map;

/**
 * One creation, rename or removal that is not folded into the durable names yet. Atomic: it
 * survives or it does not.
 */
final class NameChange {
  enum Kind {
    CREATE,
    RENAME,
    DELETE
  }

  /** How sure it is that the change survives a power loss. */
  enum Standing {
    /** Not forced yet. */
    PENDING,
    /** A force failed; a later one may not help. */
    DOUBTFUL,
    /** Forced, but something earlier that touches the same names is not. */
    CERTAIN
  }

  final Kind kind;
  final String from;
  final String to;
  final Inode inode;
  private Standing standing = Standing.PENDING;

  NameChange(Kind kind, String from, String to, Inode inode) {
    this.kind = kind;
    this.from = from;
    this.to = to;
    this.inode = inode;
  }

  /** The same change of a copy of the file. */
  NameChange with(Inode copy) {
    NameChange change = new NameChange(kind, from, to, copy);
    change.standing = standing;
    return change;
  }

  Standing standing() {
    return standing;
  }

  void setStanding(Standing value) {
    standing = value;
  }

  /**
   * Makes the change. Goes by the file and not by the name, so that it means the same if earlier
   * changes did not survive: a rename whose source was never created still brings its file.
   */
  void apply(Map<String, Inode> names) {
    if (kind == Kind.DELETE) {
      names.remove(from);
      return;
    }
    if (kind == Kind.RENAME && names.get(from) == inode) {
      names.remove(from);
    }
    names.put(to, inode);
  }

  /** The name whose file it decides, whatever was there before. */
  String decides() {
    return kind == Kind.DELETE ? from : to;
  }

  @Override
  public String toString() {
    return switch (kind) {
      case CREATE -> "create " + to;
      case RENAME -> "rename " + from + " -> " + to;
      case DELETE -> "delete " + from;
    };
  }
}
