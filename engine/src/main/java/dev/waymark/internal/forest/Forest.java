package dev.waymark.internal.forest;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.internal.log.NamespaceDescriptor;
import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.SessionOutcome;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Layout;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;
import org.agrona.collections.Int2IntCounterMap;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * What the manifest's edits add up to: every boundary, its rows, its point, its place in the prefix
 * forest. The same code applies an edit when it is made and when it is read back.
 *
 * <p>Boundaries are numbered nodes, held in columns: about 100 bytes each and 50 more a point. A
 * number is used again after its boundary was dropped. Above the first boundaries of a namespace or
 * tenant stands a root node, which has its root key, no tokens and no rows.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>A boundary's parent is there, and ends where the boundary begins.
 *   <li>A boundary is dropped only when it has neither children nor a point nor a delta.
 *   <li>A live point has its STATE, and every window row that it needs, in live records.
 * </ul>
 *
 * <p>Not safe for threads: whoever owns it guards it.
 */
public final class Forest {
  /** No node. */
  public static final int NONE = -1;

  private static final int LIVE_POINT = 1;
  private static final int HAS_POINT_ROW = 2;

  /** Seconds are kept as an unsigned int: from 1970 into 2106. */
  private static final long MOST_SECONDS = (1L << Integer.SIZE) - 1;

  private static final BooleanSupplier UNREAD = () -> false;

  private final RecordEvents events;
  private final Map<Integer, NamespaceState> namespaces = new TreeMap<>();
  private final Map<Long, OpenSession> sessions = new TreeMap<>();
  private final Map<KeptName, Kept> kept = new TreeMap<>();
  private final Int2ObjectHashMap<Set<OpenSession>> users = new Int2ObjectHashMap<>();
  private final Int2ObjectHashMap<Set<Hold>> holds = new Int2ObjectHashMap<>();

  /** Those who read: also where the node that they hold was lost, as long as one above is there. */
  private final Set<Hold> reading = new LinkedHashSet<>();

  private final Int2IntCounterMap keeps = new Int2IntCounterMap(0);

  private final LongColumn key0 = new LongColumn();
  private final LongColumn key1 = new LongColumn();
  private final LongColumn key2 = new LongColumn();
  private final LongColumn key3 = new LongColumn();
  private final IntColumn namespace = new IntColumn();
  private final IntColumn parent = new IntColumn();
  private final IntColumn tokens = new IntColumn();
  private final IntColumn firstChild = new IntColumn();
  private final IntColumn nextSibling = new IntColumn();
  private final IntColumn previousSibling = new IntColumn();
  private final IntColumn addedSeconds = new IntColumn();
  private final LongColumn recency = new LongColumn();
  private final RecordColumn rows = new RecordColumn();

  /** Row of the node's point and delta in the columns below, or {@link #NONE}. */
  private final IntColumn pointRow = new IntColumn();

  private final RecordColumn deltas = new RecordColumn();
  private final RecordColumn states = new RecordColumn();
  private final IntColumn coveredFrom = new IntColumn();
  private final IntColumn pointFlags = new IntColumn();

  private final NodeIndex index = new NodeIndex();
  private int nodeEnd;

  /** The namespace of the boundary that was added last. */
  private NamespaceState toAddTo;

  /** Nearly always the parent of the next boundary that is added. */
  private int lastAdded = NONE;

  private int freeNode = NONE;
  private int pointEnd;
  private int freePoint = NONE;
  private long boundaries;
  private long points;
  private int nextNamespaceId = 1;
  private long nextSessionId = 1;
  private Optional<Edit.BudgetSpent> budgetSpent = Optional.empty();

  private record KeptName(int namespaceId, String name) implements Comparable<KeptName> {
    @Override
    public int compareTo(KeptName other) {
      int order = Integer.compare(namespaceId, other.namespaceId);
      return order != 0 ? order : name.compareTo(other.name);
    }
  }

  /** A chain that is held under a name. */
  public record Kept(int namespaceId, String name, int node, long keptMillis) {}

  /** An empty forest. */
  public Forest(RecordEvents events) {
    this.events = events;
  }

  // Applying edits

