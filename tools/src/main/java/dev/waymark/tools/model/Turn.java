package dev.waymark.tools.model;

import dev.waymark.Admission;
import dev.waymark.PrefillSession;
import dev.waymark.PrefixMatch;
import dev.waymark.RestoredState;
import dev.waymark.error.WaymarkException;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * One request to a {@link CachedModel}: restore, prefill of the rest, generation. Closed before the
 * prompt is done it is aborted, and what was computed stays for a retry. Where the store fails in
 * between, the turn goes on without it.
 */
public final class Turn implements AutoCloseable {
  /** Tokens between two appends; a server has its own chunks. */
  private static final int CHUNK_TOKENS = 512;

  private final CachedModel owner;
  private final ModelState state;
  private final Admission admission;
  private final PrefillSession session;
  private final int blockTokens;
  private final int promptTokens;
  private final int restoredTokens;
  private final long restoreNanos;
  private final int[] sequence;
  private WaymarkException storeFailure;
  private float[] logits;
  private long prefillNanos;

  Turn(CachedModel owner, int[] prompt, int newTokens) {
    this.owner = owner;
    this.promptTokens = prompt.length;
    this.sequence = Arrays.copyOf(prompt, prompt.length + newTokens);
    this.blockTokens = owner.binding.layout().blockTokens();
    long start = System.nanoTime();
    PrefixMatch match = owner.namespace.match(prompt);
    // Before memory is taken for the state, and before anything is read.
    this.admission = owner.namespace.admit(match, owner.plan(prompt.length, sequence.length));
    try {
      this.state = owner.model.newState(Math.max(1, sequence.length));
      this.restoredTokens = match.restorableTokens();
      if (restoredTokens > 0) {
        try (RestoredState restored = match.restore()) {
          owner.binding.restore(restored, state);
        }
      }
      this.restoreNanos = System.nanoTime() - start;
      this.session = admission.prefill();
    } catch (RuntimeException | Error e) {
      admission.close();
      throw e;
    }
  }

  /** Tokens of the prompt. */
  public int promptTokens() {
    return promptTokens;
  }

  /** Tokens whose state came out of the store. */
  public int restoredTokens() {
    return restoredTokens;
  }

  /** Tokens of the prompt that have been computed so far. */
  public int computedTokens() {
    return Math.min(state.tokens(), promptTokens) - restoredTokens;
  }

  /** Time that match and restore took. */
  public long restoreNanos() {
    return restoreNanos;
  }

  /** Time that computing and storing took, of the prompt only. */
  public long prefillNanos() {
    return prefillNanos;
  }

  /** Tokens of the prefix that are stored, whole blocks. */
  public int storedTokens() {
    return session.tokens();
  }

  /** Logits for the token that follows; null before anything was computed. */
  public float[] logits() {
    return logits;
  }

  /**
   * Computes the prompt up to a position, and stores it block by block.
   *
   * @param progress is told of the tokens that are there
   * @throws dev.waymark.error.RejectedException if the rest would not fit the memory budget
   */
  public void prefillTo(int tokens, IntConsumer progress) {
    long start = System.nanoTime();
    while (state.tokens() < tokens) {
      // A point's state is there only right after its last token, so the chunk ends at it.
      int next = Math.min(tokens, state.tokens() + CHUNK_TOKENS);
      int point = session.nextPointTokens();
      if (point > state.tokens()) {
        next = Math.min(next, point);
      }
      logits = owner.model.prefill(state, sequence, state.tokens(), next);
      admission.progress(state.tokens(), state.bytes());
      append();
      progress.accept(state.tokens());
    }
    prefillNanos += System.nanoTime() - start;
  }

  /** Computes what is left of the prompt, and makes it durable. */
  public void finishPrompt(IntConsumer progress) {
    prefillTo(promptTokens, progress);
    long start = System.nanoTime();
    storing(session::promptComplete);
    prefillNanos += System.nanoTime() - start;
  }

  /** Continues with the likeliest tokens, and stores the blocks that they fill. */
  public int[] generate(int count) {
    int from = state.tokens();
    if (sequence.length < from + count) {
      throw new IllegalArgumentException("more tokens than the turn was begun for");
    }
    for (int i = from; i < from + count; i++) {
      sequence[i] = HybridModel.argmax(logits);
      logits = owner.model.step(state, sequence[i]);
      append();
    }
    return Arrays.copyOfRange(sequence, from, from + count);
  }

  /** Gives up in the middle of the prompt, and keeps the state reached, as far as it is stored. */
  public void abort() {
    storing(
        () -> {
          if (state.tokens() == session.tokens()) {
            session.abortKeeping(owner.binding.views(state));
          } else {
            session.abort();
          }
        });
  }

  private void append() {
    int stored = session.tokens();
    if (state.tokens() - stored >= blockTokens) {
      storing(
          () ->
              session.append(
                  Arrays.copyOfRange(sequence, stored, state.tokens()),
                  owner.binding.views(state)));
    }
  }

  /** A cache that fails is no reason to fail the request: it is computed on, and not stored. */
  private void storing(Runnable action) {
    if (storeFailure == null) {
      try {
        action.run();
      } catch (WaymarkException e) {
        storeFailure = e;
      }
    }
  }

  /** Why nothing is stored any more of this turn; null where all is well. */
  public WaymarkException storeFailure() {
    return storeFailure;
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (WaymarkException e) {
      storeFailure = storeFailure == null ? e : storeFailure;
    } finally {
      admission.close();
    }
  }
}
