package dev.waymark.internal.forest;

import dev.waymark.internal.log.RecordLocation;
import java.util.function.BooleanSupplier;

/** Told of every record that an edit makes live or dead. */
public interface RecordEvents {
  /** For a forest that stands for no segments. */
  RecordEvents UNHEARD =
      new RecordEvents() {
        @Override
        public void check(RecordLocation location) {}

        @Override
        public void born(RecordLocation location) {}

        @Override
        public void died(RecordLocation location, BooleanSupplier isRead) {}
      };

  /**
   * Asked of every record of an edit before anything of it is applied.
   *
   * @throws dev.waymark.error.CorruptionException if no record can be there
   */
  void check(RecordLocation location);

  /** An edit names the record. */
  void born(RecordLocation location);

  /**
   * The edit that named the record was undone.
   *
   * @param isRead whether anyone who found it before may still look at it; safe to ask from any
   *     thread, and false for good once it was
   */
  void died(RecordLocation location, BooleanSupplier isRead);
}
