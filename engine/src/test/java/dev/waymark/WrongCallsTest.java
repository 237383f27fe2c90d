package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.BoundaryMismatchException;
import dev.waymark.error.ClosedException;
import dev.waymark.error.ConcurrentUseException;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.error.StaleMatchException;
import dev.waymark.error.ViewMismatchException;
import dev.waymark.error.WaymarkException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.DType;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Memory;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import dev.waymark.layout.TensorSpec;
import dev.waymark.layout.TensorView;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What a caller may get wrong: each is a typed error that says what was expected, and the store is
 * as it was.
 */
class WrongCallsTest {
  private static final TensorSpec KEYS = TensorSpec.rows("keys", DType.BF16, 1, 2, -1, 8);
  private static final TensorSpec WINDOW = TensorSpec.window("window", DType.BF16, 6, 1, 2, -1, 8);
  private static final TensorSpec STATE = TensorSpec.fixed("state", DType.F32, 2, 16);
  private static final Layout LAYOUT = Layout.of(4, KEYS, WINDOW, STATE);

  private final FakeModel model = new FakeModel(LAYOUT);
  private final int[] prompt = new Random(1).ints(41, 0, 1_000).toArray();
  private TestStore test;
  private Namespace ns;
  private PrefillSession session;

  @BeforeEach
  void storeAPromptAndStartAnother() {
    test = new TestStore(TestStore.options("64MiB").build());
    ns = test.namespace(LAYOUT);
    try (PrefillSession first = start(Arrays.copyOf(prompt, 17))) {
      append(first, 16);
      first.promptComplete();
    }
    session = start(prompt);
    append(session, 24);
  }

  @AfterEach
  void theStoreGoesOn() {
    append(session, 40);
    session.promptComplete();
    session.close();
    PrefixMatch match = ns.match(prompt);
    assertThat(match.restorableTokens()).isEqualTo(40);
    for (int at : match.points()) {
      model.assertRestores(new Random(at), match, at, prompt);
    }
    test.close();
  }

  private PrefillSession start(int[] tokens) {
    return ns.prefill(
        ns.match(tokens), PrefillPlan.tokens(tokens.length).policy(RestorePolicy.EVERY));
  }

  private void append(PrefillSession into, int to) {
    while (into.tokens() < to) {
      int end = into.tokens() + 4;
      into.append(block(end), model.plainViews(prompt, end));
    }
  }

  private int[] block(int end) {
    return Arrays.copyOfRange(prompt, end - 4, end);
  }

  private void refused(
      Class<? extends WaymarkException> type, ThrowingCallable call, String... says) {
    Map<String, Object> before = test.state();
    int tokens = session.tokens();
    assertThatThrownBy(call)
        .isInstanceOf(type)
        .satisfies(e -> assertThat(List.of(says)).allMatch(e.getMessage()::contains));
    assertThat(test.state()).isEqualTo(before);
    assertThat(session.tokens()).isEqualTo(tokens);
    test.check();
  }

  /** The right views, but for one tensor. */
  private StateViews but(int end, TensorSpec spec, TensorView view) {
    StateViews.Builder builder = StateViews.builder();
    StateViews right = model.plainViews(prompt, end);
    LAYOUT.tensors().forEach(each -> builder.put(each, right.get(each)));
    return builder.put(spec, view).build();
  }

  private static TensorView view(int bytes, long outer, long row, long first, long end) {
    return TensorView.linear(Memory.of(ByteBuffer.allocate(bytes)), 0, outer, row, first, end);
  }

  @Test
  void rowsThatEndElsewhereThanTheBoundary() {
    refused(
        BoundaryMismatchException.class,
        () -> session.append(block(28), model.plainViews(prompt, 32)),
        "28",
        "32");
    refused(
        BoundaryMismatchException.class,
        () -> session.append(block(28), model.plainViews(prompt, 24)),
        "28");
  }

