package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.io.JvmFlags;
import dev.waymark.internal.io.Mapping;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.YieldPoints;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import dev.waymark.layout.TensorSpec;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A store of what a model's state is at block boundaries, in one directory, written by one process.
 * All methods may be called from any thread.
 *
 * <pre>{@code
 * try (SnapshotStore store = SnapshotStore.open(dir, StoreOptions.builder().quota("100GiB").build())) {
 *   Namespace ns = store.namespace(identity, layout);
 *   PrefixMatch match = ns.match(tokens);
 *   if (match.restorableTokens() > 0) {
 *     try (RestoredState state = match.restore()) {
 *       for (TensorSpec t : layout.tensors()) state.read(t, myCache.view(t));
 *       state.finish();
 *     }
 *   }
 *   try (PrefillSession s = ns.prefill(match, PrefillPlan.tokens(tokens.length))) {
 *     for (Block b : residualBlocks) s.append(b.tokens(), myCache.views());
 *     s.promptComplete();
 *   }
 * }
 * }</pre>
 */
public final class SnapshotStore implements AutoCloseable {
  private final StoreEngine engine;
  private final RecoveryReport recovery;
  private final BackgroundAgent agent;

  private SnapshotStore(StoreEngine engine, RecoveryReport recovery) {
    this.engine = engine;
    this.recovery = recovery;
    this.agent = new BackgroundAgent(engine);
    if (engine.options.backgroundThread()) {
      agent.start();
    }
  }

  /**
   * Opens a store, or makes one.
   *
   * @param path the directory of the store
   * @param options settings of the store
   * @return the store, which the caller closes
   * @throws dev.waymark.error.MissingJvmFlagsException if the JVM lacks flags; the message holds
   *     them
   * @throws dev.waymark.error.StoreLockedException if another writer has it open
   * @throws dev.waymark.error.NotAStoreException if there is none, and none was to be made; or if
   *     one was, and the directory holds something else
   * @throws dev.waymark.error.UnsupportedFormatException if a newer version wrote it
   * @throws dev.waymark.error.CorruptionException if its manifest is damaged
   */
  public static SnapshotStore open(Path path, StoreOptions options) {
    JvmFlags.check();
    RealDirectory directory =
        RealDirectory.openForWriting(
            path,
            options.createIfMissing(),
            options.mappedWriter() ? Mapping.MAPPED : Mapping.MAPPED_READS);
    if (options.createIfMissing()) {
      try {
        directory.requireNobodyElses();
      } catch (WaymarkException e) {
        directory.close();
        throw e;
      }
    }
    return open(
        new StoreOpener(
            directory, options, System::currentTimeMillis, System::nanoTime, YieldPoints.NONE));
  }

  /** Opens a store on any directory, with its clock and yield points. Closes the directory. */
  static SnapshotStore open(
      StoreDirectory directory,
      StoreOptions options,
      LongSupplier clockMillis,
      YieldPoints yields) {
    LongSupplier clockNanos = () -> TimeUnit.MILLISECONDS.toNanos(clockMillis.getAsLong());
    return open(new StoreOpener(directory, options, clockMillis, clockNanos, yields));
  }

  private static SnapshotStore open(StoreOpener opener) {
    return new SnapshotStore(opener.open(), opener.report());
  }

  /**
   * {@return a namespace with every tensor stored as it is}
   *
   * @param identity the model and how it is run
   * @param layout what its state is made of
   */
  public Namespace namespace(ModelIdentity identity, Layout layout) {
    return namespace(identity, layout, CodecPlan.RAW);
  }

