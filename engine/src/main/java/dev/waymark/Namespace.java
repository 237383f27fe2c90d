package dev.waymark;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;

/**
 * The boundaries of one model, as it is laid out, quantised and sharded here. A tenant's view of it
 * shares nothing with other tenants.
 */
public final class Namespace {

  private final StoreEngine engine;
  private final NamespaceState state;
  private final CodecPlan codecs;
  private final BoundaryKey rootKey;

  Namespace(StoreEngine engine, NamespaceState state, CodecPlan codecs, BoundaryKey rootKey) {
    this.engine = engine;
    this.state = state;
    this.codecs = codecs;
    this.rootKey = rootKey;
    engine.space.used(state.id());
  }

  /**
   * Limits what the records of this namespace, tenants included, may occupy; for as long as the
   * store is open. What is above it goes at once, and no call brings it above again.
   *
   * <p>Counted are the whole pages of its records, their headers and padding included, from the
   * moment that a prefill is promised room for them until they are dropped. Not counted, but within
   * the store's quota, are what namespaces share, which is headers, footers and descriptions of
   * segments, and dead bytes that have not come back yet.
   *
   * @param bytes the most that its records may occupy
   * @throws dev.waymark.error.InvalidSettingException if that is above the store's quota, or below
   *     what any namespace needs
   * @throws InvalidArgumentException if the namespace was deleted
   * @throws dev.waymark.error.QuotaPinnedException if what is above it is pinned, kept or reserved;
   *     the limit before stays in force
   */
  public void setQuota(long bytes) {
    engine.using(
        () -> {
          engine.space.setNamespaceQuota(state, bytes);
          return null;
        });
  }

  /**
   * {@return the same namespace for one tenant: a prefix stored by one is not found by another}
   *
   * @param secretSalt at least 16 bytes; never stored
   */
  public Namespace tenant(byte[] secretSalt) {
    return new Namespace(
        engine, state, codecs, KeyChain.tenantRoot(state.fingerprint().toBytes(), secretSalt));
  }

  /**
   * {@return the same namespace under a root key that is known without the tenant's salt} For
   * chains that come from another store, which keeps root keys and no salts.
   *
   * @param root the key that stands above its first boundaries: the first of {@link
   *     StoreReader#chain}
   */
  public Namespace underRoot(BoundaryKey root) {
    return new Namespace(engine, state, codecs, root);
  }

  /** {@return what the model's state is made of} */
  public Layout layout() {
    return state.layout();
  }

  /** {@return how each tensor is stored} */
  public CodecPlan codecs() {
    return codecs;
  }

  /** {@return the first 8 hex digits of its fingerprint} */
  public String abbreviatedFingerprint() {
    return state.fingerprint().abbreviated();
  }

  /**
   * {@return what is stored of a prompt, up to all but its last token, since a server needs its
   * logits}
   *
   * @param tokens token ids
   */
  public PrefixMatch match(int[] tokens) {
    return match(Prompt.ofTokens(tokens));
  }

  /**
   * {@return what is stored of a prompt, up to all but its last token, since a server needs its
   * logits}
   *
   * @param prompt the prompt
   */
  public PrefixMatch match(Prompt prompt) {
    return match(prompt, Math.max(0, prompt.lengthTokens() - 1));
  }

  /**
   * {@return what is stored of a prompt} No I/O.
   *
   * @param prompt the prompt
   * @param limitTokens no restore point beyond is offered
   */
  public PrefixMatch match(Prompt prompt, int limitTokens) {
    engine.requireOpen();
    if (limitTokens < 0) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a match's limit is negative").expected("0 or more").found(limitTokens));
    }
    return PrefixMatch.of(engine, this, prompt, limitTokens);
  }

  /**
   * {@return what a prefill would cost, without I/O}
   *
   * @param match what a match found
   * @param plan what is expected of the prefill
   * @throws dev.waymark.error.StaleMatchException if what the match found is not there any more;
   *     match again
   */
  public Estimate estimate(PrefixMatch match, PrefillPlan plan) {
    return engine.using(
        () -> {
          requireOwn(match);
          SessionStart start = SessionStart.holdAndCount(engine, this, match, plan);
          try {
            return start.estimate();
          } finally {
            start.abandon();
          }
        });
  }

  /**
   * Gives leave to prefill, or refuses before the first byte. What is promised others cannot take,
   * but nothing is evicted for it until the prefill starts.
   *
   * @param match what a match found
   * @param plan what is expected of the prefill
   * @return the leave, which the caller closes
   * @throws dev.waymark.error.RejectedException if it does not fit the quota, the write budget, or
   *     the memory budget
   * @throws dev.waymark.error.StaleMatchException if what the match found is not there any more;
   *     match again
   */
  public Admission admit(PrefixMatch match, PrefillPlan plan) {
    return engine.using(
        () -> engine.refusing(() -> Admission.of(engine, this, plan, start(match, plan))));
  }

  /**
   * Starts a prefill on what a match found, whatever memory it takes.
   *
   * @param match what a match found
   * @param plan what is expected of the prefill
   * @return the session to append to, which the caller closes
   * @throws dev.waymark.error.QuotaExceededException if it does not fit the quota
   * @throws dev.waymark.error.QuotaPinnedException if what is in the way is pinned, kept or
   *     reserved
   * @throws dev.waymark.error.StaleMatchException if that is not there any more; match again
   */
  public PrefillSession prefill(PrefixMatch match, PrefillPlan plan) {
    return engine.using(
        () -> engine.refusing(() -> PrefillSession.open(engine, this, plan, start(match, plan))));
  }

  private SessionStart start(PrefixMatch match, PrefillPlan plan) {
    requireOwn(match);
    return SessionStart.hold(engine, this, match, plan);
  }

  private void requireOwn(PrefixMatch match) {
    if (match.namespace().state != state || !match.namespace().rootKey.equals(rootKey)) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a match of another namespace or tenant was given")
              .remedy("match in the namespace in which the prefill runs"));
    }
  }

  /**
   * Keeps the chain up to a match's deepest restore point against eviction, under a name, until it
   * is released; durable when this returns. A name that was used before stands for the new chain.
   *
   * @param match what a match found
   * @param name the name that the chain is held under
   * @throws InvalidArgumentException if the match has no restore point, or the name is no name
   * @throws dev.waymark.error.StaleMatchException if the point is not there any more; match again
   * @throws dev.waymark.error.QuotaPinnedException if what is kept would fill the quota
   */
  public void keep(PrefixMatch match, String name) {
    engine.using(
        () -> {
          keepInUse(match, name);
          return null;
        });
  }

  private void keepInUse(PrefixMatch match, String name) {
    int tokens = match.restorableTokens();
    if (tokens == 0) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a chain cannot be kept like that")
              .expected("a match with a restore point")
              .found("none"));
    }
    new ChainKeeper(engine).keep(state.id(), match.keyAt(tokens), tokens, name);
  }

  /**
   * Lets a kept chain go; durable when this returns. A name that is not used does nothing.
   *
   * @param name the name that the chain is held under
   */
  public void release(String name) {
    engine.using(
        () -> {
          engine.publisher.write(
              () -> engine.publisher.publish(new Edit.ChainReleased(state.id(), name)));
          engine.publisher.commit();
          return null;
        });
  }

  NamespaceState state() {
    return state;
  }

  BoundaryKey rootKey() {
    return rootKey;
  }
}
