package dev.waymark.internal.watch;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Times what one store does. Only what came to its end counts: an operation that failed, or found
 * nothing to do, is not {@link Span#end ended}. For many threads.
 */
public final class Watch {
  /** What is watched. */
  public enum Kind {
    /** One call that stored blocks. */
    APPEND(StoreEvent.Append::new),
    /** From asking for a restore to its finish. */
    RESTORE(StoreEvent.Restore::new),
    /** Making data and edits durable. */
    FORCE(StoreEvent.Force::new),
    /** Dropping chains to make room. */
    EVICT(StoreEvent.Evict::new),
    /** Giving dead bytes back. */
    RECLAIM(StoreEvent.Reclaim::new),
    /** Opening the store. */
    RECOVER(StoreEvent.Recover::new),
    /** Refusing what was asked for. */
    REJECT(StoreEvent.Reject::new);

    private final Supplier<StoreEvent> events;

    /** Asked whether anybody records, so that nothing is made where nobody does. */
    private final StoreEvent any;

    Kind(Supplier<StoreEvent> events) {
      this.events = events;
      this.any = events.get();
    }
  }

  private final String store;
  private final LongSupplier nanoClock;
  private final Map<Kind, Timer> timers = new EnumMap<>(Kind.class);

  /**
   * A watch.
   *
   * @param store how the store is called in events
   * @param nanoClock what timers go by; events go by the recorder's own clock
   */
  public Watch(String store, LongSupplier nanoClock) {
    this.store = store;
    this.nanoClock = nanoClock;
    for (Kind kind : Kind.values()) {
      timers.put(kind, new Timer());
    }
  }

  /** An operation that is under way. For one thread at a time. */
  public final class Span {
    private final Kind kind;
    private final long startNanos = nanoClock.getAsLong();
    private final StoreEvent event;

    private Span(Kind kind) {
      this.kind = kind;
      this.event = kind.any.isEnabled() ? kind.events.get() : null;
      if (event != null) {
        event.begin();
      }
    }

    /** It is done, and so many bytes were its object. */
    public void end(long bytes) {
      timers.get(kind).add(nanoClock.getAsLong() - startNanos);
      if (event != null) {
        event.store = store;
        event.bytes = bytes;
        event.commit();
      }
    }

    /** The same, of a refusal. */
    public void refuse(long bytes, String code) {
      if (event instanceof StoreEvent.Reject reject) {
        reject.code = code;
      }
      end(bytes);
    }
  }

  /** Begins an operation. */
  public Span begin(Kind kind) {
    return new Span(kind);
  }

  /** How long those of a kind took. */
  public Timer timer(Kind kind) {
    return timers.get(kind);
  }
}