  /**
   * Applies an edit. Edits about segments are no business of this class and change nothing.
   *
   * @throws CorruptionException if it contradicts what came before; nothing was changed then
   */
  public void apply(Edit edit) {
    if (edit instanceof Edit.RowsAdded e) {
      addRows(e);
    } else if (edit instanceof Edit.PointAdded e) {
      addPoint(e);
    } else if (edit instanceof Edit.RowsDropped e) {
      dropRows(require(e.namespaceId(), e.key()));
    } else if (edit instanceof Edit.PointDropped e) {
      dropPoint(require(e.namespaceId(), e.key()), e.deltaToo());
    } else if (edit instanceof Edit.RecordMoved e) {
      move(e);
    } else if (edit instanceof Edit.Touched e) {
      for (Edit.Touch touch : e.touches()) {
        int node = find(touch.namespaceId(), touch.key());
        if (node != NONE) {
          recency.set(node, Math.max(recency.get(node), touch.sequence()));
        }
      }
    } else if (edit instanceof Edit.SessionOpened e) {
      sessions.put(e.sessionId(), new OpenSession(e));
      nextSessionId = Math.max(nextSessionId, e.sessionId() + 1);
    } else if (edit instanceof Edit.SessionClosed e) {
      closeSession(e.sessionId(), e.outcome());
    } else if (edit instanceof Edit.BoundaryUsed e) {
      useExisting(e);
    } else if (edit instanceof Edit.NamespaceAdded e) {
      addNamespace(e);
    } else if (edit instanceof Edit.NamespaceDropped e) {
      dropNamespace(e.namespaceId());
    } else if (edit instanceof Edit.ChainKept e) {
      keep(e);
    } else if (edit instanceof Edit.ChainReleased e) {
      release(e);
    } else if (edit instanceof Edit.BudgetSpent e) {
      budgetSpent = Optional.of(e);
    } else if (edit instanceof Edit.CheckpointEnd e) {
      nextNamespaceId = Math.max(nextNamespaceId, e.nextNamespaceId());
      nextSessionId = Math.max(nextSessionId, e.nextSessionId());
    }
  }

  private void addNamespace(Edit.NamespaceAdded e) {
    NamespaceState state;
    try {
      state =
          new NamespaceState(
              new NamespaceDescriptor(
                  e.namespaceId(), e.fingerprint(), e.identity(), e.layout(), e.codecs()));
    } catch (InvalidSettingException invalid) {
      throw new CorruptionException(
          ErrorDetail.of("the manifest describes a namespace that cannot be")
              .found(invalid.detail().sentence()),
          invalid);
    }
    if (!state.hasRightFingerprint()) {
      throw contradiction("a namespace under the fingerprint of another");
    }
    if (namespaces.putIfAbsent(e.namespaceId(), state) != null) {
      throw contradiction("a namespace is added twice");
    }
    nextNamespaceId = Math.max(nextNamespaceId, e.namespaceId() + 1);
  }

  private void dropNamespace(int namespaceId) {
    NamespaceState state = namespaces.get(namespaceId);
    if (state == null || state.boundaries > 0) {
      throw contradiction("a namespace is dropped that is not empty, or not there");
    }
    namespaces.remove(namespaceId);
    toAddTo = null;
  }

  private void addRows(Edit.RowsAdded e) {
    NamespaceState state = toAddTo;
    if (state == null || state.id() != e.namespaceId()) {
      state = namespaces.get(e.namespaceId());
      toAddTo = state;
    }
    if (state == null) {
      throw contradiction("a boundary of a namespace that does not exist");
    }
    if (find(e.namespaceId(), e.key()) != NONE) {
      throw contradiction("a boundary is added twice");
    }
    if (e.tokenTo() % state.layout().blockTokens() != 0) {
      throw contradiction("a boundary that is not on the grid of blocks");
    }
    if (e.key().equals(e.parentKey())) {
      throw contradiction("a boundary that is its own parent");
    }
    int above =
        isThere(lastAdded) && isNamed(lastAdded, e.namespaceId(), e.parentKey())
            ? lastAdded
            : find(e.namespaceId(), e.parentKey());
    if (e.tokenFrom() != (above == NONE ? 0 : tokens.get(above))) {
      throw contradiction("a boundary whose parent is not there, or ends elsewhere");
    }
    List<RecordLocation> records = e.records();
    for (int i = 0; i < records.size(); i++) {
      events.check(records.get(i));
    }
    if (above == NONE) {
      above = newNode(e.namespaceId(), e.parentKey(), NONE, 0, List.of());
    }
    int node = newNode(e.namespaceId(), e.key(), above, (int) e.tokenTo(), records);
    lastAdded = node;
    recency.set(node, e.sequence());
    addedSeconds.set(node, (int) Math.max(0, Math.min(MOST_SECONDS, e.addedMillis() / 1_000)));
    int sibling = firstChild.get(above);
    nextSibling.set(node, sibling);
    if (sibling != NONE) {
      previousSibling.set(sibling, node);
    }
    firstChild.set(above, node);
    boundaries++;
    state.boundaries++;
    state.rowRecordBytes += rows.lengthBytes(node);
    state.recordPageBytes += rows.pageBytes(node);
    for (int i = 0; i < records.size(); i++) {
      events.born(records.get(i));
    }
    OpenSession session = sessions.isEmpty() ? null : sessions.get(e.sessionId());
    if (session != null) {
      use(session, node);
    }
  }

