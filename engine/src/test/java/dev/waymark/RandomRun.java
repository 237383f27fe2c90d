package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.BackPressureException;
import dev.waymark.layout.AbortMode;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.Layout;
import dev.waymark.layout.Prompt;
import dev.waymark.layout.RestorePolicy;
import dev.waymark.layout.StateViews;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** One random store and what is done to it. The same seed does the same. */
final class RandomRun {
  private static final int STEPS = 40;
  private static final int MAX_BLOCKS = 9;
  private static final List<BackPressure> BACK_PRESSURES = List.of(BackPressure.values());
  private static final byte[] SALT =
      "a salt of some length".getBytes(java.nio.charset.StandardCharsets.UTF_8);

  private final Random random;
  private final StringBuilder story = new StringBuilder();
  private final List<World> worlds = new ArrayList<>();
  private TestStore store;

  /** A namespace, or a tenant's view of one, with its model. */
  private final class World {
    final Layout layout;
    final CodecPlan codecs;
    final FakeModel model;
    final boolean tenant;
    final StoreModel expected;
    final List<int[]> prompts = new ArrayList<>();
    final List<Prefill> prefills = new ArrayList<>();
    final List<Pin> pins = new ArrayList<>();

    World(Layout layout, CodecPlan codecs, boolean tenant) {
      this.layout = layout;
      this.codecs = codecs;
      this.tenant = tenant;
      this.model = new FakeModel(layout);
      this.expected = new StoreModel(layout);
    }

    Namespace namespace() {
      Namespace namespace = store.namespace(layout, codecs);
      return tenant ? namespace.tenant(SALT) : namespace;
    }

    /** A prompt that often shares a prefix with others. */
    int[] prompt() {
      int length = random.nextInt(MAX_BLOCKS * layout.blockTokens() + 1);
      int[] prompt = random.ints(length, 0, 3).toArray();
      if (!prompts.isEmpty() && random.nextInt(5) > 0) {
        int[] other = prompts.get(random.nextInt(prompts.size()));
        int shared = random.nextInt(Math.min(other.length, length) + 1);
        System.arraycopy(other, 0, prompt, 0, random.nextBoolean() ? shared : shared / 2 * 2);
      }
      prompts.add(prompt);
      return prompt;
    }
  }

  private record Pin(RestoredState state, StoreModel.Node node, int[] prompt) {}

  /** A session of the store beside that of the model. */
  private final class Prefill {
    final World world;
    final PrefillSession session;
    final StoreModel.Session expected;
    int[] tokens;

    Prefill(World world, PrefillSession session, StoreModel.Session expected, int[] tokens) {
      this.world = world;
      this.session = session;
      this.expected = expected;
      this.tokens = tokens;
    }
  }

  RandomRun(long seed) {
    random = new Random(seed);
  }

  String story() {
    return story.toString();
  }

  private void tell(String format, Object... arguments) {
    story.append(format.formatted(arguments)).append('\n');
  }

  void run() {
    // Segments of 256 KiB and 512 KiB.
    StoreOptions.Builder options = TestStore.options(random.nextBoolean() ? "24MiB" : "32MiB");
    if (random.nextBoolean()) {
      // So little that appends meet each other's bytes.
      options.group(8 << 10, 200).maxInFlight(32 << 10);
    }
    store = new TestStore(options.backPressure(any(BACK_PRESSURES)).build());
    if (random.nextInt(3) == 0) {
      tell("the store's own work between any two writes");
      workBetweenWrites();
    }
    RandomLayouts layouts = new RandomLayouts(random);
    Layout layout = layouts.next();
    CodecPlan codecs = layouts.codecs(layout);
    worlds.add(new World(layout, codecs, false));
    tell("layout %s, codecs %s", layout.toJson(), codecs.toJson());
    if (random.nextInt(3) == 0) {
      worlds.add(new World(layout, codecs, true));
    } else if (random.nextInt(3) == 0) {
      Layout other = layouts.next();
      if (!other.equals(layout)) {
        worlds.add(new World(other, layouts.codecs(other), false));
        tell("another layout %s", other.toJson());
      }
    }
    for (int i = 0; i < STEPS && store.store().stats().liveBytes() < 6 << 20; i++) {
      step(worlds.get(random.nextInt(worlds.size())));
      checkAll();
    }
    endAll();
    checkAll();
    store.reopen();
    checkAll();
    for (World world : worlds) {
      world.prompts.forEach(prompt -> matchAndRestore(world, prompt));
    }
    store.close();
  }