  @Test
  void aBoundaryWhoseRowsNumberMore() {
    // As a cache that had been labelled 7,680 while it held 8,192 rows.
    Layout large = Layout.of(512, TensorSpec.rows("k", DType.U8, 1, 1, -1, 1));
    FakeModel largeModel = new FakeModel(large);
    int[] tokens = new Random(2).ints(8_192, 0, 9).toArray();
    Namespace other = test.namespace(large);
    try (PrefillSession prefill =
        other.prefill(other.match(tokens), PrefillPlan.tokens(tokens.length))) {
      int[] labelled = Arrays.copyOf(tokens, 7_680);
      refused(
          BoundaryMismatchException.class,
          () -> prefill.append(labelled, largeModel.plainViews(tokens, 8_192)),
          "7680",
          "8192");
      prefill.append(tokens, largeModel.plainViews(tokens, 8_192));
    }
    largeModel.assertRestores(
        new Random(1), other.match(Prompt.ofTokens(tokens), 8_192), 8_192, tokens);
  }

  @Test
  void aTensorOfAnotherShape() {
    TensorSpec wider = TensorSpec.rows("keys", DType.BF16, 1, 2, -1, 16);
    refused(
        ViewMismatchException.class,
        () -> session.append(block(28), but(28, wider, view(2 * 28 * 32, 28 * 32, 32, 0, 28))),
        "keys");
    TensorSpec smaller = TensorSpec.fixed("state", DType.F32, 16);
    refused(
        ViewMismatchException.class,
        () ->
            session.append(
                block(28), but(28, smaller, TensorView.value(smaller, ByteBuffer.allocate(64)))),
        "state",
        "32",
        "16");
    TensorSpec unknown = TensorSpec.fixed("other", DType.F32, 16);
    refused(
        ViewMismatchException.class,
        () ->
            session.append(
                block(28), but(28, unknown, TensorView.value(unknown, ByteBuffer.allocate(64)))),
        "other");
  }

  @Test
  void aViewThatIsTooShort() {
    refused(
        ViewMismatchException.class,
        () -> session.append(block(28), but(28, KEYS, view(2 * 28 * 16 - 1, 448, 16, 0, 28))),
        "keys",
        "896",
        "895");
    refused(
        ViewMismatchException.class,
        () -> session.append(block(28), but(28, KEYS, view(900, 448, 15, 0, 28))),
        "keys",
        "stride");
    refused(
        ViewMismatchException.class,
        () -> session.append(block(28), but(28, KEYS, view(900, 48, 16, 25, 28))),
        "keys",
        "24 to 28");
    // The window needs rows 22 to 28.
    refused(
        ViewMismatchException.class,
        () -> session.append(block(28), but(28, WINDOW, view(900, 80, 16, 27, 28))),
        "window");
    refused(
        ViewMismatchException.class,
        () -> session.append(block(28), StateViews.builder().build()),
        "keys");
    refused(
        ViewMismatchException.class,
        () ->
            session.append(
                block(28),
                StateViews.builder().put(KEYS, view(2 * 28 * 16, 448, 16, 0, 28)).build()),
        "window");
  }

  @Test
  void viewsThatAreNone() {
    Memory memory = Memory.of(ByteBuffer.allocate(64));
    refused(ViewMismatchException.class, () -> TensorView.linear(memory, -1, 0, 1, 0, 1));
    refused(ViewMismatchException.class, () -> TensorView.linear(memory, 0, 0, 1, 2, 1));
    refused(ViewMismatchException.class, () -> TensorView.ring(memory, 0, 0, 1, 8, 8, 8, 9));
    refused(ViewMismatchException.class, () -> TensorView.ring(memory, 0, 0, 1, 8, 2, 1, 9));
    refused(ViewMismatchException.class, () -> TensorView.ring(memory, 0, 0, 1, 8, 0, 5, 4));
    refused(InvalidArgumentException.class, () -> Memory.ofAddress(0, 8, null));
  }