  private void useExisting(Edit.BoundaryUsed e) {
    OpenSession session = sessions.get(e.sessionId());
    int node = session == null ? find(e.namespaceId(), e.key()) : require(e.namespaceId(), e.key());
    if (session == null) {
      disown(node);
    } else if (users.containsKey(node)) {
      use(session, node);
    } else if (mayBeTakenBack(node, session.id())) {
      session.points.add(node);
    }
  }

  private void use(OpenSession session, int node) {
    session.boundaries.add(node);
    users.computeIfAbsent(node, n -> new LinkedHashSet<>()).add(session);
  }

  private void addPoint(Edit.PointAdded e) {
    int node = require(e.namespaceId(), e.key());
    if (e.coveredFrom() > tokens.get(node)) {
      throw contradiction("a point that covers rows beyond it");
    }
    if (isPoint(node)) {
      throw contradiction("a point is added twice");
    }
    if (hasDelta(node) && !e.deltas().isEmpty() && e.coveredFrom() > coveredFrom(node)) {
      throw contradiction("a delta takes the place of one that covers more");
    }
    e.deltas().forEach(events::check);
    e.states().forEach(events::check);
    int row = pointRow.get(node);
    if (row == NONE) {
      row = newPointRow();
      pointRow.set(node, row);
      coveredFrom.set(row, (int) e.coveredFrom());
    }
    NamespaceState state = namespaces.get(e.namespaceId());
    if (!e.deltas().isEmpty()) {
      // What the boundary kept for later points is replaced, in one edit with what replaces it.
      List<RecordLocation> before = deltas.get(row);
      state.pointRecordBytes -= deltas.lengthBytes(row);
      state.recordPageBytes -= deltas.pageBytes(row);
      deltas.set(row, e.deltas());
      coveredFrom.set(row, (int) e.coveredFrom());
      state.pointRecordBytes += deltas.lengthBytes(row);
      state.recordPageBytes += deltas.pageBytes(row);
      e.deltas().forEach(events::born);
      BooleanSupplier read = windowReaders(node);
      before.forEach(location -> events.died(location, read));
    }
    states.set(row, e.states());
    state.pointRecordBytes += states.lengthBytes(row);
    state.recordPageBytes += states.pageBytes(row);
    e.states().forEach(events::born);
    pointFlags.set(row, HAS_POINT_ROW | LIVE_POINT);
    recency.set(node, Math.max(recency.get(node), e.sequence()));
    points++;
    state.points++;
    OpenSession session = sessions.get(e.sessionId());
    if (session != null) {
      session.points.add(node);
    }
  }

  private void dropPoint(int node, boolean deltaToo) {
    int row = pointRow.get(node);
    if (row == NONE) {
      throw contradiction("a point is dropped that is not there");
    }
    NamespaceState state = namespaces.get(namespace.get(node));
    if (isPoint(node)) {
      state.pointRecordBytes -= states.lengthBytes(row);
      state.recordPageBytes -= states.pageBytes(row);
      BooleanSupplier read = readers(tip -> tip == node);
      states.get(row).forEach(location -> events.died(location, read));
      states.set(row, List.of());
      pointFlags.set(row, HAS_POINT_ROW);
      points--;
      state.points--;
      sessions.values().forEach(session -> session.points.remove(node));
    }
    if (deltaToo) {
      state.pointRecordBytes -= deltas.lengthBytes(row);
      state.recordPageBytes -= deltas.pageBytes(row);
      BooleanSupplier read = windowReaders(node);
      deltas.get(row).forEach(location -> events.died(location, read));
      deltas.set(row, List.of());
    }
    if (deltas.isEmpty(row)) {
      pointFlags.set(row, 0);
      coveredFrom.set(row, freePoint);
      freePoint = row;
      pointRow.set(node, NONE);
    }
  }

  private void dropRows(int node) {
    if (firstChild.get(node) != NONE || pointRow.get(node) != NONE) {
      throw contradiction("a boundary is dropped that others need");
    }
    NamespaceState state = namespaces.get(namespace.get(node));
    state.boundaries--;
    state.rowRecordBytes -= rows.lengthBytes(node);
    state.recordPageBytes -= rows.pageBytes(node);
    boundaries--;
    BooleanSupplier read = readers(tip -> tip == node);
    rows.get(node).forEach(location -> events.died(location, read));
    rows.set(node, List.of());
    if (keeps.get(node) > 0) {
      kept.values().removeIf(name -> name.node() == node);
      keeps.remove(node);
    }
    Set<OpenSession> using = users.remove(node);
    if (using != null) {
      using.forEach(session -> session.boundaries.remove(node));
    }
    int above = parent.get(node);
    // What is used below a boundary uses it too.
    recency.set(above, Math.max(recency.get(above), recency.get(node)));
    int next = nextSibling.get(node);
    int previous = previousSibling.get(node);
    if (previous == NONE) {
      firstChild.set(above, next);
    } else {
      nextSibling.set(previous, next);
    }
    if (next != NONE) {
      previousSibling.set(next, previous);
    }
    Set<Hold> held = holds.remove(node);
    if (held != null) {
      held.forEach(hold -> hold.valid = false);
    }
    reading.forEach(hold -> hold.moveUp(node, above));
    if (isRoot(above)) {
      reading.removeIf(hold -> hold.readsTo == above);
    }
    freeNode(node);
    dropEmptyRoot(above);
  }