  /** As the background thread may come in at any moment of an append. */
  private void workBetweenWrites() {
    boolean[] inside = new boolean[1];
    SnapshotStore worked = store.store();
    store
        .directory()
        .setYieldPoints(
            kind -> {
              // Nobody else gets in while the segments' monitor is held.
              boolean alone = Thread.holdsLock(worked.engine().segments);
              if (kind.equals("PUT") && !inside[0] && !alone) {
                inside[0] = true;
                if (!worked.engine().isClosed()) {
                  worked.runOnce();
                }
                inside[0] = false;
              }
            });
  }

  private void step(World world) {
    int choice = random.nextInt(20);
    if (world.prefills.isEmpty() || (choice < 3 && world.prefills.size() < 3)) {
      start(world);
    } else if (choice < 12) {
      append(any(world.prefills));
    } else if (choice < 14) {
      end(any(world.prefills));
    } else if (choice < 16) {
      matchAndRestore(world, world.prompt());
    } else if (choice == 16) {
      pin(world);
    } else if (choice == 17) {
      tell("work");
      store.store().runOnce();
    } else if (choice == 18) {
      endAll();
      tell("reopen");
      store.reopen();
    } else {
      kill();
    }
  }

  private <T> T any(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }

  private void start(World world) {
    int[] prompt = world.prompt();
    PrefixMatch match = world.namespace().match(prompt);
    StoreModel.Expected expected = check(world, match, prompt, Math.max(0, prompt.length - 1));
    int[] points = match.points();
    int start = points.length == 0 ? 0 : points[points.length - 1];
    if (random.nextInt(3) == 0) {
      int i = random.nextInt(points.length + 1);
      start = i == points.length ? 0 : points[i];
    }
    RestorePolicy policy =
        switch (random.nextInt(5)) {
          case 0 -> RestorePolicy.EVERY;
          case 1 -> RestorePolicy.stride(1 + random.nextInt(3));
          case 2 -> RestorePolicy.LAST;
          case 3 -> RestorePolicy.lattice(random.nextInt(200));
          default -> RestorePolicy.DEFAULT;
        };
    AbortMode mode = random.nextBoolean() ? AbortMode.KEEP : AbortMode.DISCARD;
    // What a plan says is reserved in the quota, which is small so that segments are: a layout of
    // large points gets few of them.
    Layout layout = world.layout;
    int most = layout.fixedBytes() > 64 << 10 ? 4 * layout.blockTokens() : 100;
    int length = random.nextInt(5) == 0 ? random.nextInt(100) : prompt.length;
    length = Math.min(length, most);
    Durability durability = any(List.of(Durability.values()));
    tell(
        "start %d of %d at %d, %s, %s, %s",
        worlds.indexOf(world), length, start, policy, mode, durability);
    PrefillSession session =
        world
            .namespace()
            .prefill(
                match,
                PrefillPlan.tokens(length)
                    .from(start)
                    .policy(policy)
                    .onAbort(mode)
                    .durability(durability)
                    .backPressure(random.nextBoolean() ? null : any(BACK_PRESSURES)));
    world.prefills.add(
        new Prefill(
            world,
            session,
            world.expected
            .new Session(prompt, start, expected.branch(), policy, mode, durability, length),
            prompt));
  }

