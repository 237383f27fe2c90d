package dev.waymark.tools.demo;

import dev.waymark.StoreInspector;
import dev.waymark.TensorInspector;
import dev.waymark.TensorInspector.TensorReport;
import dev.waymark.layout.Codec;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.tools.Progress;
import dev.waymark.tools.model.HybridModel;
import dev.waymark.tools.model.ModelBinding;
import dev.waymark.tools.model.ModelState;
import java.util.Arrays;
import java.util.List;

/**
 * A conversation with a model that really runs, whose last answer is compared with one that is
 * computed without any store; and the same conversation once more with recurrent state that a lossy
 * codec has been over.
 */
final class Demo {
  private final DemoOptions options;
  private final Progress progress;
  private final HybridModel model;

  Demo(DemoOptions options, Progress progress) {
    this.options = options;
    this.progress = progress;
    this.model = new HybridModel(options.model());
  }

  private record Answer(int[] tokens, float[] logits, double prefillSeconds) {}

  DemoResult run() {
    Codec codec = options.stateCodec();
    Conversation.Outcome exact = hold(codec.isLossy() ? Codec.RAW : codec);
    Answer cold = withoutStore(exact.prompt());
    StoreInspector store = StoreInspector.open(options.store());
    int said = exact.answers().length;
    int[] restored = Arrays.copyOfRange(exact.answers(), said - options.decodeTokens(), said);
    return new DemoResult(
        options.store(),
        exact.steps(),
        (int) store.summary().boundaries(),
        store.summary().points(),
        bundleBytes((int) store.summary().boundaries()),
        exact.writtenBytes(),
        store.totals().allocatedBytes(),
        cold.prefillSeconds(),
        options.decodeTokens(),
        Arrays.mismatch(restored, cold.tokens()),
        Arrays.equals(exact.logits(), cold.logits()),
        codec.isLossy() ? lossy(codec, exact.answers()) : null);
  }

  private Conversation.Outcome hold(Codec state) {
    return new Conversation(options, model, CodecPlan.RAW.withFixed(state), progress).hold();
  }

  private Answer withoutStore(int[] prompt) {
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
    double seconds = (System.nanoTime() - start) / 1e9;
    int[] answer = new int[options.decodeTokens()];
    for (int i = 0; i < answer.length; i++) {
      answer[i] = HybridModel.argmax(logits);
      logits = model.step(state, answer[i]);
    }
    return new Answer(answer, logits, seconds);
  }

  /** In the same store: what codecs lose makes another namespace. */
  private LossyState lossy(Codec codec, int[] exactAnswers) {
    int[] answers = hold(codec).answers();
    List<TensorReport> state =
        TensorInspector.inspect(options.store()).tensors().stream()
            .filter(tensor -> tensor.spec().isFixed() && tensor.asked() == codec)
            .toList();
    return new LossyState(
        codec,
        exactAnswers.length,
        Arrays.mismatch(answers, exactAnswers),
        state.stream().mapToLong(TensorReport::rawBytes).sum(),
        state.stream().mapToLong(TensorReport::storedBytes).sum());
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
