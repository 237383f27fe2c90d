package dev.waymark;

import dev.waymark.internal.check.ReadOnlyStore;
import dev.waymark.internal.check.SegmentAccount;
import dev.waymark.internal.check.StoreLook;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.manifest.ManifestEnd;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.Status;
import dev.waymark.internal.reclaim.SegmentChoice;
import dev.waymark.internal.recover.Finding;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * What a store holds, as anyone may see it: it takes no lock, writes nothing, heals nothing, and
 * works beside a live writer. It shows one state of the store, that of the moment it was opened,
 * and holds no file open.
 */
public final class StoreInspector {
  private final ReadOnlyStore store;
  private final Totals totals;

  private StoreInspector(ReadOnlyStore store) {
    this.store = store;
    this.totals = sum(store);
  }

  /**
   * Looks at the store in a directory.
   *
   * @param path the directory of the store
   * @return what was seen, of one state of the store
   * @throws dev.waymark.error.NotAStoreException if there is none
   * @throws dev.waymark.error.UnsupportedFormatException if a newer version wrote it
   * @throws dev.waymark.error.CorruptionException if CURRENT or its manifest is damaged
   * @throws dev.waymark.error.MovingException if a writer moved on at every look
   */
  public static StoreInspector open(Path path) {
    try (StoreDirectory directory = RealDirectory.openReadOnly(path)) {
      return open(directory, System::currentTimeMillis);
    }
  }

  static StoreInspector open(StoreDirectory directory, LongSupplier clockMillis) {
    return new StoreInspector(StoreLook.at(directory, clockMillis));
  }

  /**
   * The store as a whole.
   *
   * @param storeId drawn when it was made
   * @param readVersion least version of the format that a reader has to know
   * @param manifest name of the manifest in force
   * @param manifestBytes how much of it was read
   * @param manifestIsTorn whether edits that never counted stand behind that
   * @param heartbeatMillis when a writer last published its status, wall clock
   * @param processId of that writer; empty once it closed the store
   * @param isClosed whether the last writer closed the store cleanly, at {@code heartbeatMillis}
   * @param boundaries boundaries in all
   * @param points restore points in all
   * @param openSessions prefills that were begun and not ended
   * @param keptChains chains that are held under a name
   */
  public record Summary(
      String storeId,
      int readVersion,
      String manifest,
      long manifestBytes,
      boolean manifestIsTorn,
      OptionalLong heartbeatMillis,
      OptionalLong processId,
      boolean isClosed,
      long boundaries,
      long points,
      int openSessions,
      int keptChains) {}

  /**
   * Where the bytes are: {@code allocated = live + dead + framing + reserved + unaccounted}.
   *
   * @param allocatedBytes what all files occupy, by the file system's own count
   * @param liveBytes records that boundaries and points need
   * @param deadBytes what nothing needs and did not come back yet
   * @param framingBytes headers, footers, padding, the manifest, the small files
   * @param reservedBytes allocated ahead
   * @param unaccountedBytes what none of these explains, and files that the manifest does not name
   */
  public record Totals(
      long allocatedBytes,
      long liveBytes,
      long deadBytes,
      long framingBytes,
      long reservedBytes,
      long unaccountedBytes) {}

  /**
   * One segment.
   *
   * @param kind {@code append} or {@code delta}
   * @param liveRecords records that boundaries and points need
   */
  public record SegmentReport(
      long id,
      String file,
      String kind,
      boolean sealed,
      long liveRecords,
      long lengthBytes,
      long allocatedBytes,
      long liveBytes,
      long deadBytes,
      long framingBytes,
      long reservedBytes,
      long unaccountedBytes) {}

  /**
   * One namespace.
   *
   * @param fingerprint first digits of what it is known by
   * @param rowRecordBytes records of rows
   * @param pointRecordBytes records of windows and fixed state
   * @param chains prefixes that share nothing, not even their first block
   */
  public record NamespaceReport(
      int id,
      String fingerprint,
      ModelIdentity identity,
      Layout layout,
      CodecPlan codecs,
      long boundaries,
      long points,
      long rowRecordBytes,
      long pointRecordBytes,
      long chains) {}

  /**
   * One boundary.
   *
   * @param key its first 8 hex digits
   * @param parentKey its parent's; of a first boundary the root key's
   * @param tokens of the prefix up to it
   * @param isPoint whether its whole state can be restored
   * @param isBranch whether two or more stored chains go on from it
   * @param children boundaries that stand on it
   * @param rowBytes records of its rows
   * @param pointBytes records of its own window delta and state
   * @param addedMillis when its rows were stored, whole seconds
   */
  public record BoundaryReport(
      int namespaceId,
      String key,
      String parentKey,
      int tokens,
      boolean isPoint,
      boolean isBranch,
      int children,
      long rowBytes,
      long pointBytes,
      long addedMillis) {}

  /**
   * What stands above first boundaries: a namespace's own prompts, or those of one tenant.
   *
   * @param key first 8 hex digits of the root key
   * @param isTenant whether the key comes of a tenant's salt
   * @param children first boundaries
   */
  public record RootReport(int namespaceId, String key, boolean isTenant, int children) {}

