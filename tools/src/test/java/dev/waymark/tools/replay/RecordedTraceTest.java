package dev.waymark.tools.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.Layout;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecordedTraceTest {

  @Test
  void codingSessions() throws IOException {
    Path file = TraceFiles.recorded("coding-sessions.jsonl.gz");
    PrefixCounter counter = new PrefixCounter();
    BundleCosts rowsOnly = new BundleCosts(LayoutCatalog.layout(LayoutCatalog.Entry.L5, 64));
    Layout scaled =
        LayoutScaler.scale(LayoutCatalog.layout(LayoutCatalog.Entry.L4, 64), 1_024).layout();
    DistinctBlocks distinct = new DistinctBlocks();
    Set<BoundaryKey> keys = new HashSet<>();
    TraceKeys traceKeys = new TraceKeys();
    int subAgentRequests = 0;
    try (TraceReader reader = TraceReader.open(file, OptionalInt.empty())) {
      assertThat(reader.kind()).isEqualTo(TraceKind.SESSIONS);
      assertThat(reader.blockTokens()).isEqualTo(64);
      for (TraceRequest r = reader.next(); r != null; r = reader.next()) {
        counter.add(r);
        List<BoundaryKey> chain = traceKeys.keysOf(r);
        assertThat(chain).hasSize(r.blocks());
        keys.addAll(chain);
        distinct.addAll(chain);
        rowsOnly.add(r.blocks());
        subAgentRequests += r.isSubAgent() ? 1 : 0;
      }
      assertThat(reader.readBytes()).isEqualTo(reader.fileBytes());
    }
    assertThat(counter.requests).isEqualTo(742);
    assertThat(subAgentRequests).isEqualTo(12);
    assertThat(counter.blocks).isEqualTo(1_146_037);
    assertThat(counter.unique).isEqualTo(39_598);
    assertThat(counter.hits).isEqualTo(1_106_439);
    assertThat(keys).hasSize(39_598);
    assertThat(distinct.count()).isEqualTo(39_598);
    assertThat(rowsOnly.everyRequestBytes())
        .isEqualTo(BigInteger.valueOf(1_146_037L * 64 * 163_840));
    // Window rows here are no rarer than rows: no block is longer than the window.
    assertThat(counter.unique * (scaled.rowBytes(0, 64) + scaled.windowBytes(0, 64)))
        .isEqualTo(2_432_901_120L);
  }

  @Test
  void codingSessionsInBlocksOf256() throws IOException {
    Path file = TraceFiles.recorded("coding-sessions.jsonl.gz");
    PrefixCounter counter = new PrefixCounter();
    Set<BoundaryKey> keys = new HashSet<>();
    TraceKeys traceKeys = new TraceKeys();
    for (TraceRequest r : TraceFiles.readAll(file, OptionalInt.of(256))) {
      counter.add(r);
      keys.addAll(traceKeys.keysOf(r));
    }
    assertThat(counter.requests).isEqualTo(742);
    assertThat(counter.blocks).isBetween(1_146_037L / 4 - 742, 1_146_037L / 4);
    assertThat(keys).hasSize((int) counter.unique);
    assertThat(counter.hits + counter.unique).isEqualTo(counter.blocks);
  }

  @Test
  void mooncakeConversation() throws IOException {
    Path file = TraceFiles.recorded("mooncake-conversation.jsonl.gz");
    PrefixCounter counter = new PrefixCounter();
    DistinctBlocks distinct = new DistinctBlocks();
    TraceKeys traceKeys = new TraceKeys();
    double last = 0;
    try (TraceReader reader = TraceReader.open(file, OptionalInt.empty())) {
      assertThat(reader.kind()).isEqualTo(TraceKind.MOONCAKE);
      assertThat(reader.blockTokens()).isEqualTo(512);
      for (TraceRequest r = reader.next(); r != null; r = reader.next()) {
        counter.add(r);
        distinct.addAll(traceKeys.keysOf(r));
        last = r.timeSeconds();
      }
    }
    assertThat(counter.requests).isEqualTo(12_031);
    assertThat(counter.blocks).isEqualTo(288_500);
    assertThat(counter.unique).isEqualTo(182_790);
    assertThat(distinct.count()).isEqualTo(182_790);
    assertThat(counter.hits).isEqualTo(105_710);
    assertThat(100.0 * counter.hits / counter.blocks).isBetween(36.635, 36.645);
    assertThat(last).isBetween(3_000.0, 3_700.0);
  }
}
