package dev.waymark.internal.manifest;

import dev.waymark.error.CorruptionException;
import java.util.List;
import org.agrona.collections.LongArrayList;

/** Hands edits on one by one, and says where the one stands that was refused. */
final class EditTaker implements BatchSink {
  private final String fileName;
  private final EditSink edits;

  EditTaker(String fileName, EditSink edits) {
    this.fileName = fileName;
    this.edits = edits;
  }

  @Override
  public void take(List<Edit> batch, LongArrayList offsets) {
    for (int i = 0; i < batch.size(); i++) {
      if (i % EditSink.FORESEEN == 0) {
        edits.foresee(batch.subList(i, Math.min(batch.size(), i + EditSink.FORESEEN)));
      }
      try {
        edits.take(batch.get(i));
      } catch (CorruptionException e) {
        // Whoever takes an edit knows what it contradicts, and not where it stands.
        throw new CorruptionException(e.detail().at(fileName, offsets.getLong(i)), e);
      }
    }
  }
}
