package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.manifest.DropReason;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Prompt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What a store has of a prompt, as it was when it was asked. Holds nothing: it may go stale. */
public final class PrefixMatch {
  private final StoreEngine engine;
  private final Namespace namespace;
  private final Prompt prompt;
  private final List<BoundaryKey> storedKeys;
  private final int[] points;
  private final int branchTokens;
  private final long bytesToRead;
  private final MissReason why;

  private PrefixMatch(
      StoreEngine engine,
      Namespace namespace,
      Prompt prompt,
      List<BoundaryKey> storedKeys,
      int[] points,
      int branchTokens,
      long bytesToRead,
      MissReason why) {
    this.engine = engine;
    this.namespace = namespace;
    this.prompt = prompt;
    this.storedKeys = storedKeys;
    this.points = points;
    this.branchTokens = branchTokens;
    this.bytesToRead = bytesToRead;
    this.why = why;
  }

  static PrefixMatch of(StoreEngine engine, Namespace namespace, Prompt prompt, int limitTokens) {
    Walk walk = new Walk(engine.forest, namespace, prompt, limitTokens);
    engine.publisher.read(
        () -> {
          walk.run(engine);
          return null;
        });
    return new PrefixMatch(
        engine,
        namespace,
        prompt,
        walk.keys,
        Arrays.copyOf(walk.points, walk.pointCount),
        walk.branchTokens,
        walk.bytesToRead,
        walk.why);
  }

  /** Follows a prompt's chain as far as it is stored. */
  private static final class Walk {
    private final Forest forest;
    private final Namespace namespace;
    private final Prompt prompt;
    private final int limitTokens;
    private final List<BoundaryKey> keys = new ArrayList<>();
    private int[] points = new int[16];
    private int pointCount;
    private int branchTokens;
    private long bytesToRead;
    private MissReason why = MissReason.NONE;

    Walk(Forest forest, Namespace namespace, Prompt prompt, int limitTokens) {
      this.forest = forest;
      this.namespace = namespace;
      this.prompt = prompt;
      this.limitTokens = limitTokens;
    }