  @Test
  void aWindowTooShortForAPointThatIsHeldInMemory() {
    append(session, 40);
    session.promptComplete();
    PrefillSession generates =
        ns.prefill(
            ns.match(Prompt.ofTokens(prompt), 40),
            PrefillPlan.tokens(41).policy(RestorePolicy.LAST));
    generates.promptComplete();
    int[] longer = Arrays.copyOf(prompt, 44);
    StateViews right = model.plainViews(longer, 44);
    StateViews shorter =
        StateViews.builder()
            .put(KEYS, right.get(KEYS))
            .put(STATE, right.get(STATE))
            .put(WINDOW, view(900, 160, 16, 41, 44))
            .build();
    int[] generated = Arrays.copyOfRange(longer, 40, 44);
    refused(ViewMismatchException.class, () -> generates.append(generated, shorter), "window");
    generates.append(generated, right);
    generates.close();
    model.assertRestores(new Random(1), ns.match(Prompt.ofTokens(longer), 44), 44, longer);
  }

  @Test
  void aSessionAfterItsEnd() {
    PrefillSession ended = start(prompt);
    ended.abort();
    refused(
        ClosedException.class,
        () -> ended.append(block(28), model.plainViews(prompt, 28)),
        "again");
    refused(ClosedException.class, ended::promptComplete);
    ended.abort(AbortMode.DISCARD);
    ended.close();
  }

  @Test
  void aPrefillThatStartsWhereNoPointIs() {
    PrefixMatch match = ns.match(prompt);
    refused(
        InvalidArgumentException.class,
        () -> ns.prefill(match, PrefillPlan.tokens(41).from(6)),
        "point",
        "6");
    refused(
        InvalidArgumentException.class,
        () -> ns.prefill(match, PrefillPlan.tokens(41).from(40)),
        "40");
    refused(InvalidSettingException.class, () -> PrefillPlan.tokens(-1));
    refused(InvalidSettingException.class, () -> PrefillPlan.tokens(1).from(-2));
  }