  /**
   * A record that lives, where the manifest has it.
   *
   * @param kind {@code append}, {@code delta} or {@code state}
   * @param piece place among the pieces of its contribution, of {@code pieces}
   * @param key first 8 hex digits of its boundary's key
   * @param tokens of the prefix up to its boundary
   */
  public record RecordReport(
      long segmentId,
      String file,
      long offsetBytes,
      long lengthBytes,
      String kind,
      int piece,
      int pieces,
      int namespaceId,
      String key,
      int tokens) {}

  /**
   * One boundary, closely.
   *
   * @param root what its chain begins under
   * @param usedSequence order of its last use; larger is later
   * @param deepestPointTokens tokens of the deepest boundary of its chain, itself included, that
   *     can be restored; 0 if there is none
   * @param restoreBytes what a restore there reads; 0 where it is none
   * @param windowCovered whether the window rows that a point here needs are stored
   * @param why why it is no restore point: {@code NONE} if it is one, {@code NO_STATE} if it never
   *     was one or that is not known any more, else what became of its point
   * @param records its own records
   */
  public record BoundaryDetail(
      BoundaryReport boundary,
      RootReport root,
      long usedSequence,
      int deepestPointTokens,
      long restoreBytes,
      boolean windowCovered,
      MissReason why,
      List<RecordReport> records) {}

  /**
   * Why a prompt's match is no deeper.
   *
   * @param promptTokens tokens of the prompt
   * @param storedTokens tokens, whole blocks, whose rows are stored
   * @param branchTokens where the prompt leaves what is stored while others go on; 0 if it does not
   * @param points every restorable position below the prompt's end, ascending
   * @param bytesToRead bytes of the records that a restore at the deepest point reads
   * @param why the reason
   * @param sentence the same for people; holds no tokens
   */
  public record Explanation(
      int promptTokens,
      int storedTokens,
      int branchTokens,
      List<Integer> points,
      long bytesToRead,
      MissReason why,
      String sentence) {}

  /** A file that the manifest does not name. */
  public record FileReport(String file, long allocatedBytes) {}

  /**
   * Something that is wrong, or worth knowing.
   *
   * @param id stable name of this kind of finding
   * @param severity {@code INFO}, {@code WARNING} (nothing durable is lost) or {@code ERROR}
   */
  public record FindingReport(
      String id, String severity, String file, long offsetBytes, String text) {}

  /** {@return the store as a whole} */
  public Summary summary() {
    ManifestEnd end = store.end();
    Forest forest = store.forest();
    return new Summary(
        store.current().storeId().toString(),
        store.current().versions().readVersion(),
        ManifestLog.fileName(store.current().manifestId()),
        end.validLengthBytes(),
        store.findings().stream().anyMatch(f -> f.id().equals("MANIFEST_TORN_TAIL")),
        store
            .status()
            .map(status -> OptionalLong.of(status.heartbeatMillis()))
            .orElse(OptionalLong.empty()),
        store
            .status()
            .filter(status -> !status.isClosed())
            .map(status -> OptionalLong.of(status.processId()))
            .orElse(OptionalLong.empty()),
        store.status().filter(Status::isClosed).isPresent(),
        forest.boundaryCount(),
        forest.pointCount(),
        forest.sessions().size(),
        forest.kept().size());
  }

  /** {@return where the bytes are} */
  public Totals totals() {
    return totals;
  }

  /** {@return the segments, in order of id} */
  public List<SegmentReport> segments() {
    return store.segments().stream().map(StoreInspector::report).toList();
  }

  /** {@return the namespaces, in order of number} */
  public List<NamespaceReport> namespaces() {
    return store.forest().namespaces().stream().map(this::report).toList();
  }

  /** {@return the chains that are kept against eviction} */
  public List<KeptChain> kept() {
    return KeptChain.of(store.forest());
  }

  /**
   * {@return files that neither the manifest names nor a writer may have just made, in order of
   * name}
   */
  public List<FileReport> otherFiles() {
    return store.others().stream()
        .filter(file -> !store.mayBeTheWriters(file))
        .map(file -> new FileReport(file.name(), file.allocatedBytes()))
        .toList();
  }

  /** {@return what is wrong, or worth knowing} */
  public List<FindingReport> findings() {
    return store.findings().stream().map(StoreInspector::report).toList();
  }

  /**
   * {@return what first boundaries stand under, in order of namespace; a namespace's own before
   * tenants}
   */
  public List<RootReport> roots() {
    return forestReports().roots();
  }

  /**
   * Every boundary, chain by chain, each after its parent; made as they are asked for, since there
   * may be millions.
   *
   * @param consumer takes one after the other
   */
  public void forEachBoundary(Consumer<BoundaryReport> consumer) {
    Forest forest = store.forest();
    forest.forEachRoot(root -> ForestReports.forEachBelow(forest, root, consumer));
  }

  /**
   * Every boundary under a root, likewise; none where this store has no such root.
   *
   * @param root one that {@link #roots()} gave
   * @param consumer takes one after the other
   */
  public void forEachBoundary(RootReport root, Consumer<BoundaryReport> consumer) {
    forestReports().forEachBoundary(root, consumer);
  }