  private void dropEmptyRoot(int node) {
    if (isRoot(node) && firstChild.get(node) == NONE && !isHeld(node)) {
      freeNode(node);
    }
  }

  private void move(Edit.RecordMoved e) {
    int node = require(e.namespaceId(), e.key());
    RecordColumn column;
    int row;
    if (e.kind() == RecordKind.APPEND) {
      column = rows;
      row = node;
    } else {
      column = e.kind() == RecordKind.DELTA ? deltas : states;
      row = pointRow.get(node);
    }
    if (row == NONE) {
      throw contradiction("a record is moved that is not there");
    }
    List<RecordLocation> records = new ArrayList<>(column.get(row));
    for (int i = 0; i < records.size(); i++) {
      RecordLocation from = records.get(i);
      if (from.segmentId() == e.fromSegmentId() && from.offsetBytes() == e.fromOffsetBytes()) {
        RecordLocation to =
            new RecordLocation(e.toSegmentId(), e.toOffsetBytes(), from.lengthBytes());
        events.check(to);
        records.set(i, to);
        column.set(row, records);
        events.born(to);
        events.died(from, readers(tip -> isAtOrAbove(node, tip)));
        return;
      }
    }
    throw contradiction("a record is moved that is not there");
  }

  private void keep(Edit.ChainKept e) {
    int node = require(e.namespaceId(), e.key());
    Kept before =
        kept.put(
            new KeptName(e.namespaceId(), e.name()),
            new Kept(e.namespaceId(), e.name(), node, e.keptMillis()));
    keeps.incrementAndGet(node);
    if (before != null) {
      unkeep(before.node());
    }
  }

  private void release(Edit.ChainReleased e) {
    Kept before = kept.remove(new KeptName(e.namespaceId(), e.name()));
    if (before != null) {
      unkeep(before.node());
    }
  }

  private void unkeep(int node) {
    keeps.decrementAndGet(node);
  }

  private void closeSession(long sessionId, SessionOutcome outcome) {
    OpenSession session = sessions.remove(sessionId);
    if (session == null) {
      return;
    }
    if (outcome != SessionOutcome.DISCARDED) {
      // What one of those who share it keeps is nobody's to take back any more.
      for (int node : session.boundaries()) {
        disown(node);
      }
      for (int node : session.points()) {
        disown(node);
      }
      return;
    }
    for (int node : session.boundaries()) {
      Set<OpenSession> using = users.get(node);
      using.remove(session);
      if (using.isEmpty()) {
        users.remove(node);
      } else if (session.points.contains(node)) {
        // Whoever still uses the boundary has to be able to take its point back too.
        using.iterator().next().points.add(node);
      }
    }
  }

  /** A boundary and its point become nobody's to take back. */
  private void disown(int node) {
    Set<OpenSession> using = users.remove(node);
    if (using != null) {
      using.forEach(user -> user.boundaries.remove(node));
    }
    sessions.values().forEach(session -> session.points.remove(node));
  }

  // Nodes

  private int newNode(
      int namespaceId, BoundaryKey key, int above, int endTokens, List<RecordLocation> records) {
    int node = freeNode;
    if (node == NONE) {
      node = nodeEnd++;
    } else {
      freeNode = nextSibling.get(node);
    }
    key0.set(node, key.word0());
    key1.set(node, key.word1());
    key2.set(node, key.word2());
    key3.set(node, key.word3());
    namespace.set(node, namespaceId);
    parent.set(node, above);
    tokens.set(node, endTokens);
    firstChild.set(node, NONE);
    nextSibling.set(node, NONE);
    previousSibling.set(node, NONE);
    pointRow.set(node, NONE);
    addedSeconds.set(node, 0);
    recency.set(node, 0);
    rows.set(node, records);
    index.put(hash(namespaceId, key), node);
    return node;
  }

  private void freeNode(int node) {
    index.remove(hash(namespace.get(node), key(node)), node);
    namespace.set(node, 0);
    nextSibling.set(node, freeNode);
    freeNode = node;
  }