  @Test
  void aMatchOfAnotherNamespaceOrTenant() {
    Namespace other = test.store().namespace(TestStore.identity("other"), LAYOUT);
    PrefixMatch match = ns.match(prompt);
    PrefillPlan plan = PrefillPlan.tokens(prompt.length);
    refused(InvalidArgumentException.class, () -> other.prefill(match, plan), "namespace");
    Namespace tenant =
        ns.tenant("0123456789abcdef".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    refused(InvalidArgumentException.class, () -> tenant.prefill(match, plan), "tenant");
    refused(InvalidArgumentException.class, () -> ns.tenant(new byte[15]), "16");
  }

  @Test
  void aMatchThatIsStale() {
    PrefillSession gone = start(Arrays.copyOf(prompt, 37));
    append(gone, 36);
    PrefixMatch match = ns.match(Arrays.copyOf(prompt, 38));
    assertThat(match.restorableTokens()).isEqualTo(36);
    gone.abort(AbortMode.DISCARD);
    refused(
        StaleMatchException.class, () -> ns.prefill(match, PrefillPlan.tokens(38)), "match again");
    refused(StaleMatchException.class, () -> match.restore(), "36", "match again");
  }

  @Test
  void aRestoreWhereNoPointIs() {
    PrefixMatch match = ns.match(prompt);
    refused(InvalidArgumentException.class, () -> match.restore(13), "13");
    refused(InvalidArgumentException.class, () -> match.restore(40), "40");
    PrefixMatch none = ns.match(new int[] {7, 7, 7, 7, 7});
    refused(InvalidArgumentException.class, none::restore, "0");
    refused(InvalidArgumentException.class, () -> ns.match(Prompt.ofTokens(prompt), -1), "-1");
  }

  @Test
  void memoryThatARestoreCannotWrite() {
    try (RestoredState state = ns.match(prompt).restore(16)) {
      TensorView readOnly =
          TensorView.packed(KEYS, ByteBuffer.allocate(512).asReadOnlyBuffer(), 0, 16);
      refused(ViewMismatchException.class, () -> state.read(KEYS, readOnly), "read-only");
      model.assertRestores(new Random(1), state, prompt);
    }
  }

  @Test
  void aRestoreIntoTooLittle() {
    try (RestoredState state = ns.match(prompt).restore(16)) {
      refused(
          ViewMismatchException.class,
          () -> state.read(KEYS, view(512, 256, 16, 1, 16)),
          "keys",
          "0 to 16");
      refused(
          ViewMismatchException.class, () -> state.read(KEYS, view(511, 256, 16, 0, 16)), "512");
      refused(
          ViewMismatchException.class,
          () -> state.read(WINDOW, view(512, 96, 16, 10, 16)),
          "window",
          "sinks");
      TensorSpec wider = TensorSpec.rows("keys", DType.BF16, 1, 2, -1, 16);
      refused(
          ViewMismatchException.class,
          () -> state.read(wider, view(1_024, 512, 32, 0, 16)),
          "keys");
      model.assertRestores(new Random(1), state, prompt);
    }
  }

  @Test
  void aWrongViewLeavesWhatWasReadBefore() {
    try (RestoredState state = ns.match(prompt).restore(16)) {
      StateViews right = model.plainViews(prompt, 16);
      state.read(right);
      refused(
          ViewMismatchException.class,
          () ->
              state.read(
                  StateViews.builder()
                      .put(KEYS, right.get(KEYS))
                      .put(STATE, right.get(STATE))
                      .put(WINDOW, view(512, 96, 16, 12, 16))
                      .build()));
      assertThat(state.finish().tokens()).isEqualTo(16);
    }
  }

  @Test
  void aRestoreThatReadNotEverything() {
    try (RestoredState state = ns.match(prompt).restore(16)) {
      state.read(KEYS, view(512, 256, 16, 0, 16));
      refused(ViewMismatchException.class, state::finish, "window");
      model.assertRestores(new Random(1), state, prompt);
    }
  }

  @Test
  void aRestoreAfterItsEnd() {
    RestoredState state = ns.match(prompt).restore(16);
    state.close();
    state.close();
    refused(ClosedException.class, () -> state.read(model.plainViews(prompt, 16)), "again");
    refused(ClosedException.class, state::finish);
  }

  @Test
  void keysThatStandForAnotherPlace() {
    List<BoundaryKey> keys = List.of(key(1), key(2), key(3));
    PrefillPlan plan = PrefillPlan.tokens(12).policy(RestorePolicy.EVERY);
    PrefixMatch match = ns.match(Prompt.ofKeys(keys, 12), 12);
    try (PrefillSession own = ns.prefill(match, plan)) {
      own.append(keys.subList(0, 1), model.plainViews(prompt, 4));
      own.append(keys.subList(1, 2), model.plainViews(prompt, 8));
      // The first block's key again, for the third.
      refused(
          BoundaryMismatchException.class,
          () -> own.append(keys.subList(0, 1), model.plainViews(prompt, 12)),
          "key");
      own.append(keys.subList(2, 3), model.plainViews(prompt, 12));
    }
    try (PrefillSession other = ns.prefill(ns.match(Prompt.ofKeys(List.of(key(9)), 4)), plan)) {
      other.append(List.of(key(9)), model.plainViews(prompt, 4));
      // Of the right length, but after another block.
      refused(
          BoundaryMismatchException.class,
          () -> other.append(keys.subList(1, 2), model.plainViews(prompt, 8)),
          "key");
    }
    model.assertRestores(new Random(1), ns.match(Prompt.ofKeys(keys, 12), 12), 12, prompt);
    refused(InvalidArgumentException.class, () -> ns.match(Prompt.ofKeys(keys, 17), 17), "4", "3");
  }

  private static BoundaryKey key(int seed) {
    byte[] bytes = new byte[32];
    new Random(seed).nextBytes(bytes);
    return BoundaryKey.of(bytes);
  }

  @Test
  void twoThreadsOnOneSession() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    // A commit of the first thread's append waits in the directory while the second one calls.
    test.directory()
        .setYieldPoints(
            label -> {
              if (label.equals("FORCE") && Thread.currentThread().getName().equals("first")) {
                inside.countDown();
                awaitUninterruptibly(leave);
              }
            });
    PrefillSession shared =
        ns.prefill(ns.match(prompt), PrefillPlan.tokens(41).durability(Durability.COMMIT));
    int from = shared.tokens();
    int[] tokens = Arrays.copyOfRange(prompt, from, from + 4);
    StateViews views = model.plainViews(prompt, from + 4);
    Thread first = new Thread(() -> shared.append(tokens, views), "first");
    first.start();
    inside.await();
    assertThatThrownBy(() -> shared.append(tokens, views))
        .isInstanceOf(ConcurrentUseException.class)
        .hasMessageContaining("a session of its own");
    assertThatThrownBy(shared::promptComplete).isInstanceOf(ConcurrentUseException.class);
    leave.countDown();
    first.join();
    assertThat(shared.tokens()).isEqualTo(from + 4);
    shared.close();
  }