  /**
   * {@return the namespace of a model, made if it is not there} A lossy codec is part of what it is
   * known by.
   *
   * @param identity the model and how it is run
   * @param layout what its state is made of
   * @param codecs how each tensor is stored
   * @throws InvalidSettingException if a row of a tensor does not fit a segment
   */
  public Namespace namespace(ModelIdentity identity, Layout layout, CodecPlan codecs) {
    engine.requireOpen();
    BoundaryKey fingerprint = BoundaryKey.of(KeyChain.fingerprint(identity, layout, codecs));
    long most = engine.segments.sizing().maxRowBytes();
    for (TensorSpec spec : layout.tensors()) {
      if (spec.innerBytes() > most) {
        throw new InvalidSettingException(
            ErrorDetail.of("a row of tensor '" + spec.name() + "' does not fit a segment")
                .expected("at most " + most + " bytes")
                .found(spec.innerBytes())
                .remedy("raise the quota, which the size of segments follows"));
      }
    }
    String layoutJson = layout.toJson();
    if (layoutJson.length() > engine.segments.sizing().maxDescriptorBytes()) {
      throw new InvalidSettingException(
          ErrorDetail.of("the layout's description is too large for segments of this size")
              .expected("at most " + engine.segments.sizing().maxDescriptorBytes() + " bytes")
              .found(layoutJson.length())
              .remedy("raise the quota, which the size of segments follows"));
    }
    NamespaceState state =
        engine.publisher.write(
            () -> {
              engine.requireOpen();
              NamespaceState there = engine.forest.namespace(fingerprint);
              if (there != null) {
                return there;
              }
              int id = engine.forest.nextNamespaceId();
              engine.publisher.publish(
                  new Edit.NamespaceAdded(
                      id, fingerprint, identity.toJson(), layoutJson, codecs.toJson()));
              return engine.forest.namespace(id);
            });
    return new Namespace(engine, state, codecs, KeyChain.root(fingerprint.toBytes()));
  }

  /**
   * Makes everything that was appended before this call durable.
   *
   * @throws dev.waymark.error.DurabilityLostException if something was lost, to a device error,
   *     since this was asked the last time
   */
  public void flush() {
    engine.using(
        () -> {
          engine.publisher.flush();
          return null;
        });
  }

  /**
   * Does what the store's own thread does, once: forces what waits, gives dead bytes back.
   *
   * @return whether there was anything to do
   */
  public boolean runOnce() {
    return engine.using(() -> agent.doWork() > 0);
  }

  /**
   * Brings the store below its quota, if it is above. Every call that writes does so by itself;
   * this is for stores on which nothing else is called.
   *
   * @return what went
   * @throws dev.waymark.error.QuotaPinnedException if what is above it is pinned or kept
   */
  public EvictionReport enforce() {
    return engine.using(engine.space::enforce);
  }

  /**
   * Changes the quota for as long as the store is open; what is above a lower one goes before this
   * returns. The size of segments stays as it was.
   *
   * @param bytes the most that the directory may occupy
   * @return what went
   * @throws InvalidSettingException if it is below the minimum, or below a namespace's quota
   * @throws dev.waymark.error.QuotaPinnedException if what is above it is pinned or kept; the quota
   *     stays as it was
   */
  public EvictionReport setQuota(long bytes) {
    return engine.using(() -> engine.space.setQuota(bytes));
  }

  /** {@return deleting, compacting, and looking ahead at eviction} */
  public Maintenance maintenance() {
    engine.requireOpen();
    return new Maintenance(engine);
  }

  /** {@return the chains that are kept against eviction} */
  public List<KeptChain> kept() {
    engine.requireOpen();
    return engine.publisher.read(() -> KeptChain.of(engine.forest));
  }

  /** {@return the account of the store now} */
  public StoreStats stats() {
    engine.requireOpen();
    return engine.stats();
  }

  /** {@return what opening it found and did} */
  public RecoveryReport recovery() {
    return recovery;
  }

  StoreEngine engine() {
    return engine;
  }

  /** Lets go of everything without another write, as a process that dies would. */
  void abandon() {
    agent.stop();
    engine.abandon();
  }

  /** Makes everything durable and closes. Open sessions are aborted as their plans say. */
  @Override
  public void close() {
    agent.stop();
    engine.close();
  }
}
