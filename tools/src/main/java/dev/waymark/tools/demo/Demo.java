package dev.waymark.tools.demo;

import dev.waymark.SnapshotStore;
import dev.waymark.StoreInspector;
import dev.waymark.StoreOptions;
import dev.waymark.StoreStats;
import dev.waymark.layout.Layout;
import dev.waymark.tools.Progress;
import dev.waymark.tools.model.CachedModel;
import dev.waymark.tools.model.HybridModel;
import dev.waymark.tools.model.ModelBinding;
import dev.waymark.tools.model.ModelState;
import dev.waymark.tools.model.ToyPrompts;
import dev.waymark.tools.model.ToyTokenizer;
import dev.waymark.tools.model.Turn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One conversation with a model that really runs: a cold turn, a warm turn, a prefill that is
 * aborted and tried again, a reopen, and an answer from what was restored, which is compared with
 * one that is computed without any store.
 */
final class Demo {
  private static final String QUOTA = "4GiB";
  private static final long SEED = 1;

  private final DemoOptions options;
  private final Progress progress;
  private final HybridModel model;
  private final ToyTokenizer tokenizer;
  private final List<DemoStep> steps = new ArrayList<>();
  private long writtenBytes;

  Demo(DemoOptions options, Progress progress) {
    this.options = options;
    this.progress = progress;
    this.model = new HybridModel(options.model());
    this.tokenizer = new ToyTokenizer(options.model().vocab());
  }

  private record Answer(int[] tokens, float[] logits) {}

  DemoResult run() {
    int[] prompt;
    try (SnapshotStore store = open()) {
      prompt = converse(new CachedModel(model, store, options.blockTokens()));
      writtenBytes += store.stats().writtenBytes();
    }
    Answer restored;
    try (SnapshotStore store = open()) {
      restored = answer(new CachedModel(model, store, options.blockTokens()), prompt);
      StoreStats stats = store.stats();
      writtenBytes += stats.writtenBytes();
    }
    progress.begin("without the store");
    long start = System.nanoTime();
    ModelState state = model.newState(prompt.length + options.decodeTokens());
    float[] logits = null;
    // In steps for the sake of the progress; the model computes the same in any.
    for (int from = 0; from < prompt.length; ) {
      int to = Math.min(prompt.length, from + 512);
      logits = model.prefill(state, prompt, from, to);
      from = to;
      progress.at(to, prompt.length, "tokens");
    }
    double coldSeconds = (System.nanoTime() - start) / 1e9;
    Answer cold = decode(state, logits);
    StoreInspector store = StoreInspector.open(options.store());
    return new DemoResult(
        options.store(),
        steps,
        (int) store.summary().boundaries(),
        store.summary().points(),
        bundleBytes((int) store.summary().boundaries()),
        writtenBytes,
        store.totals().allocatedBytes(),
        coldSeconds,
        options.decodeTokens(),
        Arrays.mismatch(restored.tokens(), cold.tokens()),
        Arrays.equals(restored.logits(), cold.logits()));
  }

  private SnapshotStore open() {
    return SnapshotStore.open(options.store(), StoreOptions.builder().quota(QUOTA).build());
  }

  /** The turns before the reopen; returns the prompt of the last one. */
  private int[] converse(CachedModel cached) {
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
      int[] conversation = Arrays.copyOf(prompt, prompt.length + answer.length);
      System.arraycopy(answer, 0, conversation, prompt.length, answer.length);
      return conversation;
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
  private Answer answer(CachedModel cached, int[] prompt) {
    try (Turn turn = cached.begin(prompt, options.decodeTokens())) {
      progress.begin("after the reopen");
      turn.finishPrompt(tokens -> progress.at(tokens, prompt.length, "tokens"));
      int[] answer = turn.generate(options.decodeTokens());
      note("after the reopen", turn, answer.length);
      return new Answer(answer, turn.logits());
    }
  }

  private Answer decode(ModelState state, float[] first) {
    float[] logits = first;
    int[] answer = new int[options.decodeTokens()];
    for (int i = 0; i < answer.length; i++) {
      answer[i] = HybridModel.argmax(logits);
      logits = model.step(state, answer[i]);
    }
    return new Answer(answer, logits);
  }

  private void note(String name, Turn turn, int generated) {
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

  /** All turns are one chain, so a boundary of the store is a bundle that would be there. */
  private long bundleBytes(int boundaries) {
    Layout layout = new ModelBinding(options.model(), options.blockTokens()).layout();
    long bytes = 0;
    for (int i = 1; i <= boundaries; i++) {
      long tokens = (long) i * options.blockTokens();
      bytes += layout.rowBytes(0, tokens) + layout.windowBytes(0, tokens) + layout.fixedBytes();
    }
    return bytes;
  }
}
