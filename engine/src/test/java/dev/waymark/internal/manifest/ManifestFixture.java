package dev.waymark.internal.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.WaymarkException;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.sim.SimulatedDirectory;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/** A directory with one manifest in it, and what was appended to that. */
final class ManifestFixture implements AutoCloseable {
  static final StoreId STORE = new StoreId(0x1234, 0x5678);
  static final long ID = 7;
  static final NextIds NEXT = new NextIds(10, 11, 12, 13);
  static final String NAME = ManifestLog.fileName(ID);

  final SimulatedDirectory directory;
  final ManifestLog log;
  final List<Edit> edits = new ArrayList<>();

  ManifestFixture(SimulatedDirectory directory, List<Edit> state) {
    this.directory = directory;
    log = ManifestCheckpoint.write(directory, ID, STORE, 99, state.iterator(), NEXT);
    edits.addAll(state);
    edits.add(new Edit.CheckpointEnd(state.size(), 10, 11, 12, 13));
  }

  static ManifestFixture empty() {
    return new ManifestFixture(new SimulatedDirectory(), List.of());
  }

  void append(List<Edit> more) {
    for (Edit edit : more) {
      log.append(edit, false);
      edits.add(edit);
    }
  }

  void flush(List<Edit> more) {
    append(more);
    log.flushBatch();
  }

  void force(List<Edit> more) {
    flush(more);
    log.force();
  }

  /** Cuts off the space allocated ahead, all but the first bytes of it. */
  void trim() {
    try (StoreFile file = directory.open(NAME)) {
      file.setLength(log.lengthBytes() + 24);
    }
  }

  byte[] bytes() {
    return directory.bytes(NAME);
  }

  Read read() {
    return read(directory);
  }

  static Read read(SimulatedDirectory directory) {
    return read(directory, 0);
  }

  static Read read(SimulatedDirectory directory, long provenDurableBytes) {
    try (StoreFile file = directory.openReadOnly(NAME)) {
      return read(file, provenDurableBytes);
    }
  }

  /** Both on a thread of its own and not, which come to the same. */
  static Read read(StoreFile file, long provenDurableBytes) {
    Read ahead = null;
    WaymarkException refused = null;
    try {
      ahead = read(file, provenDurableBytes, true);
    } catch (WaymarkException e) {
      refused = e;
    }
    try {
      Read read = read(file, provenDurableBytes, false);
      assertThat(ahead).isEqualTo(read);
      return read;
    } catch (WaymarkException e) {
      assertThat(refused).hasSameClassAs(e).hasMessage(e.getMessage());
      throw e;
    }
  }

  private static Read read(StoreFile file, long provenDurableBytes, boolean ahead) {
    List<Edit> edits = new ArrayList<>();
    ManifestEnd end = ManifestReader.read(file, ID, STORE, provenDurableBytes, edits::add, ahead);
    return new Read(end, edits);
  }

  /** A directory whose manifest has those bytes. */
  static SimulatedDirectory directoryOf(byte[] content) {
    SimulatedDirectory directory = new SimulatedDirectory();
    try (StoreFile file = directory.create(NAME)) {
      file.write(0, new UnsafeBuffer(content), 0, content.length);
    }
    return directory;
  }

  @Override
  public void close() {
    log.close();
  }

  record Read(ManifestEnd end, List<Edit> edits) {}
}
