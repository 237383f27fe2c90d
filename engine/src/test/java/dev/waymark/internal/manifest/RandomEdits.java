package dev.waymark.internal.manifest;

import dev.waymark.internal.log.RecordKind;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.SegmentKind;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.RestorePolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;

/** Edits of every kind that keep the rules; small numbers, large ones and the ends of ranges. */
final class RandomEdits {
  static final int KINDS = 18;

  private final Random random;

  RandomEdits(long seed) {
    random = new Random(seed);
  }

  Edit next() {
    return ofKind(random.nextInt(KINDS));
  }

  List<Edit> list(int count) {
    return listOf(count, this::next);
  }

  /** All but the end of a checkpoint. */
  Edit ofKind(int kind) {
    return switch (kind) {
      case 0 -> new Edit.NamespaceAdded(id(), key(), text(), text(), text());
      case 1 -> new Edit.NamespaceDropped(id());
      case 2 ->
          new Edit.SegmentCreated(1 + random.nextInt(1000), pick(SegmentKind.values()), number());
      case 3 -> segmentSealed();
      case 4 -> new Edit.SegmentRemoved(id());
      case 5 ->
          new Edit.SessionOpened(
              number(),
              id(),
              number(),
              number(),
              policy(),
              pick(AbortMode.values()),
              random.nextLong());
      case 6 -> new Edit.SessionClosed(number(), pick(SessionOutcome.values()), random.nextLong());
      case 7 -> rowsAdded();
      case 8 -> new Edit.RowsDropped(id(), key(), pick(DropReason.values()));
      case 9 -> pointAdded();
      case 10 ->
          new Edit.PointDropped(id(), key(), pick(DropReason.values()), random.nextBoolean());
      case 11 -> new Edit.ChainKept(id(), key(), text(), random.nextLong());
      case 12 -> new Edit.ChainReleased(id(), text());
      case 13 ->
          new Edit.RecordMoved(id(), key(), pick(RecordKind.values()), 1, offset(), 2, offset());
      case 14 ->
          new Edit.Touched(listOf(random.nextInt(6), () -> new Edit.Touch(id(), key(), number())));
      case 15 -> new Edit.BudgetSpent(random.nextLong(), number());
      case 16 ->
          new Edit.DescriptorPlaced(
              id(), new RecordLocation(id(), offset(), 1 + random.nextInt(1 << 20)));
      default -> new Edit.BoundaryUsed(number(), id(), key());
    };
  }

  private Edit segmentSealed() {
    long footer = random.nextBoolean() ? 0 : offset();
    return new Edit.SegmentSealed(id(), footer + 1 + random.nextInt(10_000), footer);
  }

  private Edit rowsAdded() {
    long from = random.nextInt(1 << 20);
    return new Edit.RowsAdded(
        id(),
        key(),
        key(),
        number(),
        from,
        from + 1 + random.nextInt(4096),
        number(),
        random.nextLong(),
        number(),
        locations(1));
  }

  private Edit pointAdded() {
    return new Edit.PointAdded(
        id(),
        key(),
        number(),
        number(),
        number(),
        random.nextLong(),
        number(),
        number(),
        locations(0),
        locations(0));
  }

  private List<RecordLocation> locations(int least) {
    return listOf(
        least + random.nextInt(4),
        () -> new RecordLocation(id(), offset(), 1 + random.nextInt(1 << 30)));
  }

  private RestorePolicy policy() {
    return switch (random.nextInt(4)) {
      case 0 -> RestorePolicy.EVERY;
      case 1 -> RestorePolicy.LAST;
      case 2 -> RestorePolicy.stride(1 + random.nextInt(Integer.MAX_VALUE));
      default -> RestorePolicy.lattice(random.nextInt(1_000_001));
    };
  }

  private BoundaryKey key() {
    return new BoundaryKey(
        random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
  }

  private int id() {
    return switch (random.nextInt(4)) {
      case 0 -> 1;
      case 1 -> Integer.MAX_VALUE;
      default -> 1 + random.nextInt(1000);
    };
  }

  private long number() {
    return switch (random.nextInt(5)) {
      case 0 -> 0;
      case 1 -> Long.MAX_VALUE;
      case 2 -> random.nextLong() & Long.MAX_VALUE;
      default -> random.nextInt(1000);
    };
  }

  private long offset() {
    return 4096L * (1 + random.nextInt(1 << 20));
  }

  private String text() {
    return switch (random.nextInt(4)) {
      case 0 -> "";
      case 1 -> "{\"name\": \"\u00e4\u4e2d\uD83D\uDE00\"}";
      default -> "x".repeat(random.nextInt(200));
    };
  }

  private <T> T pick(T[] values) {
    return values[random.nextInt(values.length)];
  }

  private static <T> List<T> listOf(int count, Supplier<? extends T> source) {
    List<T> list = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      list.add(source.get());
    }
    return List.copyOf(list);
  }
}