    void run(StoreEngine engine) {
      NamespaceState state = namespace.state();
      int block = state.layout().blockTokens();
      int blocks = prompt.wholeBlocks(block);
      KeyChain chain = new KeyChain();
      BoundaryKey parentKey = namespace.rootKey();
      int node = forest.find(state.id(), parentKey);
      long rowBytes = 0;
      int deepest = Forest.NONE;
      BoundaryKey missing = null;
      for (int i = 0; i < blocks; i++) {
        BoundaryKey key = prompt.key(chain, parentKey, i, block);
        int next = node == Forest.NONE ? Forest.NONE : forest.find(state.id(), key);
        if (next == Forest.NONE || forest.parent(next) != node) {
          missing = key;
          break;
        }
        node = next;
        parentKey = key;
        keys.add(key);
        rowBytes += forest.rowBytes(node);
        if (forest.isRestorable(node) && forest.tokens(node) <= limitTokens) {
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
      why = why(engine, missing, block);
    }

    private MissReason why(StoreEngine engine, BoundaryKey missing, int block) {
      int stored = keys.size() * block;
      int restorable = pointCount == 0 ? 0 : points[pointCount - 1];
      if (restorable < Math.min(stored, limitTokens / block * block)) {
        return MissReason.NO_STATE;
      }
      if (missing == null || restorable + block > limitTokens) {
        return MissReason.NONE;
      }
      DropReason reason = engine.droppedWhy(missing);
      if (reason == null) {
        return keys.isEmpty() && inAnotherNamespace(engine)
            ? MissReason.OTHER_NAMESPACE
            : MissReason.ABSENT;
      }
      return switch (reason) {
        case EVICTED, THINNED -> MissReason.EVICTED;
        case DISCARDED, WIPED -> MissReason.REMOVED;
        case DAMAGED, UNPROVEN -> MissReason.DAMAGED;
      };
    }

    private boolean inAnotherNamespace(StoreEngine engine) {
      KeyChain chain = new KeyChain();
      for (NamespaceState other : forest.namespaces()) {
        int block = other.layout().blockTokens();
        if (other.id() != namespace.state().id() && prompt.lengthTokens() >= block) {
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
  }

  /** {@return tokens of the prompt} */
  public int promptTokens() {
    return prompt.lengthTokens();
  }

  /** {@return tokens, whole blocks, whose rows are stored} */
  public int storedTokens() {
    return storedKeys.size() * namespace.layout().blockTokens();
  }

  /** {@return tokens of the deepest restore point within the limit; 0 where there is none} */
  public int restorableTokens() {
    return points.length == 0 ? 0 : points[points.length - 1];
  }

  /** {@return tokens that a prefill from the deepest restore point has to compute} */
  public int residualTokens() {
    return promptTokens() - restorableTokens();
  }

  /**
   * {@return where the prompt leaves what is stored while others go on from there; 0 if it does
   * not}
   */
  public int branchTokens() {
    return branchTokens;
  }

  /**
   * {@return every restorable position within the limit, ascending: for ranks to agree on a common
   * one}
   */
  public int[] points() {
    return points.clone();
  }

  /** {@return bytes of the records that a restore at the deepest point reads} */
  public long bytesToRead() {
    return bytesToRead;
  }

  /** {@return why it does not reach deeper} */
  public MissReason why() {
    return why;
  }

  /** {@return one line that says how deep the match reaches, and why not deeper} */
  public String explain() {
    int next = storedTokens() + namespace.layout().blockTokens();
    String reason =
        switch (why) {
          case NONE -> "that is as deep as the limit allows";
          case ABSENT -> "the block up to " + next + " was never stored here";
          case EVICTED -> "the block up to " + next + " made room for others";
          case REMOVED -> "the block up to " + next + " was taken back or wiped";
          case DAMAGED -> "the block up to " + next + " was damaged";
          case NO_STATE -> "no deeper boundary has a restore point, though rows are stored";
          case OTHER_NAMESPACE ->
              "the prompt is stored in another namespace: something of the model's identity differs";
        };
    return "rows of "
        + storedTokens()
        + " tokens are stored, "
        + restorableTokens()
        + " of "
        + promptTokens()
        + " are restorable: "
        + reason;
  }

  /**
   * Pins the deepest restore point and returns what reads it.
   *
   * @return the state to read, which the caller closes
   * @throws InvalidArgumentException if there is none
   * @throws dev.waymark.error.StaleMatchException if it is not there any more; match again
   */
  public RestoredState restore() {
    return restore(restorableTokens());
  }

  /**
   * Pins a restore point of {@link #points()} and returns what reads it.
   *
   * @param tokens tokens of the point
   * @return the state to read, which the caller closes
   * @throws InvalidArgumentException if it is none of them
   * @throws dev.waymark.error.StaleMatchException if it is not there any more; match again
   */
  public RestoredState restore(int tokens) {
    engine.requireOpen();
    if (Arrays.binarySearch(points, tokens) < 0) {
      throw new InvalidArgumentException(
          ErrorDetail.of("no restore point was found at " + tokens + " tokens")
              .expected(points.length == 0 ? "a match with a point" : "one of points()")
              .found(tokens));
    }
    return RestoredState.open(engine, this, tokens);
  }

  Namespace namespace() {
    return namespace;
  }

  /** The key of the boundary at a number of tokens, the root key at 0. */
  BoundaryKey keyAt(int tokens) {
    return tokens == 0
        ? namespace.rootKey()
        : storedKeys.get(tokens / namespace.layout().blockTokens() - 1);
  }

  int nextShallower(int tokens) {
    int shallower = 0;
    for (int point : points) {
      if (point < tokens) {
        shallower = point;
      }
    }
    return shallower;
  }
}