  private void append(Prefill prefill) {
    World world = prefill.world;
    int block = world.layout.blockTokens();
    int from = prefill.session.tokens();
    assertThat(from).isEqualTo(prefill.expected.tokens());
    int left = (prefill.tokens.length - from) / block;
    if (left == 0 && !prefill.expected.isComplete()) {
      complete(prefill);
      return;
    }
    if (left == 0) {
      // Generated: what a prompt never had.
      int more = (1 + random.nextInt(2)) * block;
      int[] longer = Arrays.copyOf(prefill.tokens, from + more);
      for (int i = from; i < longer.length; i++) {
        longer[i] = random.nextInt(3);
      }
      prefill.tokens = longer;
      world.prompts.add(longer);
      left = more / block;
    }
    int to = from + block * (1 + random.nextInt(Math.min(3, left)));
    int next = prefill.session.nextPointTokens();
    if (prefill.expected.isExact()) {
      assertThat(next).as("next point after %d", from).isEqualTo(prefill.expected.nextPoint());
    }
    if (next > 0 && next <= from + left * block && random.nextBoolean()) {
      to = next;
    }
    int tail = 0;
    if (random.nextInt(6) == 0) {
      tail = Math.min(block - 1, prefill.tokens.length - to);
    }
    int[] tokens = Arrays.copyOfRange(prefill.tokens, from, to + tail);
    // A server that is asked for no point there may leave window and state out.
    boolean views =
        prefill.expected.isExact() && !prefill.expected.wants(to) && !prefill.expected.isComplete()
            ? random.nextBoolean()
            : true;
    tell("append %d to %d + %d, views %s", from, to, tail, views);
    AppendReceipt receipt =
        append(prefill, tokens, world.model.views(random, prefill.tokens, from, to + tail, views));
    assertThat(receipt.tokens()).isEqualTo(to);
    assertThat(receipt.skippedTokens()).isEqualTo(tail);
    tell("  point added %s, skipped %s", receipt.pointAdded(), receipt.pointSkipped());
    prefill.expected.append(
        prefill.tokens, to, tail, views, receipt.pointAdded(), receipt.pointSkipped());
  }

  /** Where it fails for what is in flight, nothing has happened, and it goes in after a force. */
  private AppendReceipt append(Prefill prefill, int[] tokens, StateViews views) {
    Map<String, Object> before = store.state();
    int at = prefill.session.tokens();
    try {
      return prefill.session.append(tokens, views);
    } catch (BackPressureException e) {
      tell("  under pressure");
      assertThat(prefill.session.tokens()).isEqualTo(at);
      assertThat(store.state()).isEqualTo(before);
      checkAll();
      store.store().runOnce();
      return prefill.session.append(tokens, views);
    }
  }

  private void complete(Prefill prefill) {
    tell("complete at %d", prefill.session.tokens());
    prefill.session.promptComplete();
    prefill.expected.complete(stored(prefill));
  }

  private Set<Integer> stored(Prefill prefill) {
    int[] chain = Arrays.copyOf(prefill.tokens, prefill.expected.tokens());
    Set<Integer> points = new HashSet<>();
    PrefixMatch match = prefill.world.namespace().match(Prompt.ofTokens(chain), chain.length);
    Arrays.stream(match.points()).forEach(points::add);
    return points;
  }

  private void end(Prefill prefill) {
    World world = prefill.world;
    world.prefills.remove(prefill);
    int choice = random.nextInt(4);
    AbortMode mode = prefill.expected.mode();
    tell("end %d by %d", prefill.session.tokens(), choice);
    boolean views = false;
    switch (choice) {
      case 0 -> prefill.session.close();
      case 1 -> prefill.session.abort();
      case 2 -> {
        mode = random.nextBoolean() ? AbortMode.KEEP : AbortMode.DISCARD;
        prefill.session.abort(mode);
      }
      default -> {
        mode = AbortMode.KEEP;
        views = true;
        int at = prefill.session.tokens();
        prefill.session.abortKeeping(
            world.model.views(random, prefill.tokens, Math.max(0, at), at, true));
      }
    }
    prefill.expected.end(mode, views, stored(prefill));
  }