  /**
   * {@return the boundaries whose keys start with those hex digits; empty if none does}
   *
   * @param keyPrefix 8 to 64 hex digits
   * @throws dev.waymark.error.InvalidArgumentException if it is none
   */
  public List<BoundaryDetail> find(String keyPrefix) {
    return forestReports().find(keyPrefix);
  }

  /**
   * {@return why boundaries with such keys are not there, as far as the manifest still says; empty
   * where it says nothing}
   *
   * @param keyPrefix 8 to 64 hex digits
   * @throws dev.waymark.error.InvalidArgumentException if it is none
   */
  public List<MissReason> droppedWhy(String keyPrefix) {
    return forestReports().droppedWhy(keyPrefix);
  }

  /**
   * {@return the records of a segment that live, in order of offset; empty where there is no such
   * segment}
   *
   * @param segmentId number of the segment, as {@link #segments()} shows it
   */
  public List<RecordReport> records(long segmentId) {
    return forestReports().records(segmentId);
  }

  /**
   * {@return why the match of a prompt is no deeper, as {@link PrefixMatch} would say it}
   *
   * @param namespaceId number of a namespace of this store
   * @param tenantSalt of a tenant, or null for the namespace's own prompts
   * @param tokens token ids of the whole prompt; all but the last are matched
   * @throws dev.waymark.error.InvalidArgumentException if there is no such namespace, or the salt
   *     is too short
   */
  public Explanation explain(int namespaceId, byte[] tenantSalt, int[] tokens) {
    return forestReports().explain(namespaceId, tenantSalt, tokens);
  }

  /**
   * The segments that {@link Maintenance#compact} would empty, by what is allocated now. Opening a
   * store for writing gives back what can be punched out of them, and may leave fewer to empty; one
   * that a writer may still append to is left out.
   *
   * @param targetLiveRatio segments of which no larger share lives, 0 to 1
   * @return the segments, best first
   */
  public List<CompactionReport.Candidate> compactionCandidates(double targetLiveRatio) {
    Set<Long> growing =
        store.segments().stream()
            .filter(segment -> store.writing() && segment.sealed() == null)
            .map(segment -> segment.info().segmentId())
            .collect(Collectors.toSet());
    return new LivePages(store.forest())
        .candidates(
            SegmentChoice.of(
                store.segments().stream().map(SegmentAccount::asInfo).toList(),
                store.nextSequence(),
                targetLiveRatio,
                growing::contains));
  }

  private ForestReports forestReports() {
    return new ForestReports(store);
  }

  private NamespaceReport report(NamespaceState state) {
    Forest forest = store.forest();
    long[] chains = new long[1];
    forest.forEachRoot(
        root -> {
          if (forest.namespaceOf(root).id() == state.id()) {
            for (int child = forest.firstChild(root);
                child != Forest.NONE;
                child = forest.nextSibling(child)) {
              chains[0]++;
            }
          }
        });
    return new NamespaceReport(
        state.id(),
        state.fingerprint().abbreviated(),
        state.identity(),
        state.layout(),
        state.codecs(),
        state.boundaries(),
        state.points(),
        state.rowRecordBytes(),
        state.pointRecordBytes(),
        chains[0]);
  }

  private static SegmentReport report(SegmentAccount account) {
    return new SegmentReport(
        account.info().segmentId(),
        account.info().fileName(),
        account.info().kind().name().toLowerCase(java.util.Locale.ROOT),
        account.sealed() != null,
        account.info().liveRecords(),
        account.lengthBytes(),
        account.allocatedBytes(),
        account.liveBytes(),
        account.deadBytes(),
        account.framingBytes(),
        account.reservedBytes(),
        account.unaccountedBytes());
  }

  static FindingReport report(Finding finding) {
    return new FindingReport(
        finding.id(),
        finding.severity().name(),
        finding.file(),
        finding.offsetBytes(),
        finding.text());
  }

  private static Totals sum(ReadOnlyStore store) {
    long allocated = store.manifestAllocatedBytes();
    long framing = store.manifestFramingBytes();
    long reserved = allocated - framing;
    long live = 0;
    long dead = 0;
    long unaccounted = 0;
    for (SegmentAccount segment : store.segments()) {
      allocated += segment.allocatedBytes();
      live += segment.liveBytes();
      dead += segment.deadBytes();
      framing += segment.framingBytes();
      reserved += segment.reservedBytes();
      unaccounted += segment.unaccountedBytes();
    }
    for (ReadOnlyStore.PlainFile file : store.small()) {
      allocated += file.allocatedBytes();
      framing += file.allocatedBytes();
    }
    for (ReadOnlyStore.PlainFile file : store.others()) {
      allocated += file.allocatedBytes();
      if (store.mayBeTheWriters(file)) {
        reserved += file.allocatedBytes();
      } else {
        unaccounted += file.allocatedBytes();
      }
    }
    return new Totals(allocated, live, dead, framing, reserved, unaccounted);
  }
}
