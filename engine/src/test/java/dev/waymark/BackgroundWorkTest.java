package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.TensorSpec;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The store's own work comes in at any moment of an append. */
class BackgroundWorkTest {
  @Test
  void aSegmentStaysThatIsFullBeforeItsRecordsAreNamed() {
    // One boundary's state fills several segments of 256 KiB, one after the other.
    Layout layout = Layout.of(4, TensorSpec.fixed("s", DType.F32, 6, 50_000));
    FakeModel model = new FakeModel(layout);
    int[] prompt = {1, 2, 3, 4};
    try (TestStore test = new TestStore(TestStore.options("16MiB").build())) {
      Namespace ns = test.namespace(layout);
      int[] works = new int[1];
      test.directory()
          .setYieldPoints(
              kind -> {
                if (kind.equals("PUT") && works[0] >= 0) {
                  int count = works[0] + 1;
                  works[0] = -1;
                  test.store().runOnce();
                  works[0] = count;
                }
              });
      try (PrefillSession session = ns.prefill(ns.match(prompt), PrefillPlan.tokens(5))) {
        session.append(Arrays.copyOf(prompt, 4), model.plainViews(prompt, 4));
      }
      assertThat(works[0]).isGreaterThan(5);
      works[0] = -1;
      PrefixMatch match = ns.match(Prompt.ofTokens(prompt), 4);
      model.assertRestores(new Random(1), match, 4, prompt);
      test.reopen();
      model.assertRestores(
          new Random(2), test.namespace(layout).match(Prompt.ofTokens(prompt), 4), 4, prompt);
    }
  }
}
