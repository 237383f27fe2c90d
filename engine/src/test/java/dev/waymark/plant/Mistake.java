package dev.waymark.plant;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The mistakes that are planted, each a way in which a store like this one goes wrong. */
enum Mistake {
  ACKNOWLEDGED_AT_ONCE(
      "an append is acknowledged before anything is forced",
      Patch.replace(
          "internal.publish.Publisher", "whenDurable", "write", "plant.Slips.durableAtOnce")),
  COMMIT_NOT_WAITED_FOR(
      "an append of durability COMMIT returns before its force",
      Patch.skip("PrefillSession", "appendBlocks", "commit")),
  COMPLETE_NOT_COMMITTED(
      "a completed prompt is not committed",
      Patch.skip("PrefillSession", "lambda$promptComplete$", "commit")),
  FLUSH_DOES_NOTHING(
      "flush returns without a commit", Patch.skip("SnapshotStore", "lambda$flush$", "flush")),
  DATA_NOT_FORCED(
      "the data of a segment is not forced",
      Patch.skip("internal.log.SegmentSet", "force", "StoreFile.force")),
  EDITS_BEFORE_DATA(
      "edits are forced before the data that they name",
      Patch.replace(
          "internal.publish.Publisher", "forceDirty", "forceDirty", "plant.Slips.forceLater"),
      Patch.replace(
          "internal.publish.Publisher", "commitQueued", "force", "plant.Slips.forceThenData")),
  EDITS_NOT_FORCED(
      "edits are written and not forced",
      Patch.skip("internal.publish.Publisher", "commitQueued", "force")),
  NAMES_NOT_FORCED(
      "the directory is not forced after a segment was created",
      Patch.skip("internal.publish.Publisher", "forceSegments", "force")),
  SEGMENT_NOT_ANNOUNCED(
      "no edit says that a segment was created",
      Patch.replace(
          "internal.publish.Publisher", "announce", "takeCreated", "plant.Slips.noneCreated")),
  HEADER_NOT_WRITTEN(
      "a segment's header is not written",
      Patch.skip("internal.log.SegmentSet", "create", "MappedRegion.put")),
  CHECKPOINT_NOT_FORCED(
      "a new manifest is not forced before CURRENT names it",
      Patch.skip("internal.manifest.ManifestCheckpoint", "begin", "ManifestLog.force")),
  CURRENT_NOT_FORCED(
      "CURRENT is not forced before it takes its name",
      Patch.skip("internal.manifest.CurrentFile", "write", "force")),
  CURRENT_IN_PLACE(
      "CURRENT is written over in place, without a rename",
      Patch.replace("internal.manifest.CurrentFile", "write", "create", "plant.Slips.openInPlace"),
      Patch.skip("internal.manifest.CurrentFile", "write", "rename")),
  MANIFEST_DELETED_FIRST(
      "the manifest in force is emptied before its successor is",
      Patch.replace(
          "internal.publish.Publisher",
          "beginManifest",
          "begin",
          "plant.Slips.beginAfterDeleting")),
  MANIFEST_DELETED_FIRST_AT_OPEN(
      "the same while a store is opened",
      Patch.replace("StoreOpener", "begin", "begin", "plant.Slips.beginAfterDeleting")),
  MANIFESTS_CONFUSED(
      "a manifest that CURRENT may name is removed after CURRENT could not be forced",
      Patch.replace(
          "internal.manifest.ManifestCheckpoint",
          "putInForce",
          "write",
          "plant.Slips.writeOrRemove")),
  MANIFEST_FORCED_AGAIN(
      "a failed force of the manifest is tried again and believed",
      Patch.replace("internal.manifest.ManifestLog", "force", "force", "plant.Slips.forceAgain")),
  SEGMENT_FORCED_AGAIN(
      "a failed force of a segment is tried again and believed",
      Patch.replace(
          "internal.log.SegmentSet", "force", "StoreFile.force", "plant.Slips.forceAgain")),
  POISON_IGNORED(
      "what stands in a segment that could not be forced is acknowledged",
      Patch.replace("internal.publish.Publisher", "rescue", "poisoned", "plant.Slips.none")),
  SALVAGE_UNVERIFIED(
      "records are copied without a look at their checksums",
      Patch.skip("internal.publish.RecordCopier", "copy", "verify")),
  CHECKSUM_SKIPPED(
      "a frame's checksum is not compared",
      Patch.replace(
          "internal.log.Frame", "check", "crc32c", "internal.log.SegmentSlips.claimedChecksum")),
  NOTHING_FORCED_AT_OPEN(
      "nothing is forced while a store is opened",
      Patch.answer("internal.recover.Recovery", "force", 0),
      Patch.replace("StoreOpener", "begin", "begin", "plant.Slips.beginUnforced"),
      Patch.replace("StoreOpener", "open", "putInForce", "plant.Slips.putInForceUnforced")),
  UNCLEAN_GONE_ON_WITH(
      "a manifest is gone on with as after a clean close, whatever mark is its last",
      Patch.answer("internal.manifest.BatchMark", "closes", 1)),
  LENGTH_BELIEVED(
      "a segment stays as long as the crash left it",
      Patch.answer("internal.recover.RecoveryPlan$Cut", "shorten", 0)),
  RECOVERED_SEGMENT_APPENDED_TO(
      "a segment of an earlier process is appended to",
      Patch.replace(
          "internal.log.SegmentSet",
          "openRun",
          "SegmentSet.create",
          "internal.log.SegmentSlips.appendToRecovered")),
  DISCARDED_ROWS_LEFT(
      "rows of a session that was to be discarded stay after its process died",
      Patch.answer("internal.recover.RecoveryPlanner", "discardEdits", 1)),
  KEPT_SESSION_DISCARDED(
      "rows of a session that was to be kept go when its process died",
      Patch.rename("internal.recover.RecoveryPlanner", "plan", "keep", "discard")),
  RECOVERED_SESSION_OPEN(
      "a session that recovery closed is open again after the next open",
      Patch.skip("internal.recover.RecoveryPlanner", "keep", "apply")),
  POINT_NOT_SHARED(
      "a point on a boundary that no session owns goes with the session that added it, although"
          + " another came to it",
      Patch.skip("internal.forest.Forest", "isUsedByOthersOnly", "mayBeTakenBack")),
  COMPLETED_CLAIMS_NOTHING(
      "what a completed session comes to goes with the session that added it",
      Patch.skip("internal.forest.Forest", "useExisting", "disown")),
  UNNAMED_FILES_LEFT(
      "files that no edit names stay", Patch.skip("internal.recover.Recovery", "clean", "delete")),
  IDS_REUSED(
      "ids of segments are given out again after a reopen",
      Patch.answer("internal.log.SegmentSet", "raiseCounters", 0)),
  COPY_NOT_FORCED(
      "a record is moved before its copy is forced",
      Patch.replace(
          "internal.log.SegmentSet", "copy", "letGo", "internal.log.SegmentSlips.letGoAsClean")),
  PUNCHED_TOO_EARLY(
      "dead records are punched out before the edit that drops them is forced",
      Patch.replace(
          "internal.log.Segment",
          "lambda$takeDead$",
          "isFree",
          "internal.log.SegmentSlips.isUnread"),
      Patch.skip("SpaceKeeper", "giveBack", "commit"),
      Patch.replace("SpaceKeeper", "giveBack", "reclaim", "ReclaimSlips.reclaimThenCommit")),
  UNLINKED_TOO_EARLY(
      "a dead segment is unlinked before the edits that drop its records are forced",
      Patch.replace(
          "internal.log.Segment",
          "lambda$isUnlinkable$",
          "isFree",
          "internal.log.SegmentSlips.isUnread"),
      Patch.skip("SpaceKeeper", "giveBack", "commit"),
      Patch.replace("SpaceKeeper", "giveBack", "reclaim", "ReclaimSlips.reclaimThenCommit"),
      Patch.skip("internal.publish.Publisher", "unlinkLocked", "commitLocked")),
  READERS_FORGOTTEN(
      "bytes are given back that a restore still looks at",
      Patch.skip("internal.log.Segment$DeadExtent", "isFree", "getAsBoolean")),
  KEPT_LOST_AT_CHECKPOINT(
      "a new manifest does not say which chains are kept",
      Patch.skip("internal.forest.ForestState", "tails", "add")),
  KEEP_NOT_COMMITTED(
      "keeping a chain returns before it is durable", Patch.skip("ChainKeeper", "keep", "commit")),
  KEPT_EVICTED(
      "kept chains are evicted",
      Patch.skip("internal.forest.Forest", "isHeld", "Int2IntCounterMap.get")),
  DELETE_NOT_COMMITTED(
      "a delete returns before it is durable", Patch.skip("Wiping", "run", "giveBack")),
  QUOTA_FORGETS_RECOVERED(
      "segments of an earlier process do not count in the quota",
      Patch.skip("internal.log.SegmentSet", "settle", "charge")),
  QUOTA_NOT_CHARGED(
      "what is written does not count in the quota",
      Patch.skip("internal.log.SegmentSet", "allocate", "charge")),
  QUARANTINE_NOT_COUNTED(
      "small files and the quarantine do not count in the quota",
      Patch.skip("SpaceKeeper", "countOtherFiles", "setOtherFilesBytes"));