  private void endAll() {
    for (World world : worlds) {
      world.pins.forEach(this::unpin);
      world.pins.clear();
      while (!world.prefills.isEmpty()) {
        end(any(world.prefills));
      }
    }
  }

  private void kill() {
    tell("flush and kill");
    store.store().flush();
    for (World world : worlds) {
      world.prefills.clear();
      world.pins.clear();
    }
    store.killAndReopen();
    for (World world : worlds) {
      world.expected.recover(tip -> pointsOf(world, tip));
    }
  }

  private Set<Integer> pointsOf(World world, StoreModel.Node tip) {
    for (int[] prompt : world.prompts) {
      if (world.expected.walk(prompt, tip.tokens) == tip) {
        int[] chain = Arrays.copyOf(prompt, tip.tokens);
        Set<Integer> points = new HashSet<>();
        PrefixMatch match = world.namespace().match(Prompt.ofTokens(chain), chain.length);
        Arrays.stream(match.points()).forEach(points::add);
        return points;
      }
    }
    throw new AssertionError("no prompt leads to a boundary");
  }

  private void pin(World world) {
    if (!world.pins.isEmpty() && random.nextBoolean()) {
      unpin(world.pins.remove(0));
      return;
    }
    int[] prompt = any(world.prompts);
    PrefixMatch match = world.namespace().match(prompt);
    if (match.points().length > 0) {
      int at = match.points()[random.nextInt(match.points().length)];
      tell("pin %d", at);
      StoreModel.Node node = world.expected.walk(prompt, at);
      node.holds++;
      world.pins.add(new Pin(match.restore(at), node, prompt));
    }
  }

  /** What was pinned is there, whatever happened since. */
  private void unpin(Pin pin) {
    tell("unpin %d", pin.state().tokens());
    World world = worlds.stream().filter(w -> w.prompts.contains(pin.prompt())).findFirst().get();
    world.model.assertRestores(random, pin.state(), pin.prompt());
    pin.state().close();
    pin.node().holds--;
  }

  private void matchAndRestore(World world, int[] prompt) {
    boolean unlimited = random.nextBoolean();
    int limit = unlimited ? random.nextInt(prompt.length + 2) : Math.max(0, prompt.length - 1);
    Namespace namespace = world.namespace();
    PrefixMatch match =
        unlimited ? namespace.match(Prompt.ofTokens(prompt), limit) : namespace.match(prompt);
    check(world, match, prompt, limit);
    for (int at : match.points()) {
      if (random.nextInt(3) > 0) {
        world.model.assertRestores(random, match, at, prompt);
      }
    }
  }

  private StoreModel.Expected check(World world, PrefixMatch match, int[] prompt, int limit) {
    StoreModel.Expected expected = world.expected.match(prompt, limit);
    assertThat(match.storedTokens()).as("stored tokens").isEqualTo(expected.stored());
    assertThat(match.points()).as("points").isEqualTo(expected.points());
    assertThat(match.branchTokens()).as("branch").isEqualTo(expected.branch());
    int[] points = expected.points();
    assertThat(match.restorableTokens())
        .isEqualTo(points.length == 0 ? 0 : points[points.length - 1]);
    assertThat(match.residualTokens()).isEqualTo(prompt.length - match.restorableTokens());
    return expected;
  }

  private void checkAll() {
    store.check();
    StoreStats stats = store.store().stats();
    assertThat(stats.boundaries())
        .as("boundaries")
        .isEqualTo(worlds.stream().mapToLong(world -> world.expected.boundaries()).sum());
    assertThat(stats.points())
        .as("points")
        .isEqualTo(worlds.stream().mapToLong(world -> world.expected.points()).sum());
  }
}