  private int newPointRow() {
    int row = freePoint;
    if (row == NONE) {
      row = pointEnd++;
    } else {
      freePoint = coveredFrom.get(row);
    }
    deltas.set(row, List.of());
    states.set(row, List.of());
    coveredFrom.set(row, 0);
    pointFlags.set(row, HAS_POINT_ROW);
    return row;
  }

  private static long hash(int namespaceId, BoundaryKey key) {
    return key.word0() ^ ((long) namespaceId << Integer.SIZE);
  }

  /** The boundary of a key, or the root node of a root key, or {@link #NONE}. */
  public int find(int namespaceId, BoundaryKey key) {
    return index.find(hash(namespaceId, key), new Named(namespaceId, key));
  }

  /**
   * Reads the places of the index where the boundaries of coming edits will be looked for, all at
   * once: the memory answers many reads at a time in not much more than it takes for one.
   */
  public void foresee(List<? extends Edit> coming) {
    for (int i = 0; i < coming.size(); i++) {
      if (coming.get(i) instanceof Edit.RowsAdded e) {
        index.foresee(hash(e.namespaceId(), e.key()));
      }
    }
  }

  /**
   * The child of that key, or {@link #NONE}. Chains lie in the columns as they were added, and so
   * the only child is nearly always in memory that was just read, where the index never is.
   */
  public int child(int node, BoundaryKey key) {
    int first = firstChild.get(node);
    if (first == NONE || hasKey(first, key)) {
      return first;
    }
    if (nextSibling.get(first) == NONE) {
      return NONE;
    }
    int found = find(namespace.get(node), key);
    return found != NONE && parent.get(found) == node ? found : NONE;
  }

  /** No lambda: only the second compiler makes one in little time, and opening ends before it. */
  private final class Named implements NodeIndex.Match {
    private final int namespaceId;
    private final BoundaryKey key;

    Named(int namespaceId, BoundaryKey key) {
      this.namespaceId = namespaceId;
      this.key = key;
    }

    @Override
    public boolean is(int node) {
      return isNamed(node, namespaceId, key);
    }
  }

  private boolean isNamed(int node, int namespaceId, BoundaryKey key) {
    return hasKey(node, key) && namespace.get(node) == namespaceId;
  }

  private boolean hasKey(int node, BoundaryKey key) {
    return key0.get(node) == key.word0()
        && key1.get(node) == key.word1()
        && key2.get(node) == key.word2()
        && key3.get(node) == key.word3();
  }

  private int require(int namespaceId, BoundaryKey key) {
    int node = find(namespaceId, key);
    if (node == NONE || isRoot(node)) {
      throw contradiction("an edit names a boundary that is not there");
    }
    return node;
  }

  /** The boundary's key. */
  public BoundaryKey key(int node) {
    return new BoundaryKey(key0.get(node), key1.get(node), key2.get(node), key3.get(node));
  }

  /** The boundary's namespace. */
  public NamespaceState namespaceOf(int node) {
    return namespaces.get(namespace.get(node));
  }

  /** The boundary before; a root node for the first one; {@link #NONE} for a root node. */
  public int parent(int node) {
    return parent.get(node);
  }

  /** Whether the node stands above first boundaries and is none itself. */
  public boolean isRoot(int node) {
    return parent.get(node) == NONE;
  }

  /** Tokens up to the boundary. */
  public int tokens(int node) {
    return tokens.get(node);
  }

  /** A child, or {@link #NONE}. */
  public int firstChild(int node) {
    return firstChild.get(node);
  }

  /** The next child of the same parent, or {@link #NONE}. */
  public int nextSibling(int node) {
    return nextSibling.get(node);
  }

  /** Whether two or more stored chains go on from here. */
  public boolean isBranch(int node) {
    int child = firstChild.get(node);
    return child != NONE && nextSibling.get(child) != NONE;
  }

  /** Recency: larger is newer. */
  public long recency(int node) {
    return recency.get(node);
  }

  /** When its rows were added, in milliseconds since 1970, whole seconds; not beyond 2106. */
  public long addedMillis(int node) {
    return Integer.toUnsignedLong(addedSeconds.get(node)) * 1_000L;
  }

  /** Whether a restore can land here. */
  public boolean isRestorable(int node) {
    return isPoint(node) || (!isRoot(node) && !namespaceOf(node).layout().needsPoints());
  }

  /** Whether the boundary has a restore point of its own. */
  public boolean isPoint(int node) {
    int row = pointRow.get(node);
    return row != NONE && (pointFlags.get(row) & LIVE_POINT) != 0;
  }

  /** Whether the boundary has a DELTA record, be it for its own point or for later ones. */
  public boolean hasDelta(int node) {
    int row = pointRow.get(node);
    return row != NONE && !deltas.isEmpty(row);
  }

