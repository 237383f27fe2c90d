package dev.waymark.internal.check;

import dev.waymark.error.WaymarkException;
import dev.waymark.internal.forest.Forest;
import dev.waymark.internal.forest.NamespaceState;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.RecordHeader;
import dev.waymark.internal.log.RecordLocation;
import dev.waymark.internal.log.RecordReader;
import dev.waymark.internal.log.Scratch;
import dev.waymark.layout.TensorSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How the tensors of a store are stored, from the fronts of all records that live. What cannot be
 * read, because it is damaged or a writer has taken it away since, is counted and left out: to say
 * what is wrong is the {@link Verifier}'s task.
 */
public final class TensorAccounts {
  private final StoreDirectory directory;
  private final Map<Integer, List<TensorAccount>> byNamespace = new TreeMap<>();
  private final Map<Long, List<Live>> bySegment = new TreeMap<>();
  private long records;
  private long recordsUnread;

  /** A record that lives. */
  private record Live(RecordLocation location, NamespaceState namespace) {}

  /**
   * What was found.
   *
   * @param tensors every tensor of every namespace, in the order of the layouts
   * @param records records that live
   * @param recordsUnread those of them that could not be read
   */
  public record Result(List<TensorAccount> tensors, long records, long recordsUnread) {}

  private TensorAccounts(StoreDirectory directory) {
    this.directory = directory;
  }

  /** Reads the front of every record that lives in a store. */
  public static Result of(StoreDirectory directory, ReadOnlyStore store) {
    return new TensorAccounts(directory).read(store);
  }

  private Result read(ReadOnlyStore store) {
    Forest forest = store.forest();
    for (NamespaceState namespace : forest.namespaces()) {
      List<TensorAccount> tensors = new ArrayList<>();
      for (TensorSpec spec : namespace.layout().tensors()) {
        tensors.add(new TensorAccount(namespace, spec));
      }
      byNamespace.put(namespace.id(), tensors);
    }
    forest.forEachBoundary(
        node -> {
          NamespaceState namespace = forest.namespaceOf(node);
          add(namespace, forest.rowRecords(node));
          add(namespace, forest.deltaRecords(node));
          add(namespace, forest.stateRecords(node));
        });
    Map<Long, SegmentAccount> segments = new HashMap<>();
    store.segments().forEach(segment -> segments.put(segment.info().segmentId(), segment));
    bySegment.forEach((id, live) -> segment(segments.get(id), live));
    return new Result(
        byNamespace.values().stream().flatMap(List::stream).toList(), records, recordsUnread);
  }

  private void add(NamespaceState namespace, List<RecordLocation> locations) {
    for (RecordLocation location : locations) {
      bySegment
          .computeIfAbsent(location.segmentId(), id -> new ArrayList<>())
          .add(new Live(location, namespace));
      records++;
    }
  }

  private void segment(SegmentAccount segment, List<Live> live) {
    live.sort(Comparator.comparingLong(record -> record.location().offsetBytes()));
    if (segment == null || segment.lengthBytes() == 0) {
      recordsUnread += live.size();
      return;
    }
    String file = segment.info().fileName();
    int read = 0;
    try (Scratch.Pool scratches = new Scratch.Pool(1);
        StoreFile opened = directory.openReadOnly(file);
        MappedRegion region = opened.map(segment.lengthBytes(), false);
        Scratch scratch = scratches.take()) {
      RecordReader reader = new RecordReader(region, file, scratch);
      for (Live record : live) {
        read += record(reader, record) ? 1 : 0;
      }
    } catch (WaymarkException e) {
      // The file is gone or shorter than it was: the rest of its records are not read.
    }
    recordsUnread += live.size() - read;
  }

  private boolean record(RecordReader reader, Live live) {
    try {
      RecordHeader record = reader.header(live.location(), live.namespace().layout());
      for (RecordHeader.Part part : record.parts()) {
        byNamespace.get(live.namespace().id()).get(part.tensorIndex()).add(reader, record, part);
      }
      return true;
    } catch (WaymarkException e) {
      return false;
    }
  }
}