  static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void anAbortWithViewsThatAreWrong() {
    int at = session.tokens();
    for (PrefillSession each : List.of(session, generating(), bare())) {
      int tokens = each.tokens();
      int[] of = each == session ? prompt : other;
      StateViews elsewhere = model.plainViews(of, tokens + 4);
      StateViews right = model.plainViews(of, tokens);
      Map<String, Object> before = test.state();
      long held = heldBytesLeft();
      for (StateViews wrong :
          List.of(
              elsewhere,
              StateViews.builder().put(STATE, right.get(STATE)).put(KEYS, right.get(KEYS)).build(),
              StateViews.builder().put(WINDOW, right.get(WINDOW)).build(),
              StateViews.builder()
                  .put(WINDOW, view(4 * 16, 32, 16, tokens - 2, tokens))
                  .put(STATE, right.get(STATE))
                  .build(),
              StateViews.builder()
                  .put(WINDOW, right.get(WINDOW))
                  .put(STATE, TensorView.value(STATE, ByteBuffer.allocate(64)))
                  .build())) {
        if (each == session && wrong != elsewhere) {
          // It has a point there, for which nothing is taken from the views.
          continue;
        }
        assertThatThrownBy(() -> each.abortKeeping(wrong))
            .isInstanceOfAny(BoundaryMismatchException.class, ViewMismatchException.class);
        assertThat(test.state()).isEqualTo(before);
        assertThat(heldBytesLeft()).isEqualTo(held);
        test.check();
      }
      if (each != session) {
        each.append(
            Arrays.copyOfRange(other, tokens, tokens + 4), model.plainViews(other, tokens + 4));
        each.abortKeeping(model.plainViews(other, tokens + 4));
        assertThat(ns.match(Prompt.ofTokens(Arrays.copyOf(other, tokens + 4)), tokens + 4).points())
            .contains(tokens + 4);
        // The second time it is over already, whatever is wrong.
        each.abortKeeping(elsewhere);
      }
    }
    assertThat(session.tokens()).isEqualTo(at);
    assertThat(heldBytesLeft()).isEqualTo(test.store().engine().options.heldStateBytes());
  }

  private final int[] other = new Random(2).ints(41, 0, 1_000).toArray();

  /** A session whose newest state is held in memory. */
  private PrefillSession generating() {
    PrefillSession generates =
        ns.prefill(ns.match(new int[0]), PrefillPlan.tokens(9).policy(RestorePolicy.LAST));
    for (int to = 4; to <= 8; to += 4) {
      generates.append(Arrays.copyOfRange(other, to - 4, to), model.plainViews(other, to));
    }
    generates.promptComplete();
    generates.append(Arrays.copyOfRange(other, 8, 12), model.plainViews(other, 12));
    assertThat(heldBytesLeft()).isLessThan(test.store().engine().options.heldStateBytes());
    return generates;
  }