  /** First window row that the boundary's delta may hold. */
  public int coveredFrom(int node) {
    return coveredFrom.get(pointRow.get(node));
  }

  /** Its APPEND records. */
  public List<RecordLocation> rowRecords(int node) {
    return rows.get(node);
  }

  /** Its records of a kind. */
  public List<RecordLocation> records(int node, RecordKind kind) {
    return switch (kind) {
      case APPEND -> rowRecords(node);
      case DELTA -> deltaRecords(node);
      case STATE -> stateRecords(node);
    };
  }

  /** Bytes of its APPEND records. */
  public long rowBytes(int node) {
    return rows.lengthBytes(node);
  }

  /** Bytes of its STATE records, and of the DELTA records that its window needs. */
  public long pointBytes(int node) {
    int row = pointRow.get(node);
    if (row == NONE) {
      return 0;
    }
    long bytes = states.lengthBytes(row);
    int windowFrom = windowFrom(node);
    for (int at = node; at != NONE && tokens.get(at) > windowFrom; at = parent.get(at)) {
      if (hasDelta(at)) {
        bytes += deltas.lengthBytes(pointRow.get(at));
      }
    }
    return bytes;
  }

  /** Bytes of its own STATE and DELTA records. */
  public long ownPointBytes(int node) {
    int row = pointRow.get(node);
    return row == NONE ? 0 : states.lengthBytes(row) + deltas.lengthBytes(row);
  }

  /** Its DELTA records. */
  public List<RecordLocation> deltaRecords(int node) {
    int row = pointRow.get(node);
    return row == NONE ? List.of() : deltas.get(row);
  }

  /** Its STATE records. */
  public List<RecordLocation> stateRecords(int node) {
    int row = pointRow.get(node);
    return row == NONE ? List.of() : states.get(row);
  }

  /** Shows the records of a kind. */
  public void forEachRecord(int node, RecordKind kind, RecordVisitor visitor) {
    if (kind == RecordKind.APPEND) {
      rows.forEach(node, visitor);
      return;
    }
    int row = pointRow.get(node);
    if (row != NONE) {
      (kind == RecordKind.DELTA ? deltas : states).forEach(row, visitor);
    }
  }

  /** Shows every record of every boundary; the forest must not change meanwhile. */
  public void forEachRecord(RecordVisitor visitor) {
    forEachBoundary(
        node -> {
          forEachRecord(node, RecordKind.APPEND, visitor);
          forEachRecord(node, RecordKind.DELTA, visitor);
          forEachRecord(node, RecordKind.STATE, visitor);
        });
  }

  /** Every boundary, in no particular order; the forest must not change meanwhile. */
  public void forEachBoundary(IntConsumer consumer) {
    for (int node = 0; node < nodeEnd; node++) {
      if (namespace.get(node) != 0 && parent.get(node) != NONE) {
        consumer.accept(node);
      }
    }
  }

  /** Every node's number is below. */
  public int nodeEnd() {
    return nodeEnd;
  }

  /** Whether a number stands for a node now; numbers of dropped ones are given again. */
  public boolean isThere(int node) {
    return node >= 0 && node < nodeEnd && namespace.get(node) != 0;
  }

  /** Every root node. */
  public void forEachRoot(IntConsumer consumer) {
    for (int node = 0; node < nodeEnd; node++) {
      if (namespace.get(node) != 0 && parent.get(node) == NONE) {
        consumer.accept(node);
      }
    }
  }

  // Windows

  /**
   * First window row that a delta of a point at {@code toTokens} has to hold, whose parent is
   * given: where the live coverage of its chain ends, if that reaches back as far as the window
   * does; otherwise where the window begins.
   */
  public int coveredTo(int parentNode, int toTokens) {
    int windowFrom = namespaceOf(parentNode).layout().windowFrom(toTokens);
    int end = NONE;
    int lowest = 0;
    for (int node = parentNode;
        node != NONE && tokens.get(node) > windowFrom;
        node = parent.get(node)) {
      if (!hasDelta(node)) {
        continue;
      }
      if (end == NONE) {
        end = tokens.get(node);
        lowest = end;
      }
      if (tokens.get(node) < lowest) {
        return windowFrom;
      }
      lowest = Math.min(lowest, coveredFrom(node));
      if (lowest <= windowFrom) {
        return end;
      }
    }
    return end != NONE && lowest <= windowFrom ? end : windowFrom;
  }

  /**
   * Whether a point here would need no delta of its own: the boundary kept one, and its chain still
   * has what that one left out. A delta that was kept for points below may rest on nothing.
   */
  public boolean hasUsableDelta(int node) {
    return hasDelta(node) && isWindowCovered(node);
  }

