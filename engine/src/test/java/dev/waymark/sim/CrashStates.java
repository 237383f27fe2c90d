package dev.waymark.sim;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;

/**
 * The states that a power loss may leave, the telling ones first: the extremes, then each single
 * choice made otherwise than all the others, then random mixes. Each content comes once.
 *
 * <p>If the single choices are more than fit, they are thinned evenly, so that a quarter of the
 * states is left for mixes.
 */
public final class CrashStates {
  private final SimulatedDirectory directory;

  private CrashStates(SimulatedDirectory directory) {
    this.directory = directory;
  }

  /** The states of that disk as it is now; make no call on it while they are enumerated. */
  public static CrashStates of(SimulatedDirectory directory) {
    return new CrashStates(directory);
  }

  /** The same states as with seed 1. */
  public Iterable<CrashState> enumerate(int maxStates) {
    return enumerate(maxStates, 1);
  }

  /** At most that many states, made as they are asked for; the seed decides the mixes. */
  public Iterable<CrashState> enumerate(int maxStates, long seed) {
    List<Plan> plans = new ArrayList<>(extremes());
    List<Plan> single = single();
    int room = Math.max(0, maxStates - plans.size());
    int most = Math.max(Math.min(room, 8), room - maxStates / 4);
    if (single.size() <= most) {
      plans.addAll(single);
    } else {
      for (int i = 0; i < most; i++) {
        plans.add(single.get((int) ((long) i * single.size() / most)));
      }
    }
    return () -> new States(plans, maxStates, seed);
  }

  private record Plan(String how, CrashChoices choices) {}

  private static List<Plan> extremes() {
    return List.of(
        new Plan("nothing unforced survived", new FixedChoices(false, false, false)),
        new Plan("everything survived", new FixedChoices(true, true, true)),
        new Plan("names survived, content did not", new FixedChoices(true, false, false)),
        new Plan("names and lengths survived, pages did not", new FixedChoices(true, true, false)),
        new Plan("pages survived, lengths did not", new FixedChoices(true, false, true)),
        new Plan("content survived, names did not", new FixedChoices(false, true, true)));
  }

  private List<Plan> single() {
    List<Plan> plans = new ArrayList<>();
    synchronized (directory.disk()) {
      directory.disk().observe();
      NameTable names = directory.disk().names();
      List<NameChange> changes = names.open();
      for (int i = 0; i < changes.size(); i++) {
        String change = changes.get(i).toString();
        plans.add(new Plan("without " + change, new FixedChoices(true, true, true).butName(i)));
        plans.add(new Plan("only " + change, new FixedChoices(false, true, true).butName(i)));
      }
      names.reachable().forEach((inode, name) -> addSingle(plans, inode, name));
    }
    return plans;
  }

  private static void addSingle(List<Plan> plans, Inode inode, String name) {
    long file = inode.id();
    List<Long> lengths = inode.lengthVersions();
    for (int version = 0; version < lengths.size() - 1; version++) {
      plans.add(
          new Plan(
              name + " with length " + lengths.get(version),
              new FixedChoices(true, true, true).butLength(file, version)));
    }
    Map<Integer, PageHistory> pages = inode.pageVersions();
    int last = -1;
    for (Map.Entry<Integer, PageHistory> entry : pages.entrySet()) {
      int page = entry.getKey();
      int versions = entry.getValue().versions().size();
      last = page;
      String where = "page " + page + " of " + name;
      for (int version = 0; version < versions - 1; version++) {
        plans.add(
            new Plan(
                where + " with version " + version + " of " + versions,
                new FixedChoices(true, true, true).butPage(file, page, version)));
      }
      plans.add(
          new Plan(
              "of pages only " + where,
              new FixedChoices(true, true, false).butPage(file, page, versions - 1)));
    }
    for (int sectors = 1; last >= 0 && sectors < Page.SECTORS; sectors++) {
      String where = "page " + last + " of " + name + " torn at sector " + sectors;
      plans.add(
          new Plan(
              where + ", first new",
              new FixedChoices(true, true, true).butTorn(file, last, sectors, true)));
      plans.add(
          new Plan(
              where + ", first old",
              new FixedChoices(true, true, true).butTorn(file, last, sectors, false)));
    }
  }

  /** Makes states until there are enough, or the mixes bring nothing new any more. */
  private final class States implements Iterator<CrashState> {
    private static final int FRUITLESS_MIXES = 64;

    private final List<Plan> plans;
    private final int maxStates;
    private final long seed;
    private final Set<Long> seen = new HashSet<>();
    private int nextPlan;
    private long mixes;
    private CrashState next;

    States(List<Plan> plans, int maxStates, long seed) {
      this.plans = plans;
      this.maxStates = maxStates;
      this.seed = seed;
    }

    @Override
    public boolean hasNext() {
      int fruitless = 0;
      while (next == null && seen.size() < maxStates && fruitless < FRUITLESS_MIXES) {
        boolean planned = nextPlan < plans.size();
        Plan plan = planned ? plans.get(nextPlan++) : mix();
        fruitless += planned ? 0 : 1;
        SimulatedDirectory state = directory.crashState(plan.choices(), plan.how());
        if (seen.add(state.contentHash() * 31 + state.allocatedBytes())) {
          next = new CrashState(plan.how(), state);
        }
      }
      return next != null;
    }

    @Override
    public CrashState next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      CrashState state = next;
      next = null;
      return state;
    }

    private Plan mix() {
      long number = mixes++;
      return new Plan(
          "mix " + number + " of seed " + seed,
          new RandomChoices(seed * 0x9E3779B97F4A7C15L + number));
    }
  }
}
