package dev.waymark.tools.demo;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.layout.CodecPlan;
import dev.waymark.tools.Progress;
import dev.waymark.tools.model.CachedModel;
import dev.waymark.tools.model.HybridModel;
import dev.waymark.tools.model.ToyPrompts;
import dev.waymark.tools.model.ToyTokenizer;
import dev.waymark.tools.model.Turn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One conversation with a model on a store: a cold turn, a warm turn, a prefill that is aborted and
 * tried again, a reopen, and an answer from what was restored.
 */
final class Conversation {
  private static final String QUOTA = "4GiB";
  private static final long SEED = 1;

  private final DemoOptions options;
  private final HybridModel model;
  private final CodecPlan codecs;
  private final Progress progress;
  private final ToyTokenizer tokenizer;
  private final List<DemoStep> steps = new ArrayList<>();
  private int[] answers = new int[0];
  private long writtenBytes;

  Conversation(DemoOptions options, HybridModel model, CodecPlan codecs, Progress progress) {
    this.options = options;
    this.model = model;
    this.codecs = codecs;
    this.progress = progress;
    this.tokenizer = new ToyTokenizer(options.model().vocab());
  }

  /**
   * How a conversation went.
   *
   * @param steps its requests, in order
   * @param prompt the last prompt
   * @param answers all that the model said, turn after turn
   * @param logits after the last token of it
   * @param writtenBytes records and edits
   */
  record Outcome(
      List<DemoStep> steps, int[] prompt, int[] answers, float[] logits, long writtenBytes) {}

  Outcome hold() {
    int[] prompt;
    try (SnapshotStore store = open()) {
      prompt = untilTheReopen(cached(store));
      writtenBytes += store.stats().writtenBytes();
    }
    float[] logits;
    try (SnapshotStore store = open()) {
      logits = answer(cached(store), prompt);
      writtenBytes += store.stats().writtenBytes();
    }
    return new Outcome(List.copyOf(steps), prompt, answers, logits, writtenBytes);
  }

  private SnapshotStore open() {
    return SnapshotStore.open(options.store(), StoreOptions.builder().quota(QUOTA).build());
  }

  private CachedModel cached(SnapshotStore store) {
    return new CachedModel(model, store, options.blockTokens(), codecs);
  }

  /** The turns before the reopen; returns the prompt of the last one. */
  private int[] untilTheReopen(CachedModel cached) {
    int[] conversation = say(new int[0], options.tokens() / 2);
    conversation = turn("cold turn", cached, conversation);
    conversation = say(conversation, options.tokens() * 3 / 4);
    conversation = turn("warm turn", cached, conversation);
    conversation = say(conversation, options.tokens());
    abort(cached, conversation);
    try (Turn turn = cached.begin(conversation, 0)) {
      progress.begin("its retry");
      turn.finishPrompt(tokens -> progress.at(tokens, turn.promptTokens(), "tokens"));
      note("its retry", turn, 0);
    }
    return conversation;
  }

  /** What the user says next, so that the conversation is that long. */
  private int[] say(int[] conversation, int tokens) {
    int[] words = ToyPrompts.tokens(tokenizer, SEED + conversation.length, tokens);
    int[] all = Arrays.copyOf(conversation, Math.max(tokens, conversation.length + 1));
    System.arraycopy(words, 0, all, conversation.length, all.length - conversation.length);
    return all;
  }

  /** One request with its answer; returns the conversation with the answer. */
  private int[] turn(String name, CachedModel cached, int[] prompt) {
    try (Turn turn = cached.begin(prompt, options.answerTokens())) {
      progress.begin(name);
      turn.finishPrompt(tokens -> progress.at(tokens, prompt.length, "tokens"));
      int[] answer = turn.generate(options.answerTokens());
      note(name, turn, answer.length);
      answers = append(answers, answer);
      return append(prompt, answer);
    }
  }

  /** The client goes away half way through what had to be computed. */
  private void abort(CachedModel cached, int[] prompt) {
    try (Turn turn = cached.begin(prompt, 0)) {
      progress.begin("aborted prefill");
      int block = options.blockTokens();
      int half = (turn.restoredTokens() + prompt.length) / 2 / block * block;
      turn.prefillTo(half, tokens -> progress.at(tokens, prompt.length, "tokens"));
      turn.abort();
      note("aborted prefill", turn, 0);
    }
  }

  /** The same prompt once more, from the store that was opened again. */
  private float[] answer(CachedModel cached, int[] prompt) {
    try (Turn turn = cached.begin(prompt, options.decodeTokens())) {
      progress.begin("after the reopen");
      turn.finishPrompt(tokens -> progress.at(tokens, prompt.length, "tokens"));
      int[] answer = turn.generate(options.decodeTokens());
      note("after the reopen", turn, answer.length);
      answers = append(answers, answer);
      return turn.logits();
    }
  }

  private void note(String name, Turn turn, int generated) {
    if (turn.storeFailure() != null) {
      throw turn.storeFailure();
    }
    steps.add(
        new DemoStep(
            name,
            turn.promptTokens(),
            turn.restoredTokens(),
            turn.computedTokens(),
            generated,
            turn.restoreNanos(),
            turn.prefillNanos()));
  }

  private static int[] append(int[] tokens, int[] more) {
    int[] all = Arrays.copyOf(tokens, tokens.length + more.length);
    System.arraycopy(more, 0, all, tokens.length, more.length);
    return all;
  }
}