  /** Whether every window row that a point here needs is in live deltas of its chain. */
  public boolean isWindowCovered(int node) {
    return isWindowCoveredWithout(NONE, node);
  }

  /** The same if the delta of another boundary was lost. */
  boolean isWindowCoveredWithout(int lost, int node) {
    int windowFrom = windowFrom(node);
    int lowest = tokens.get(node);
    for (int at = node; at != NONE && lowest > windowFrom; at = parent.get(at)) {
      if (tokens.get(at) < lowest) {
        return false;
      }
      if (at != lost && hasDelta(at)) {
        lowest = Math.min(lowest, coveredFrom(at));
      }
    }
    return lowest <= windowFrom;
  }

  /** First window row that a point at a node needs from deltas. */
  public int windowFrom(int node) {
    return namespaceOf(node).layout().windowFrom(tokens.get(node));
  }

  /** Whether a live point below the boundary needs window rows that its delta may hold. */
  public boolean isDeltaNeededBelow(int node) {
    return isWindowUsedBelow(node, this::isPoint);
  }

  private boolean isWindowUsedBelow(int node, IntPredicate uses) {
    Layout layout = namespaceOf(node).layout();
    int end = tokens.get(node);
    int at = firstChild.get(node);
    while (at != NONE) {
      if (layout.windowFrom(tokens.get(at)) < end) {
        if (uses.test(at)) {
          return true;
        }
        int child = firstChild.get(at);
        if (child != NONE) {
          at = child;
          continue;
        }
      }
      while (at != node && nextSibling.get(at) == NONE) {
        at = parent.get(at);
      }
      at = at == node ? NONE : nextSibling.get(at);
    }
    return false;
  }

  // Holds: pins and sessions, in memory; kept chains, by edits

  /** Keeps a node, and so its ancestors, from being dropped until it is released. */
  public static final class Hold {
    private final int node;
    private boolean valid = true;
    private volatile boolean released;

    /** The deepest node that is there of those whose records are read. */
    private int readsTo;

    private Hold(int node) {
      this.node = node;
      this.readsTo = node;
    }

    private void moveUp(int from, int to) {
      if (readsTo == from) {
        readsTo = to;
      }
    }

    /** The node that is held. */
    public int node() {
      return node;
    }

    /** Whether the node is still there: only damage takes away what is held. */
    public boolean isValid() {
      return valid;
    }
  }

  /** Holds a node until {@link #release(Hold)}, without a look at its records. */
  public Hold hold(int node) {
    Hold hold = new Hold(node);
    holds.computeIfAbsent(node, n -> new LinkedHashSet<>()).add(hold);
    return hold;
  }

  /**
   * Holds a node until {@link #release(Hold)} for someone who reads the records that its state is
   * made of now: their bytes stay until then, wherever they are moved and whatever is dropped.
   */
  public Hold holdToRead(int node) {
    Hold hold = hold(node);
    reading.add(hold);
    return hold;
  }

  /** Lets go; a second time does nothing. */
  public void release(Hold hold) {
    hold.released = true;
    reading.remove(hold);
    if (!hold.valid) {
      return;
    }
    hold.valid = false;
    Set<Hold> all = holds.get(hold.node);
    all.remove(hold);
    if (all.isEmpty()) {
      holds.remove(hold.node);
    }
    dropEmptyRoot(hold.node);
  }

  /** Whether someone holds or keeps the node itself. */
  public boolean isHeld(int node) {
    return isInUse(node) || keeps.get(node) > 0;
  }

  /** Whether someone holds the node itself, for as long as a call or a session takes. */
  public boolean isInUse(int node) {
    return holds.containsKey(node);
  }

  /** Those who read down to nodes of which that holds, as long as they do. */
  private BooleanSupplier readers(IntPredicate isOne) {
    List<Hold> readers = reading.stream().filter(hold -> isOne.test(hold.readsTo)).toList();
    return readers.isEmpty() ? UNREAD : () -> readers.stream().anyMatch(hold -> !hold.released);
  }

  /** Those who read at the node, or below it where their windows reach back to its rows. */
  private BooleanSupplier windowReaders(int node) {
    int end = tokens.get(node);
    return readers(tip -> tip == node || (windowFrom(tip) < end && isAtOrAbove(node, tip)));
  }

  /** Whether someone holds or keeps the node or one below it: then it may not be dropped. */
  public boolean isHeldOrKeptAtOrBelow(int node) {
    return isAtOrAboveAny(node, holds.keySet())
        || (!kept.isEmpty()
            && isAtOrAboveAny(node, kept.values().stream().map(Kept::node).toList()));
  }

  private boolean isAtOrAboveAny(int node, Iterable<Integer> tips) {
    for (int tip : tips) {
      if (isAtOrAbove(node, tip)) {
        return true;
      }
    }
    return false;
  }

