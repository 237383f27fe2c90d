package dev.waymark.jmh;

import dev.waymark.Durability;
import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.RestoredState;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.layout.ModelIdentity;
import java.nio.file.Path;
import java.util.Arrays;

/** This store, as an embedder uses it. */
final class WaymarkContender implements Contender {
  static final String NAME = "waymark";
  static final String MAPPED = "waymark, mapped writer";

  private final Load load;
  private final boolean each;
  private final SnapshotStore store;
  private final Namespace namespace;

  private WaymarkContender(Path directory, Load load, boolean each, StoreOptions options) {
    this.load = load;
    this.each = each;
    this.store = SnapshotStore.open(directory, options);
    this.namespace = namespace(store, load.shape());
  }

  static Namespace namespace(SnapshotStore store, Shape shape) {
    return store.namespace(ModelIdentity.builder().weights(shape.name()).build(), shape.layout());
  }

  /** Restores with so many threads. */
  static Factory factory(String name, int restoreThreads) {
    return factory(name, options().restoreThreads(restoreThreads).build());
  }

  /** Writes through maps instead of by positional writes. */
  static Factory mappedWriter() {
    return factory(MAPPED, options().restoreThreads(1).mappedWriter(true).build());
  }

  private static StoreOptions.Builder options() {
    return StoreOptions.builder().quota("64GiB");
  }

  private static Factory factory(String name, StoreOptions options) {
    return new Factory(
        name, (directory, load, each) -> new WaymarkContender(directory, load, each, options));
  }

  @Override
  public Lane lane(int number) {
    return new Prefill(load.lane(number));
  }

  @Override
  public void close() {
    store.close();
  }

  SnapshotStore store() {
    return store;
  }

  private final class Prefill implements Lane {
    private final Load.Lane lane;
    private PrefillSession session;

    Prefill(Load.Lane lane) {
      this.lane = lane;
    }

    @Override
    public void put(int boundary) {
      if (session == null) {
        session =
            namespace.prefill(
                namespace.match(lane.tokens()),
                PrefillPlan.tokens(lane.tokens().length)
                    .policy(load.policy())
                    .durability(each ? Durability.COMMIT : Durability.GROUP));
      }
      int block = load.layout().blockTokens();
      int to = (boundary + 1) * block;
      session.append(Arrays.copyOfRange(lane.tokens(), to - block, to), lane.source().views(to));
    }

    @Override
    public void complete() {
      session.promptComplete();
      session.close();
      session = null;
    }

    @Override
    public void restore() {
      try (RestoredState state = namespace.match(lane.tokens()).restore()) {
        state.read(lane.target().views(state.tokens()));
        if (state.finish().tokens() != load.tokens()) {
          throw new AssertionError("restored " + state.tokens() + " of " + load.tokens());
        }
      }
    }
  }
}