  /** A session at a boundary without a point. */
  private PrefillSession bare() {
    PrefillSession bare =
        ns.prefill(ns.match(new int[0]), PrefillPlan.tokens(41).policy(RestorePolicy.LAST));
    for (int to = 4; to <= 20; to += 4) {
      bare.append(Arrays.copyOfRange(other, to - 4, to), model.plainViews(other, to));
    }
    return bare;
  }

  private long heldBytesLeft() {
    StoreEngine engine = test.store().engine();
    long left = 0;
    for (long bytes = engine.options.heldStateBytes(); bytes > 0; bytes--) {
      if (engine.takeHeld(bytes)) {
        engine.giveHeld(bytes);
        left = bytes;
        break;
      }
    }
    return left;
  }

  @Test
  void aWrongAbortDoesNotDisturbAnAppendThatIsUnderWay() throws InterruptedException {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch leave = new CountDownLatch(1);
    Thread[] appender = new Thread[1];
    test.directory()
        .setYieldPoints(
            kind -> {
              if (kind.equals("PUT")
                  && Thread.currentThread() == appender[0]
                  && !Thread.holdsLock(test.store().engine().segments)) {
                inside.countDown();
                awaitUninterruptibly(leave);
              }
            });
    appender[0] =
        new Thread(() -> session.append(block(28), model.plainViews(prompt, 28)), "appender");
    appender[0].start();
    inside.await();
    assertThatThrownBy(() -> session.abortKeeping(model.plainViews(prompt, 32)))
        .isInstanceOf(BoundaryMismatchException.class);
    leave.countDown();
    appender[0].join();
    assertThat(session.tokens()).isEqualTo(28);
  }

  @Test
  void aCallOfTheSessionFromAReceiptOfItsOwn() {
    PrefillSession commits =
        ns.prefill(ns.match(prompt), PrefillPlan.tokens(41).policy(RestorePolicy.EVERY));
    AppendReceipt receipt =
        commits.append(
            Arrays.copyOfRange(prompt, commits.tokens(), commits.tokens() + 4),
            model.plainViews(prompt, commits.tokens() + 4));
    List<Throwable> told = new java.util.ArrayList<>();
    receipt
        .durable()
        .thenRun(
            () -> {
              for (ThrowingCallable call :
                  List.<ThrowingCallable>of(
                      () -> commits.append(new int[4], model.plainViews(prompt, 4)),
                      commits::promptComplete,
                      () -> commits.abort(AbortMode.DISCARD))) {
                told.add(org.assertj.core.api.Assertions.catchThrowable(call));
              }
            });
    commits.promptComplete();
    assertThat(told).hasSize(3).allMatch(e -> e instanceof ConcurrentUseException);
    commits.close();
  }

  @Test
  void aClosedStore() {
    TestStore other = new TestStore(TestStore.options("64MiB").build());
    Namespace closed = other.namespace(LAYOUT);
    PrefillSession open = closed.prefill(closed.match(prompt), PrefillPlan.tokens(41));
    open.append(block(4), model.plainViews(prompt, 4));
    PrefixMatch match = closed.match(prompt);
    PrefillSession second =
        closed.prefill(match, PrefillPlan.tokens(41).onAbort(AbortMode.DISCARD));
    SnapshotStore store = other.store();
    other.close();
    store.close();
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> closed.match(prompt),
            () -> closed.prefill(match, PrefillPlan.tokens(41)),
            () -> open.append(block(8), model.plainViews(prompt, 8)),
            second::promptComplete,
            store::flush,
            store::stats,
            store::runOnce,
            () -> store.namespace(TestStore.identity("w"), LAYOUT))) {
      assertThatThrownBy(call).isInstanceOf(ClosedException.class).hasMessageContaining("closed");
    }
    open.close();
    second.abort();
  }
}
