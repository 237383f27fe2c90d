package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Prompt;
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
    MatchWalk walk =
        engine.publisher.read(
            () ->
                MatchWalk.of(
                    engine.forest,
                    namespace.state(),
                    namespace.rootKey(),
                    prompt,
                    limitTokens,
                    engine::droppedWhy));
    engine.counters.matches.increment();
    if (walk.points().length > 0) {
      engine.counters.matchHits.increment();
    }
    return new PrefixMatch(
        engine,
        namespace,
        prompt,
        walk.keys(),
        walk.points(),
        walk.branchTokens(),
        walk.bytesToRead(),
        walk.why());
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
    return MatchWalk.sentence(
        why, storedTokens(), restorableTokens(), promptTokens(), namespace.layout().blockTokens());
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

  /** The deepest point below so many tokens that is there now, or 0. */
  int nextRestorable(int belowTokens) {
    return engine.publisher.read(
        () -> {
          Forest forest = engine.forest;
          for (int i = points.length - 1; i >= 0; i--) {
            int node =
                points[i] < belowTokens
                    ? forest.find(namespace.state().id(), keyAt(points[i]))
                    : Forest.NONE;
            if (node != Forest.NONE && forest.isRestorable(node)) {
              return points[i];
            }
          }
          return 0;
        });
  }
}
