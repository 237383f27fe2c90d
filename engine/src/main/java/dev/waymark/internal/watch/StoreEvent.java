package dev.waymark.internal.watch;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** What Java Flight Recorder is told of one operation. Nothing of a prompt, and no key. */
@Category("Waymark")
@StackTrace(false)
abstract class StoreEvent extends Event {
  @Label("Store")
  @Description("Directory of the store")
  String store;

  @Label("Bytes")
  @DataAmount
  long bytes;

  @Name("dev.waymark.Append")
  @Label("Append")
  @Description("One call that stored blocks; bytes of payload that were written")
  static final class Append extends StoreEvent {}

  @Name("dev.waymark.Restore")
  @Label("Restore")
  @Description("From asking for a restore to its finish; bytes given to the caller")
  static final class Restore extends StoreEvent {}

  @Name("dev.waymark.Force")
  @Label("Force")
  @Description("Making data and edits durable; bytes of records that were forced")
  static final class Force extends StoreEvent {}

  @Name("dev.waymark.Evict")
  @Label("Evict")
  @Description("Dropping chains to make room; bytes of records that nothing needs any more")
  static final class Evict extends StoreEvent {}

  @Name("dev.waymark.Reclaim")
  @Label("Reclaim")
  @Description("Giving dead bytes back to the file system; bytes that came back")
  static final class Reclaim extends StoreEvent {}

  @Name("dev.waymark.Recover")
  @Label("Recover")
  @Description("Opening a store; bytes of its manifest that were read")
  static final class Recover extends StoreEvent {}

  @Name("dev.waymark.Reject")
  @Label("Reject")
  @Description("Refusing what was asked for; bytes that it would have taken")
  static final class Reject extends StoreEvent {
    @Label("Code")
    @Description("Why, by its stable name")
    String code;
  }
}
