package dev.waymark;

import dev.waymark.error.BackPressureException;
import dev.waymark.error.BoundaryMismatchException;
import dev.waymark.error.ClosedException;
import dev.waymark.error.ConcurrentUseException;
import dev.waymark.error.DiskFullException;
import dev.waymark.error.DurabilityLostException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.error.ViewMismatchException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.io.Closing;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.SessionOutcome;
import dev.waymark.internal.retain.PointPlan;
import dev.waymark.internal.watch.Watch;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Growth;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * One prefill on its way into the store: block after block from where it started. For one thread at
 * a time, except that any thread may abort or close it, which waits for the call that is under way.
 *
 * <p>Closed before {@link #promptComplete()}, it is aborted as its plan says.
 */
public final class PrefillSession implements AutoCloseable {
  private static final byte[] NO_EXTRA = {};

  /** A boundary, whose else it is, and its point. */
  private static final int MOST_EDITS = 3;

  private final StoreEngine engine;
  private final NamespaceState state;
  private final Layout layout;
  private final PrefillPlan plan;
  private final Durability durability;
  private final BackPressure backPressure;
  private final PointPlan points;
  private final ViewChecks checks;
  private final SessionRecords records;
  private final DurablePrefix durablePrefix;
  private final long sessionId;
  private final long startDurable;
  private final KeyChain keys = new KeyChain();
  private final ReentrantLock calls = new ReentrantLock();

  private Forest.Hold tip;
  private BoundaryKey tipKey;
  private int tokens;
  private long lastNumber;
  private HeldPoint held;
  private SessionEnd sessionEnd;
  private boolean complete;
  private volatile boolean ended;
  private volatile boolean ending;

  private PrefillSession(
      StoreEngine engine,
      Namespace namespace,
      PrefillPlan plan,
      SessionStart start,
      long sessionId) {
    this.engine = engine;
    this.state = namespace.state();
    this.layout = state.layout();
    this.plan = plan;
    this.durability = plan.durability() == null ? engine.options.durability() : plan.durability();
    this.backPressure =
        plan.backPressure() == null ? engine.options.backPressure() : plan.backPressure();
    this.points = start.points();
    this.checks = new ViewChecks(layout);
    this.records = new SessionRecords(engine, state, start.reservation(), start.promise());
    this.durablePrefix = new DurablePrefix(engine.publisher);
    this.sessionId = sessionId;
    this.tip = start.tip();
    this.tipKey = start.tipKey();
    this.tokens = start.tokens();
    // What it starts from may not be durable yet, and may yet be lost; but it is before the
    // session's own edit.
    this.startDurable = engine.publisher.durable();
    this.lastNumber = engine.publisher.published();
    this.durablePrefix.reach(lastNumber, tokens);
  }

  /** Makes the room that the start needs, and begins; the start is used up either way. */
  static PrefillSession open(
      StoreEngine engine, Namespace namespace, PrefillPlan plan, SessionStart start) {
    try {
      start.makeRoom();
      return engine.publisher.write(
          () -> {
            engine.requireOpen();
            start.requireThere();
            long sessionId = engine.forest.nextSessionId();
            List<Integer> shared = sharedWithOthers(engine.forest, start.tip().node());
            engine.publisher.requireRoom(1 + shared.size(), 0);
            engine.publisher.publish(
                new Edit.SessionOpened(
                    sessionId,
                    namespace.state().id(),
                    start.tokens(),
                    plan.expectedTokens(),
                    plan.policy(),
                    plan.abortMode(),
                    engine.clockMillis.getAsLong()));
            PrefillSession session = new PrefillSession(engine, namespace, plan, start, sessionId);
            shared.forEach(node -> session.useExisting(node, engine.forest.key(node)));
            engine.sessions.add(session);
            return session;
          });
    } catch (RuntimeException | Error e) {
      start.abandon();
      throw e;
    }
  }

  /** Where a session goes on from, and what of it open sessions may take back; shallow first. */
  private static List<Integer> sharedWithOthers(Forest forest, int tip) {
    Deque<Integer> nodes = new ArrayDeque<>();
    for (int node = tip;
        forest.tokens(node) > 0 && (node == tip || !forest.users(node).isEmpty());
        node = forest.parent(node)) {
      nodes.addFirst(node);
    }
    return List.copyOf(nodes);
  }

  /**
   * {@return tokens of the prefix up to the last boundary that was appended, or where it started}
   */
  public int tokens() {
    return tokens;
  }

  /** {@return tokens of the prefix up to the last boundary that is known to be durable} */
  public int durableTokens() {
    return durablePrefix.tokens();
  }

  /** Boundaries that it remembers until they are durable. */
  int undurableBoundaries() {
    return durablePrefix.waiting();
  }

  /**
   * {@return the next boundary at which window and fixed state will be asked for, so that a chunk
   * of the prefill can end there; 0 where none is left within the expected prompt}
   */
  public int nextPointTokens() {
    return points.nextPointTokens(tokens);
  }

  /**
   * Stores the blocks of the next tokens.
   *
   * <p>Views stand for the state after all these tokens. Rows are taken for every whole block;
   * window and fixed state only at the last boundary, if a point is to be there, and only if no
   * tokens are left behind it. Where no point is to be, their views may be left out, but for those
   * of window tensors with sinks as long as the blocks hold sinks.
   *
   * @param blockTokenIds token ids that follow those appended before
   * @param views where the state stands in memory after all these tokens
   * @return what was stored, and when it is durable
   * @throws BoundaryMismatchException if the rows of a view end elsewhere
   * @throws ViewMismatchException if a view is missing, too short or of another shape
   * @throws BackPressureException if too much is on its way to the disk, under {@link
   *     BackPressure#FAIL}; nothing was stored, and the session goes on
   */
  public AppendReceipt append(int[] blockTokenIds, StateViews views) {
    return append(blockTokenIds, NO_EXTRA, views);
  }

  /**
   * Stores the blocks of the next tokens, which an extra key (an adapter, an image) tells from
   * others of the same tokens.
   *
   * @param blockTokenIds token ids that follow those appended before
   * @param extraKey bytes that tell these blocks from others of the same tokens
   * @param views where the state stands in memory after all these tokens
   * @return what was stored, and when it is durable
   */
  public AppendReceipt append(int[] blockTokenIds, byte[] extraKey, StateViews views) {
    int block = layout.blockTokens();
    return guarded(
        () -> {
          int whole = blockTokenIds.length / block;
          List<BoundaryKey> chain = new ArrayList<>(whole);
          BoundaryKey parent = tipKey;
          for (int i = 0; i < whole; i++) {
            parent = keys.next(parent, blockTokenIds, i * block, block, extraKey);
            chain.add(parent);
          }
          return appendTimed(chain, blockTokenIds.length - whole * block, Wanted.AS_PLANNED, views);
        });
  }

  /**
   * Stores the next blocks under keys that the caller made.
   *
   * @param blockKeys the keys, each for its block and all before it
   * @param views where the state stands in memory after all these tokens
   * @return what was stored, and when it is durable
   */
  public AppendReceipt append(List<BoundaryKey> blockKeys, StateViews views) {
    // The caller's list is not looked at under the store's locks.
    return guarded(() -> appendTimed(List.copyOf(blockKeys), 0, Wanted.AS_PLANNED, views));
  }

  /**
   * Stores the next blocks under keys that the caller made, and makes a restore point of the last
   * one or not, as the caller says, wherever the policy would have one: for chains that come from
   * elsewhere, whose points are where they are. Under {@link RestorePolicy#EVERY} all of them stay.
   *
   * @param blockKeys the keys, each for its block and all before it
   * @param views where the state stands in memory after all these tokens
   * @param point whether the last boundary is to be a restore point; its window and fixed state
   *     then need views
   * @return what was stored, and when it is durable
   * @throws BoundaryMismatchException if the rows of a view end elsewhere
   * @throws ViewMismatchException if a view is missing, too short or of another shape
   * @throws BackPressureException if too much is on its way to the disk, under {@link
   *     BackPressure#FAIL}; nothing was stored, and the session goes on
   */
  public AppendReceipt append(List<BoundaryKey> blockKeys, StateViews views, boolean point) {
    Wanted wanted = point ? Wanted.POINT : Wanted.ROWS;
    return guarded(() -> appendTimed(List.copyOf(blockKeys), 0, wanted, views));
  }

  /** Who says whether the last block of an append becomes a point. */
  private enum Wanted {
    AS_PLANNED,
    POINT,
    ROWS
  }

  private interface Call<T> {
    T run();
  }

  private <T> T guarded(Call<T> call) {
    // One call inside another happens only in what depends on a receipt.
    if (calls.isHeldByCurrentThread() || !calls.tryLock()) {
      if (ending) {
        throw ended();
      }
      throw concurrent();
    }
    try {
      requireUsable();
      return call.run();
    } finally {
      calls.unlock();
    }
  }

  private static ConcurrentUseException concurrent() {
    return new ConcurrentUseException(
        ErrorDetail.of("two threads use one session, or a call from inside another")
            .expected("one call at a time")
            .remedy("give each thread a session of its own"));
  }

  private void requireUsable() {
    engine.requireOpen();
    if (ended || ending) {
      throw ended();
    }
    requireTip();
  }

  private void requireTip() {
    if (!tip.isValid()) {
      throw new StaleMatchException(
          ErrorDetail.of("the chain under the session was lost to damage or to a device error")
              .remedy("abort the session and match again"));
    }
  }

  private static ClosedException ended() {
    return new ClosedException(
        ErrorDetail.of("the session was completed, aborted or closed")
            .remedy("match again and start another"));
  }

  private AppendReceipt appendTimed(
      List<BoundaryKey> chain, int tail, Wanted wanted, StateViews views) {
    Watch.Span span = engine.watch.begin(Watch.Kind.APPEND);
    AppendReceipt receipt = engine.refusing(() -> appendBlocks(chain, tail, wanted, views));
    span.end(receipt.appendedBytes());
    return receipt;
  }

  private AppendReceipt appendBlocks(
      List<BoundaryKey> chain, int tail, Wanted wanted, StateViews views) {
    int block = layout.blockTokens();
    long end = (long) tokens + (long) chain.size() * block + tail;
    if (end > Integer.MAX_VALUE) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a prefix is too long").expected("below 2^31 tokens").found(end));
    }
    checks.end(views, (int) end);
    int to = tokens + chain.size() * block;
    Newest newest = newest(to, tail == 0, wanted, views);
    Ahead ahead = engine.publisher.read(() -> lookAhead(chain));
    checkHeld(views, ahead, to, newest);
    engine.budget.require(1);
    boolean skipped = !takeOff(ahead, to, newest);
    newest = skipped ? Newest.LEFT_OUT : newest;
    try {
      return appendBlocks(chain, tail, views, newest, skipped);
    } finally {
      records.land();
    }
  }

  private AppendReceipt appendBlocks(
      List<BoundaryKey> chain, int tail, StateViews views, Newest newest, boolean skipped) {
    int block = layout.blockTokens();
    int to = tokens + chain.size() * block;
    boolean holds = newest == Newest.HELD && takeHeld(to);
    long bytes = 0;
    boolean pointAdded = false;
    for (int i = 0; i < chain.size(); i++) {
      boolean last = i == chain.size() - 1;
      boolean point = last && newest == Newest.POINT;
      Outcome outcome = appendBlock(chain.get(i), tokens + block, point, views);
      if (last && holds) {
        // Not before: until its successor is there, the boundary held so far is the newest.
        held.replace(to, views);
      }
      bytes += outcome.bytes();
      pointAdded = outcome.pointAdded();
      if (outcome.bytes() > 0
          && durability != Durability.COMMIT
          && backPressure == BackPressure.BLOCK) {
        // After each block, so that what waits for a force is bounded however many there are.
        engine.afterAppend(durability, lastNumber);
      }
    }
    if (durability == Durability.COMMIT) {
      engine.publisher.commit(lastNumber);
    }
    CompletableFuture<Void> durable = engine.publisher.whenDurable(lastNumber);
    return new AppendReceipt(tokens, tail, bytes, pointAdded, skipped, durable);
  }

  /**
   * Takes room in flight for all that an append will write, where it is not to wait for it.
   *
   * @return false if its point is to be left out
   * @throws BackPressureException if it is to fail
   */
  private boolean takeOff(Ahead ahead, int to, Newest newest) {
    boolean point = newest == Newest.POINT && !ahead.isPoint();
    if (backPressure == BackPressure.BLOCK
        || (backPressure == BackPressure.WIDEN && !(point && points.isSpare(to)))) {
      records.takeOffWaiting();
      return true;
    }
    long bytes = records.mostRowBytes(tipKey, ahead.storedTokens(), to);
    bytes += point ? records.mostPointBytes(tipKey, to, ahead.coveredTo()) : 0;
    if (records.tryTakeOff(bytes)) {
      return true;
    }
    if (backPressure == BackPressure.WIDEN) {
      engine.counters.skippedPoints.increment();
      return false;
    }
    throw records.tooMuchInFlight(bytes);
  }

  /** What becomes of the window and the fixed state at the last boundary of an append. */
  private enum Newest {
    LEFT_OUT,
    POINT,
    HELD
  }

  private Newest newest(int to, boolean ends, Wanted wanted, StateViews views) {
    if (to == tokens || !ends || wanted == Wanted.ROWS) {
      return Newest.LEFT_OUT;
    }
    if (wanted == Wanted.POINT) {
      return layout.needsPoints() ? Newest.POINT : Newest.LEFT_OUT;
    }
    if (points.wants(to)) {
      return Newest.POINT;
    }
    return complete && canHold(views) ? Newest.HELD : Newest.LEFT_OUT;
  }

  /**
   * What of the blocks to come is stored already.
   *
   * @param storedTokens tokens up to the last of them that is
   * @param isPoint whether the last block's boundary is a restore point
   * @param coveredTo first window row that a point there would have to write
   */
  private record Ahead(int storedTokens, boolean isPoint, int coveredTo) {}

  private Ahead lookAhead(List<BoundaryKey> chain) {
    requireTip();
    Forest forest = engine.forest;
    Set<BoundaryKey> seen = new HashSet<>();
    int node = tip.node();
    int parent = node;
    int stored = tokens;
    int last = Forest.NONE;
    for (int i = 0; i < chain.size(); i++) {
      int next = forest.find(state.id(), chain.get(i));
      if (!seen.add(chain.get(i)) || (next != Forest.NONE && forest.parent(next) != node)) {
        throw new BoundaryMismatchException(
            ErrorDetail.of("a key stands for another boundary already")
                .expected("the key of one block and of all before it")
                .found("the key of a block that ends elsewhere, or follows another")
                .remedy("give each boundary a key of its own"));
      }
      parent = i == chain.size() - 1 || next == Forest.NONE ? parent : next;
      last = i == chain.size() - 1 ? next : last;
      stored += next == Forest.NONE ? 0 : layout.blockTokens();
      node = next;
    }
    int to = tokens + chain.size() * layout.blockTokens();
    boolean covered = last != Forest.NONE && forest.hasUsableDelta(last);
    boolean isPoint = last != Forest.NONE && forest.isPoint(last);
    return new Ahead(stored, isPoint, covered ? to : forest.coveredTo(parent, to));
  }

  /** Views hold what will be taken from them: of all blocks, before the first is written. */
  private void checkHeld(StateViews views, Ahead ahead, int to, Newest newest) {
    checks.rows(views, ahead.storedTokens(), to);
    if (newest == Newest.HELD) {
      checks.point(views, 0, to);
    } else if (newest == Newest.POINT && !ahead.isPoint()) {
      checks.point(views, ahead.coveredTo(), to);
    }
  }

  private record Outcome(long bytes, boolean pointAdded) {}

  private Outcome appendBlock(BoundaryKey key, int to, boolean wantPoint, StateViews views) {
    BoundaryDraft draft = new BoundaryDraft(records, key, tipKey, tokens, to, views);
    while (true) {
      writeNeeds(draft, () -> needs(draft, wantPoint));
      Outcome outcome = engine.publisher.write(() -> publish(draft, wantPoint));
      if (outcome != null) {
        return outcome;
      }
    }
  }

  /**
   * What of a boundary must be written, as far as it was not.
   *
   * @param coveredTo first window row that it has to write; the boundary itself where there is none
   */
  private record Needs(boolean rows, boolean state, int coveredTo) {}

  /** Nothing of the draft is left behind where that fails. */
  private void writeNeeds(BoundaryDraft draft, Supplier<Needs> needs) {
    try {
      Needs needed = engine.publisher.read(needs);
      if (needed.rows() && !draft.hasRows()) {
        draft.writeRows();
      }
      if (needed.coveredTo() < draft.to() && !draft.hasDelta(needed.coveredTo())) {
        draft.writeDelta(needed.coveredTo());
      }
      if (needed.state() && !draft.hasState()) {
        draft.writeState();
      }
    } catch (RuntimeException | Error e) {
      engine.publisher.write(
          () -> {
            draft.discardLocked();
            return null;
          });
      throw e;
    }
  }

  private Needs needs(BoundaryDraft draft, boolean wantPoint) {
    requireTip();
    Forest forest = engine.forest;
    int node = forest.find(state.id(), draft.key());
    boolean point = wantPoint && (node == Forest.NONE || !forest.isPoint(node));
    return new Needs(node == Forest.NONE, point, point ? coveredTo(draft, node) : draft.to());
  }

  /** First window row that a point of the draft has to write; its boundary where there is none. */
  private int coveredTo(BoundaryDraft draft, int node) {
    Forest forest = engine.forest;
    return layout.maxWindowTokens() == 0 || (node != Forest.NONE && forest.hasUsableDelta(node))
        ? draft.to()
        : forest.coveredTo(tip.node(), draft.to());
  }

  /**
   * Makes the boundary and its point visible; null where something must be written first. The
   * caller is inside a write.
   */
  private Outcome publish(BoundaryDraft draft, boolean wantPoint) {
    Forest forest = engine.forest;
    if (ending || engine.isClosed() || !tip.isValid()) {
      draft.discardLocked();
      requireTip();
      throw ended();
    }
    int node = forest.find(state.id(), draft.key());
    boolean point = wantPoint && (node == Forest.NONE || !forest.isPoint(node));
    int coveredTo = point ? coveredTo(draft, node) : draft.to();
    if ((node == Forest.NONE && !draft.hasRows())
        || (point && !draft.hasState())
        || (coveredTo < draft.to() && !draft.hasDelta(coveredTo))) {
      return null;
    }
    requireManifestRoom(draft);
    long bytes = 0;
    if (node == Forest.NONE) {
      bytes += publishRows(draft);
      node = forest.find(state.id(), draft.key());
    } else {
      useExisting(node, draft.key());
    }
    if (point) {
      bytes += publishPoint(draft, coveredTo < draft.to());
    }
    draft.discardLocked();
    if (forest.isPoint(node)) {
      points.added(draft.to());
    }
    advance(node, draft.key(), draft.to());
    engine.counters.appendedBytes.add(bytes);
    engine.publisher.addUnforced(bytes);
    return new Outcome(bytes, point);
  }

  /** For all edits of a boundary, or for none of them: then what was written is dead. */
  private void requireManifestRoom(BoundaryDraft draft) {
    try {
      engine.publisher.requireRoom(MOST_EDITS, draft.recordCount());
    } catch (DiskFullException e) {
      draft.discardLocked();
      throw e;
    }
  }

  private long publishRows(BoundaryDraft draft) {
    Written rows = draft.takeRows();
    lastNumber =
        engine.publisher.publish(
            new Edit.RowsAdded(
                state.id(),
                draft.key(),
                draft.parentKey(),
                complete ? 0 : sessionId,
                draft.from(),
                draft.to(),
                engine.segments.takeSequence(),
                engine.clockMillis.getAsLong(),
                rows.rawBytes(),
                rows.locations()));
    records.published(rows);
    return rows.rawBytes();
  }

  private long publishPoint(BoundaryDraft draft, boolean withDelta) {
    Written delta = withDelta ? draft.takeDelta() : Written.NOTHING;
    Written fixed = draft.takeState();
    lastNumber =
        engine.publisher.publish(
            new Edit.PointAdded(
                state.id(),
                draft.key(),
                complete ? 0 : sessionId,
                draft.coveredTo(),
                engine.segments.takeSequence(),
                engine.clockMillis.getAsLong(),
                delta.rawBytes(),
                fixed.rawBytes(),
                delta.locations(),
                fixed.locations()));
    records.published(delta);
    records.published(fixed);
    return delta.rawBytes() + fixed.rawBytes();
  }

  /**
   * What another open session may take back here, the boundary or its point alone, is shared with
   * it from now on; what a completed session comes to is nobody's to take back. That it is there
   * does not make it durable, nor that the session which added it was completed: this session waits
   * for the last edit up to here, whosever it is.
   */
  private void useExisting(int node, BoundaryKey key) {
    lastNumber = Math.max(lastNumber, engine.publisher.published());
    if (engine.forest.isUsedByOthersOnly(node, sessionId)) {
      lastNumber = engine.publisher.publish(new Edit.BoundaryUsed(sessionId, state.id(), key));
    }
  }

  private void advance(int node, BoundaryKey key, int to) {
    Forest.Hold before = tip;
    tip = engine.forest.hold(node);
    engine.forest.release(before);
    tipKey = key;
    tokens = to;
    durablePrefix.reach(lastNumber, to);
  }

  // The newest point of a session that generates

  /** Takes the memory for a copy of the state at a boundary; false where there is none left. */
  private boolean takeHeld(int to) {
    if (held == null) {
      if (!engine.takeHeld(HeldPoint.bytes(layout))) {
        return false;
      }
      held = new HeldPoint(layout);
    }
    held.makeRoom(to);
    return true;
  }

  private boolean canHold(StateViews views) {
    if (!layout.needsPoints() || !HeldPoint.fits(layout)) {
      return false;
    }
    for (TensorSpec spec : layout.tensors()) {
      if (!(spec.growth() instanceof Growth.Rows) && views.get(spec) == null) {
        return false;
      }
    }
    return true;
  }

  private void writeHeld() {
    if (held != null && tokens > 0 && held.tokens() == tokens && tip.isValid()) {
      addPointAtTip(held.views());
    }
  }

  private void dropHeld() {
    if (held != null) {
      held = null;
      engine.giveHeld(HeldPoint.bytes(layout));
    }
  }

  /**
   * Adds a point to the boundary that was reached, if it has none.
   *
   * @throws StaleMatchException if the boundary was lost; nothing is left behind
   */
  private void addPointAtTip(StateViews views) {
    BoundaryKey parentKey = engine.publisher.read(this::tipParentKey);
    int from = tokens - layout.blockTokens();
    BoundaryDraft draft = new BoundaryDraft(records, tipKey, parentKey, from, tokens, views);
    do {
      writeNeeds(draft, this::needsAtTip);
    } while (!engine.publisher.write(() -> publishAtTip(draft)));
  }

  private BoundaryKey tipParentKey() {
    requireTip();
    return engine.forest.key(engine.forest.parent(tip.node()));
  }

  /** What a point at the boundary that was reached takes. The caller is inside a read or write. */
  private Needs needsAtTip() {
    requireTip();
    Forest forest = engine.forest;
    int node = tip.node();
    if (!layout.needsPoints() || forest.isRoot(node) || forest.isPoint(node)) {
      return new Needs(false, false, tokens);
    }
    boolean covered = forest.hasUsableDelta(node);
    return new Needs(false, true, covered ? tokens : forest.coveredTo(forest.parent(node), tokens));
  }

  /** Makes a point at the tip visible; false where more of the window must be written first. */
  private boolean publishAtTip(BoundaryDraft draft) {
    if (!tip.isValid()) {
      draft.discardLocked();
      requireTip();
    }
    Needs needs = needsAtTip();
    if (needs.state()) {
      boolean withDelta = needs.coveredTo() < tokens;
      if (!draft.hasState() || (withDelta && !draft.hasDelta(needs.coveredTo()))) {
        return false;
      }
      requireManifestRoom(draft);
      long bytes = publishPoint(draft, withDelta);
      engine.counters.appendedBytes.add(bytes);
      engine.publisher.addUnforced(bytes);
      points.added(tokens);
    }
    draft.discardLocked();
    return true;
  }

  // The end

  /**
   * Says that the whole prompt was appended: its chain is made durable, and then thinned as the
   * policy says. Blocks of generated tokens may still be appended; their newest state is held in
   * memory and written when the session closes.
   */
  public void promptComplete() {
    guarded(
        () -> {
          if (!complete) {
            completeLocked();
          }
          // Also where it was said before: it may not have become durable then. And before the
          // chain is thinned: only what is durable supersedes what is.
          if (durability != Durability.NONE) {
            engine.publisher.commit(lastNumber);
            if (engine.publisher.hasLostSince(startDurable)) {
              throw new DurabilityLostException(
                  ErrorDetail.of("a segment could not be forced while the prompt was stored")
                      .remedy("match again: what the match finds is what is stored"));
            }
          }
          thin();
          return null;
        });
  }

  private void completeLocked() {
    engine.publisher.write(
        () -> {
          lastNumber =
              engine.publisher.publish(
                  new Edit.SessionClosed(
                      sessionId, SessionOutcome.COMPLETED, engine.clockMillis.getAsLong()));
          complete = true;
          return null;
        });
  }

  private void thin() {
    engine.publisher.write(
        () -> {
          if (tip.isValid()) {
            Thinning.thin(
                engine.forest,
                tip.node(),
                plan.policy(),
                sessionId,
                tip,
                engine.publisher::isPointDurable,
                engine::publishDrop);
          }
          return null;
        });
  }

  /** Aborts as the plan says. Waits for a call that is under way, which then fails. */
  public void abort() {
    abort(plan.abortMode());
  }

  /**
   * Aborts. Waits for a call that is under way, which then fails. Idempotent, except that called
   * again it writes what could not be written the first time. What a device error lost is said by
   * receipts and by {@link SnapshotStore#flush()}, not here: what is left is kept.
   *
   * @param mode whether what was stored is kept
   * @throws DiskFullException if there is no room to take back what is to be discarded; that is
   *     tried again in the background, and when the store closes or opens
   */
  public void abort(AbortMode mode) {
    end(mode, null);
  }

  /**
   * Aborts and keeps the boundaries, with a point at the one that was reached. Idempotent.
   *
   * @param views window and fixed state at {@link #tokens()}
   * @throws BoundaryMismatchException if the rows of a view end elsewhere; the session goes on, and
   *     so does a call that is under way
   * @throws ViewMismatchException if a view is missing, too short or of another shape; likewise
   * @throws StaleMatchException if that boundary was lost; the session has ended
   */
  public void abortKeeping(StateViews views) {
    end(AbortMode.KEEP, views);
  }

  private void end(AbortMode mode, StateViews views) {
    if (calls.isHeldByCurrentThread()) {
      throw concurrent();
    }
    engine.publisher.write(
        () -> {
          // From here on no call under way gets any further, so that what is right stays right.
          if (views != null && !ended) {
            checkAtTip(views);
          }
          ending = true;
          return null;
        });
    calls.lock();
    try {
      if (ended) {
        writeEndAgain();
        return;
      }
      ended = true;
      try {
        if (views != null && tokens > 0) {
          addPointAtTip(views);
        }
        if (complete) {
          writeHeld();
        }
      } finally {
        dropHeld();
        release(mode);
      }
    } finally {
      calls.unlock();
    }
  }

  /** Views hold what a point at the tip takes from them. */
  private void checkAtTip(StateViews views) {
    checks.end(views, tokens);
    if (tip.isValid()) {
      Needs needs = needsAtTip();
      if (needs.state()) {
        checks.point(views, needs.coveredTo(), tokens);
      }
    }
  }

  private void release(AbortMode mode) {
    boolean discards = !complete && mode == AbortMode.DISCARD;
    if (!complete) {
      sessionEnd =
          new SessionEnd(
              engine, sessionId, discards ? SessionOutcome.DISCARDED : SessionOutcome.KEPT);
    }
    Runnable writesEnd = () -> writeEnd(discards);
    try {
      // What is held in memory goes, whatever can be written. What a completed session wrote last
      // is durable before it supersedes anything; what others do not hold an aborted one takes
      // back only once it lets go itself.
      List<Runnable> steps = new ArrayList<>(records.releases());
      steps.add(() -> engine.budget.save(false));
      steps.add(complete ? writesEnd : this::letGo);
      steps.add(complete ? this::letGo : writesEnd);
      Closing.all(steps);
    } finally {
      if (sessionEnd != null && !sessionEnd.isDone()) {
        engine.unwrittenEnds.add(sessionEnd);
      }
      // Until here, closing the store waits for it.
      engine.sessions.remove(this);
    }
  }

  private void letGo() {
    engine.publisher.write(
        () -> {
          try {
            if (complete) {
              thin();
            }
          } finally {
            records.endPromise();
            engine.forest.release(tip);
          }
          return null;
        });
  }

  private void writeEnd(boolean discards) {
    if (sessionEnd != null) {
      sessionEnd.run();
    }
    if (durability != Durability.NONE || discards) {
      engine.publisher.commit();
    }
    if (discards) {
      engine.reclaim();
    }
  }

  private void writeEndAgain() {
    if (sessionEnd != null && !sessionEnd.isDone() && !engine.isClosed()) {
      engine.using(
          () -> {
            writeEnd(true);
            return null;
          });
    }
  }

  /** Ends the session: completed, or aborted as its plan says. Idempotent. */
  @Override
  public void close() {
    end(plan.abortMode(), null);
  }
}
