package dev.waymark.tools.move;

import dev.waymark.AppendReceipt;
import dev.waymark.Namespace;
import dev.waymark.PrefillPlan;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Brings chains into a namespace block by block, by keys that are known. A block that follows the
 * one before goes on in the same session; one that branches off begins another, which walks over
 * what is stored. Points are where the caller says, and none is thinned.
 *
 * <p>Invariant: what is stored, and not taken back, came from files that were the same before and
 * after.
 */
final class ChainWriter implements AutoCloseable {
  private static final StateViews NO_VIEWS = StateViews.builder().build();

  private final Namespace namespace;
  private PrefillSession session;

  /** Given to chains of the session: while they are kept, it cannot take them back. */
  private final List<String> names = new ArrayList<>();

  private BoundaryKey tip;

  ChainWriter(Namespace namespace) {
    this.namespace = namespace;
  }

  /**
   * Whether what a block follows is stored: what came before may have made room for others since.
   *
   * @param parents keys of the chain above the block
   */
  boolean canFollow(List<BoundaryKey> parents) {
    if (session != null && isTip(parents)) {
      return true;
    }
    finish();
    int tokens = parents.size() * namespace.layout().blockTokens();
    PrefixMatch match = match(parents, tokens);
    if (match.storedTokens() < tokens) {
      return false;
    }
    // What an interrupted import has stored is whole, and need not be stored again.
    PrefillPlan plan = PrefillPlan.tokens(0).policy(RestorePolicy.EVERY).onAbort(AbortMode.KEEP);
    session = namespace.prefill(match, plan);
    int block = namespace.layout().blockTokens();
    if (session.tokens() < tokens) {
      session.append(parents.subList(session.tokens() / block, parents.size()), NO_VIEWS, false);
    }
    tip = parents.isEmpty() ? null : parents.get(parents.size() - 1);
    return true;
  }

  /** What is stored of a chain. */
  PrefixMatch match(List<BoundaryKey> keys, int tokens) {
    return namespace.match(Prompt.ofKeys(keys, tokens), tokens);
  }

  /** Keeps a chain under a name that is free. */
  void keep(PrefixMatch match, String name) {
    namespace.keep(match, name);
    names.add(name);
  }

  private boolean isTip(List<BoundaryKey> parents) {
    if (parents.isEmpty()) {
      return tip == null;
    }
    return session.tokens() == parents.size() * namespace.layout().blockTokens()
        && parents.get(parents.size() - 1).equals(tip);
  }

  /**
   * Stores blocks that follow what {@link #canFollow} was asked for; a point at the last.
   *
   * @param source where the views' bytes come from
   * @throws BadImportException if that changed meanwhile; what this session stored is taken back,
   *     and the names that it was given
   * @throws IOException if it does not show whether it changed; likewise
   */
  AppendReceipt append(List<BoundaryKey> keys, StateViews views, boolean point, FileStamp source)
      throws IOException {
    AppendReceipt receipt;
    try {
      receipt = session.append(keys, views, point);
    } catch (InternalError e) {
      // So the JVM says that what is mapped is not in the file any more.
      BadImportException changed = FileStamp.changed(source.path(), e);
      takeBack(changed);
      throw changed;
    }
    try {
      source.requireUnchanged();
    } catch (IOException | RuntimeException | Error e) {
      takeBack(e);
      throw e;
    }
    tip = keys.get(keys.size() - 1);
    return receipt;
  }

  private void takeBack(Throwable why) {
    PrefillSession aborted = session;
    session = null;
    for (String name : names) {
      quietly(() -> namespace.release(name), why);
    }
    names.clear();
    quietly(() -> aborted.abort(AbortMode.DISCARD), why);
  }

  private static void quietly(Runnable step, Throwable why) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      why.addSuppressed(e);
    }
  }

  private void finish() {
    if (session != null) {
      session.promptComplete();
      session.close();
      session = null;
      names.clear();
    }
  }

  /** Makes what was brought in durable. */
  @Override
  public void close() {
    finish();
  }
}
