package dev.waymark.internal.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.ErrorDetail;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.agrona.collections.LongArrayList;
import org.junit.jupiter.api.Test;

class ReadAheadTest {
  private static final int MANY = 100_000;

  private final List<Edit> taken = new ArrayList<>();
  private final AtomicReference<Thread> reader = new AtomicReference<>();

  private static Edit edit(long number) {
    return new Edit.SegmentRemoved(number);
  }

  /** Gives batches of growing size, and fails at the end, perhaps. */
  private Consumer<BatchSink> reading(RuntimeException failure) {
    return sink -> {
      reader.set(Thread.currentThread());
      List<Edit> batch = new ArrayList<>();
      LongArrayList offsets = new LongArrayList();
      int size = 1;
      for (int i = 0; i < MANY; i++) {
        batch.add(edit(i));
        offsets.addLong(i);
        if (batch.size() == size || i == MANY - 1) {
          sink.take(batch, offsets);
          batch.clear();
          offsets.clear();
          size = size % 5_000 + 7;
        }
      }
      if (failure != null) {
        throw failure;
      }
    };
  }

  private void take(List<Edit> edits, LongArrayList offsets) {
    for (int i = 0; i < edits.size(); i++) {
      assertThat(edits.get(i)).isEqualTo(edit(offsets.getLong(i)));
    }
    taken.addAll(edits);
  }

  @Test
  void allIsTakenInOrderByTheCallersThread() {
    Thread own = Thread.currentThread();
    ReadAhead.run(
        reading(null),
        (edits, offsets) -> {
          assertThat(Thread.currentThread()).isSameAs(own);
          take(edits, offsets);
        });
    assertThat(reader.get()).isNotSameAs(own);
    assertThat(taken).hasSize(MANY).last().isEqualTo(edit(MANY - 1));
  }

  @Test
  void whatTheReadingThrowsComesAfterWhatItRead() {
    CorruptionException failure = new CorruptionException(ErrorDetail.of("a damaged frame"));
    assertThatThrownBy(() -> ReadAhead.run(reading(failure), this::take)).isSameAs(failure);
    assertThat(taken).hasSize(MANY);
  }

  @Test
  void whatTheTakerThrowsEndsTheReading() throws InterruptedException {
    IllegalStateException failure = new IllegalStateException("refused");
    assertThatThrownBy(
            () ->
                ReadAhead.run(
                    reading(new IllegalStateException("of no interest")),
                    (edits, offsets) -> {
                      take(edits, offsets);
                      throw failure;
                    }))
        .isSameAs(failure);
    assertThat(taken).hasSizeLessThan(MANY / 2);
    reader.get().join();
  }

  @Test
  void anInterruptionIsKeptForLater() {
    Thread.currentThread().interrupt();
    ReadAhead.run(reading(null), this::take);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(taken).hasSize(MANY);
  }
}
