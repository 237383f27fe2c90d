package dev.waymark;

import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Prompt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** Follows a prompt's chain as far as a forest has it, and says why not further. Pure. */
final class MatchWalk {
  private final Forest forest;
  private final NamespaceState namespace;
  private final BoundaryKey rootKey;
  private final Prompt prompt;
  private final int limitTokens;
  private final Function<BoundaryKey, DropReason> droppedWhy;
  private final List<BoundaryKey> keys = new ArrayList<>();
  private int[] points = new int[16];
  private int pointCount;
  private int branchTokens;
  private long bytesToRead;
  private MissReason why = MissReason.NONE;

  private MatchWalk(
      Forest forest,
      NamespaceState namespace,
      BoundaryKey rootKey,
      Prompt prompt,
      int limitTokens,
      Function<BoundaryKey, DropReason> droppedWhy) {
    this.forest = forest;
    this.namespace = namespace;
    this.rootKey = rootKey;
    this.prompt = prompt;
    this.limitTokens = limitTokens;
    this.droppedWhy = droppedWhy;
  }

  /**
   * Walks. The forest must not change meanwhile.
   *
   * @param rootKey of the namespace, or of a tenant
   * @param droppedWhy why a boundary went, as far as that is known, or null
   */
  static MatchWalk of(
      Forest forest,
      NamespaceState namespace,
      BoundaryKey rootKey,
      Prompt prompt,
      int limitTokens,
      Function<BoundaryKey, DropReason> droppedWhy) {
    MatchWalk walk = new MatchWalk(forest, namespace, rootKey, prompt, limitTokens, droppedWhy);
    walk.run();
    return walk;
  }

  private void run() {
    int block = namespace.layout().blockTokens();
    int blocks = prompt.wholeBlocks(block);
    KeyChain chain = new KeyChain();
    BoundaryKey parentKey = rootKey;
    int node = forest.find(namespace.id(), parentKey);
    long rowBytes = 0;
    int deepest = Forest.NONE;
    boolean needsPoints = namespace.layout().needsPoints();
    BoundaryKey missing = null;
    for (int i = 0; i < blocks; i++) {
      BoundaryKey key = prompt.key(chain, parentKey, i, block);
      int next = node == Forest.NONE ? Forest.NONE : forest.child(node, key);
      if (next == Forest.NONE) {
        missing = key;
        break;
      }
      node = next;
      parentKey = key;
      keys.add(key);
      rowBytes += forest.rowBytes(node);
      if ((!needsPoints || forest.isPoint(node)) && forest.tokens(node) <= limitTokens) {
        addPoint(forest.tokens(node));
        deepest = node;
        bytesToRead = rowBytes;
      }
    }
    if (missing != null && node != Forest.NONE && forest.firstChild(node) != Forest.NONE) {
      branchTokens = forest.tokens(node);
    }
    if (deepest != Forest.NONE) {
      bytesToRead += forest.pointBytes(deepest);
    }
    why = why(missing, block);
  }

  private MissReason why(BoundaryKey missing, int block) {
    int stored = keys.size() * block;
    int restorable = pointCount == 0 ? 0 : points[pointCount - 1];
    if (restorable < Math.min(stored, limitTokens / block * block)) {
      return MissReason.NO_STATE;
    }
    if (missing == null || restorable + block > limitTokens) {
      return MissReason.NONE;
    }
    DropReason reason = droppedWhy.apply(missing);
    if (reason == null) {
      return keys.isEmpty() && inAnotherNamespace()
          ? MissReason.OTHER_NAMESPACE
          : MissReason.ABSENT;
    }
    return missReason(reason);
  }

  /** What the reason of a drop means to who asks for what was dropped. */
  static MissReason missReason(DropReason reason) {
    return switch (reason) {
      case EVICTED, THINNED -> MissReason.EVICTED;
      case DISCARDED, WIPED -> MissReason.REMOVED;
      case DAMAGED, UNPROVEN -> MissReason.DAMAGED;
    };
  }

  private boolean inAnotherNamespace() {
    KeyChain chain = new KeyChain();
    for (NamespaceState other : forest.namespaces()) {
      int block = other.layout().blockTokens();
      if (other.id() != namespace.id() && prompt.lengthTokens() >= block) {
        BoundaryKey root = KeyChain.root(other.fingerprint().toBytes());
        BoundaryKey first = prompt.hasOwnKeys() ? null : prompt.key(chain, root, 0, block);
        if (first != null && forest.find(other.id(), first) != Forest.NONE) {
          return true;
        }
      }
    }
    return false;
  }

  private void addPoint(int tokens) {
    if (pointCount == points.length) {
      points = Arrays.copyOf(points, 2 * pointCount);
    }
    points[pointCount++] = tokens;
  }

  /** The keys of the boundaries that are stored, from the first on. */
  List<BoundaryKey> keys() {
    return keys;
  }

  /** Every restorable position within the limit, ascending. */
  int[] points() {
    return Arrays.copyOf(points, pointCount);
  }

  /** Where the prompt leaves what is stored while others go on; 0 if it does not. */
  int branchTokens() {
    return branchTokens;
  }

  /** Bytes of the records that a restore at the deepest point reads. */
  long bytesToRead() {
    return bytesToRead;
  }

  /** Why it does not reach deeper. */
  MissReason why() {
    return why;
  }

  /** One line that says how deep a match reaches, and why not deeper. */
  static String sentence(
      MissReason why, int storedTokens, int restorableTokens, int promptTokens, int blockTokens) {
    int next = storedTokens + blockTokens;
    String reason =
        switch (why) {
          case NONE -> "that is as deep as the limit allows";
          case ABSENT -> "the block up to " + next + " was never stored here";
          case EVICTED -> "the block up to " + next + " made room for others";
          case REMOVED -> "the block up to " + next + " was taken back or wiped";
          case DAMAGED -> "the block up to " + next + " was damaged";
          case NO_STATE -> "no deeper boundary has a restore point, though rows are stored";
          case OTHER_NAMESPACE ->
              "the prompt is stored in another namespace: something of the model's identity"
                  + " differs";
        };
    return "rows of "
        + storedTokens
        + " tokens are stored, "
        + restorableTokens
        + " of "
        + promptTokens
        + " are restorable: "
        + reason;
  }
}