  /** States after which it is said that kills do not find one. */
  static final int KILLED_STATES = 1_000;

  private static final int SOON_STATES = 200;

  /** States that it takes to find the others, where {@link #SOON_STATES} are too few. */
  private static final Map<Mistake, Integer> LATER =
      Map.ofEntries(
          Map.entry(FLUSH_DOES_NOTHING, 3_200),
          Map.entry(CURRENT_IN_PLACE, 3_400),
          Map.entry(MANIFESTS_CONFUSED, 1_200),
          Map.entry(MANIFEST_FORCED_AGAIN, 1_400),
          Map.entry(SEGMENT_FORCED_AGAIN, 1_200),
          Map.entry(POISON_IGNORED, 1_200),
          Map.entry(SALVAGE_UNVERIFIED, 2_000),
          Map.entry(MANIFEST_DELETED_FIRST, 400),
          Map.entry(CHECKSUM_SKIPPED, 1_600),
          Map.entry(RECOVERED_SEGMENT_APPENDED_TO, 1_000),
          Map.entry(POINT_NOT_SHARED, 1_600),
          Map.entry(COMPLETED_CLAIMS_NOTHING, 3_400),
          Map.entry(COPY_NOT_FORCED, 2_600),
          Map.entry(PUNCHED_TOO_EARLY, 2_400),
          Map.entry(READERS_FORGOTTEN, 400),
          Map.entry(KEEP_NOT_COMMITTED, 1_200));

