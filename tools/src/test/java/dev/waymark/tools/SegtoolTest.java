package dev.waymark.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

class SegtoolTest {
  @Test
  void eachVerbIsReadyWithoutTheOthers() {
    Set<String> all = Segtool.commandLine().getSubcommands().keySet();
    assertThat(all).contains("status", "tree", "help").hasSizeGreaterThan(15);
    for (String verb : all) {
      boolean needsAll = verb.equals("help") || verb.equals("completion");
      assertThat(Segtool.commandLine(verb).getSubcommands().keySet())
          .isEqualTo(needsAll ? all : Set.of(verb));
    }
    assertThat(Segtool.commandLine("statsu").getSubcommands().keySet()).isEqualTo(all);
  }

  @Test
  void theVerbsThatAnArchiveOfClassesIsMadeOfRun() {
    assertThat(Rehearsal.run()).isEqualTo(ExitCodes.OK);
  }
}