  private boolean isAtOrAbove(int node, int tip) {
    int end = tokens.get(node);
    int at = tip;
    while (at != NONE && tokens.get(at) > end) {
      at = parent.get(at);
    }
    return at == node;
  }

  /** The record of that kind that stands there, or null. */
  public RecordLocation recordAt(int node, RecordKind kind, long segmentId, long offsetBytes) {
    if (node == NONE) {
      return null;
    }
    List<RecordLocation> records =
        switch (kind) {
          case APPEND -> rowRecords(node);
          case DELTA -> deltaRecords(node);
          case STATE -> stateRecords(node);
        };
    for (RecordLocation record : records) {
      if (record.segmentId() == segmentId && record.offsetBytes() == offsetBytes) {
        return record;
      }
    }
    return null;
  }

  /** Whether anyone but the owner of one hold holds or keeps the node itself. */
  public boolean isHeldByOthers(int node, Hold own) {
    Set<Hold> all = holds.get(node);
    return keeps.get(node) > 0 || (all != null && (all.size() > 1 || !all.contains(own)));
  }

  /** The root node of a root key, made if there is none; it goes with its last child and hold. */
  public int rootNode(int namespaceId, BoundaryKey rootKey) {
    int node = find(namespaceId, rootKey);
    return node != NONE ? node : newNode(namespaceId, rootKey, NONE, 0, List.of());
  }

  /** Whether the node itself is kept under a name. */
  public boolean isKept(int node) {
    return keeps.get(node) > 0;
  }

  /** Whether someone holds a node of a namespace, be it a root. */
  public boolean isHeldIn(int namespaceId) {
    return holds.keySet().stream().anyMatch(node -> namespace.get(node) == namespaceId);
  }

  /** Every node that someone holds, a kept one or a root too. */
  public int[] heldNodes() {
    Set<Integer> nodes = new LinkedHashSet<>(holds.keySet());
    kept.values().forEach(chain -> nodes.add(chain.node()));
    return nodes.stream().mapToInt(Integer::intValue).toArray();
  }

  /** Every node down to which someone is reading. */
  public int[] readNodes() {
    return reading.stream().mapToInt(hold -> hold.readsTo).distinct().toArray();
  }

  /** All kept chains. */
  public Collection<Kept> kept() {
    return List.copyOf(kept.values());
  }

  // What there is

  /** A namespace, or null. */
  public NamespaceState namespace(int namespaceId) {
    return namespaces.get(namespaceId);
  }

  /** The namespace of a fingerprint, or null. */
  public NamespaceState namespace(BoundaryKey fingerprint) {
    for (NamespaceState state : namespaces.values()) {
      if (state.fingerprint().equals(fingerprint)) {
        return state;
      }
    }
    return null;
  }

  /** All namespaces, by number. */
  public List<NamespaceState> namespaces() {
    return List.copyOf(namespaces.values());
  }

  /** All sessions that are open. */
  public List<OpenSession> sessions() {
    return List.copyOf(sessions.values());
  }

  /** The session of that number, if it is open; else null. */
  public OpenSession session(long sessionId) {
    return sessions.get(sessionId);
  }

  /** The open sessions that added or built on a boundary which none but them has used. */
  public Set<OpenSession> users(int node) {
    return users.getOrDefault(node, Set.of());
  }

  /** Whether an open session other than that one has the point, and may take it back. */
  public boolean mayBeTakenBack(int node, long exceptSessionId) {
    return sessions.values().stream()
        .anyMatch(session -> session.id() != exceptSessionId && session.points.contains(node));
  }

  /**
   * Whether open sessions, but not that one, may take back the boundary, or its point where the
   * boundary itself is nobody's.
   */
  public boolean isUsedByOthersOnly(int node, long sessionId) {
    OpenSession session = sessions.get(sessionId);
    Set<OpenSession> using = users.get(node);
    if (using != null) {
      return !using.contains(session);
    }
    return mayBeTakenBack(node, sessionId) && (session == null || !session.points.contains(node));
  }

  /** Boundaries in all. */
  public long boundaryCount() {
    return boundaries;
  }

  /** Restore points in all; layouts that need none have none. */
  public long pointCount() {
    return points;
  }

  /** The number of the next namespace. */
  public int nextNamespaceId() {
    return nextNamespaceId;
  }

  /** The number of the next session. */
  public long nextSessionId() {
    return nextSessionId;
  }

  /** The day whose written bytes are counted, and how many they are, if any ever were. */
  public Optional<Edit.BudgetSpent> budgetSpent() {
    return budgetSpent;
  }

  private static CorruptionException contradiction(String what) {
    return new CorruptionException(
        ErrorDetail.of("the manifest contradicts itself: " + what)
            .remedy("rebuild it from the records with segtool repair"));
  }
}
