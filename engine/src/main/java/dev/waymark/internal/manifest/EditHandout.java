package dev.waymark.internal.manifest;

import dev.waymark.error.CorruptionException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.agrona.collections.LongArrayList;

/**
 * Hands out the edits of a manifest, batch by batch and in their order: a large batch on another
 * thread, beside whoever reads the next one. Whatever it threw is thrown by the next call, and
 * comes before anything that was found behind it.
 */
final class EditHandout {
  /** For fewer edits than this a thread costs more than it gives. */
  private static final int LEAST_BESIDE = 1_024;

  private final EditSink sink;
  private final String fileName;
  private CompletableFuture<Void> underWay = CompletableFuture.completedFuture(null);

  EditHandout(EditSink sink, String fileName) {
    this.sink = sink;
    this.fileName = fileName;
  }

  /** Hands out a batch, which is not to be changed any more, once the one before was taken. */
  void accept(List<Edit> batch, LongArrayList offsets) {
    settle();
    if (batch.size() < LEAST_BESIDE) {
      handOut(batch, offsets);
    } else {
      underWay = CompletableFuture.runAsync(() -> handOut(batch, offsets));
    }
  }

  /** Waits until all was taken. */
  void settle() {
    try {
      underWay.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw e;
    }
  }

  private void handOut(List<Edit> batch, LongArrayList offsets) {
    for (int i = 0; i < batch.size(); i++) {
      if (i % EditSink.FORESEEN == 0) {
        sink.foresee(batch.subList(i, Math.min(batch.size(), i + EditSink.FORESEEN)));
      }
      handOut(batch.get(i), offsets.getLong(i));
    }
  }

  /** Whoever takes an edit knows what it contradicts, and not where it stands. */
  private void handOut(Edit edit, long offset) {
    try {
      sink.take(edit);
    } catch (CorruptionException e) {
      throw new CorruptionException(e.detail().at(fileName, offset), e);
    }
  }
}
