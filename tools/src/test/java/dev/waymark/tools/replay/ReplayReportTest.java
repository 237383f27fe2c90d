package dev.waymark.tools.replay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReplayReportTest {
  private final BundleCosts costs =
      new BundleCosts(LayoutCatalog.layout(LayoutCatalog.Entry.L5, 2_048));
  private final ReplayReport report;

  ReplayReportTest() {
    costs.add(41);
    report =
        ReplayReport.builder()
            .requests(1)
            .blocksTotal(41)
            .blocksUnique(40)
            .blocksHit(3)
            .blocksRestored(2)
            .bundles(costs)
            .appendedBytes(5)
            .writtenBytes(13_757_317_120L)
            .allocatedBytes(7)
            .restorePoints(8)
            .restores(9)
            .restoresVerified(10)
            .mismatches(11)
            .seconds(12.3456)
            .build();
  }

  @Test
  void jsonHasEveryFieldAsANumber() throws IOException {
    JsonNode json = new ObjectMapper().readTree(report.toJson());
    List<String> names = new ArrayList<>();
    json.fieldNames().forEachRemaining(names::add);
    assertThat(names)
        .containsExactly(
            "output_version",
            "command",
            "requests",
            "blocks_total",
            "blocks_unique",
            "blocks_hit",
            "blocks_restored",
            "bundle_bytes",
            "bundle_bytes_per_request",
            "appended_bytes",
            "written_bytes",
            "allocated_bytes",
            "restore_points",
            "restores",
            "restores_missed",
            "restores_verified",
            "mismatches",
            "requests_refused",
            "evicted_blocks",
            "record_bytes",
            "write_amplification",
            "seconds");
    assertThat(json.get("command").textValue()).isEqualTo("replay");
    names.remove("command");
    assertThat(names).allSatisfy(name -> assertThat(json.get(name).isNumber()).isTrue());
    assertThat(json.get("output_version").intValue()).isEqualTo(1);
    assertThat(json.get("blocks_hit").longValue()).isEqualTo(3);
    assertThat(json.get("bundle_bytes").longValue()).isEqualTo(288_903_659_520L);
    assertThat(json.get("bundle_bytes_per_request").longValue()).isEqualTo(13_757_317_120L);
    assertThat(json.get("restores_verified").longValue()).isEqualTo(10);
    assertThat(json.get("mismatches").longValue()).isEqualTo(11);
    assertThat(json.get("seconds").decimalValue()).isEqualTo("12.346");
  }

  @Test
  void tableSaysTheSame() {
    assertThat(report.toTable().lines().map(line -> line.replaceAll(" +", " ")))
        .contains(
            " unique 40 97.56%",
            " hit 3 7.32%",
            "bundles, one a boundary 288,903,659,520 B 21.00 times what was written",
            "bundles, one a request 13,757,317,120 B 1.00 times what was written",
            "seconds 12.3");
    assertThat(ReplayReport.builder().build().toTable()).doesNotContain("NaN");
  }
}