  /** Those that a kill is enough for, within {@link #KILLED_STATES}. */
  private static final Set<Mistake> FOUND_BY_KILLS =
      EnumSet.of(
          ACKNOWLEDGED_AT_ONCE,
          COMMIT_NOT_WAITED_FOR,
          COMPLETE_NOT_COMMITTED,
          FLUSH_DOES_NOTHING,
          DATA_NOT_FORCED,
          EDITS_BEFORE_DATA,
          SEGMENT_NOT_ANNOUNCED,
          HEADER_NOT_WRITTEN,
          MANIFEST_DELETED_FIRST,
          MANIFEST_DELETED_FIRST_AT_OPEN,
          MANIFESTS_CONFUSED,
          SEGMENT_FORCED_AGAIN,
          POISON_IGNORED,
          UNCLEAN_GONE_ON_WITH,
          LENGTH_BELIEVED,
          RECOVERED_SEGMENT_APPENDED_TO,
          DISCARDED_ROWS_LEFT,
          KEPT_SESSION_DISCARDED,
          POINT_NOT_SHARED,
          COMPLETED_CLAIMS_NOTHING,
          RECOVERED_SESSION_OPEN,
          UNNAMED_FILES_LEFT,
          IDS_REUSED,
          PUNCHED_TOO_EARLY,
          UNLINKED_TOO_EARLY,
          KEPT_LOST_AT_CHECKPOINT,
          KEEP_NOT_COMMITTED,
          KEPT_EVICTED,
          DELETE_NOT_COMMITTED,
          QUOTA_FORGETS_RECOVERED,
          QUOTA_NOT_CHARGED,
          QUARANTINE_NOT_COUNTED);

  private final String what;
  private final List<Patch> patches;

  Mistake(String what, Patch... patches) {
    this.what = what;
    this.patches = List.of(patches);
  }

  String what() {
    return what;
  }

  List<Patch> patches() {
    return patches;
  }

  /** States from seed 1 on within which it is found. */
  int foundWithinStates() {
    return LATER.getOrDefault(this, SOON_STATES);
  }

  boolean isFoundByKills() {
    return FOUND_BY_KILLS.contains(this);
  }

  /** Its row in the page. */
  String row() {
    return "| `%s` | %s | %s | %s |"
        .formatted(this, what, foundWithinStates(), isFoundByKills() ? "yes" : "no");
  }
}
