package dev.waymark.plant;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Plants each mistake and explores until it is found, and says after how many states that was.
 *
 * <p>Options: {@code --kills-only}: only after kills, which lose nothing of what was written;
 * {@code --states N}: gives up after so many, and not after those that the page says; {@code
 * --threads N}: so many mistakes at a time; then the mistakes, or none for all of them. What is
 * found does not depend on the threads. The exit code is 0 only if the page is right about each.
 */
public final class PlantedMistakes {
  private long states;
  private int threads = 2;
  private boolean killsOnly;
  private List<Mistake> mistakes = List.of(Mistake.values());

  private PlantedMistakes(String[] args) {
    int at = 0;
    for (; at < args.length && args[at].startsWith("--"); at++) {
      switch (args[at]) {
        case "--kills-only" -> killsOnly = true;
        case "--states" -> states = Long.parseLong(args[++at]);
        case "--threads" -> threads = Integer.parseInt(args[++at]);
        default -> throw new IllegalArgumentException("unknown option " + args[at]);
      }
    }
    if (at < args.length) {
      mistakes = List.of(args).subList(at, args.length).stream().map(Mistake::valueOf).toList();
    }
  }

  /** Runs. */
  public static void main(String[] args) throws InterruptedException, ExecutionException {
    System.exit(new PlantedMistakes(args).run() ? 0 : 1);
  }

  private record Outcome(String line, boolean isRight) {}

  private boolean run() throws InterruptedException, ExecutionException {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<Outcome>> outcomes = new ArrayList<>();
    for (Mistake mistake : mistakes) {
      outcomes.add(pool.submit(() -> plant(mistake)));
    }
    pool.shutdown();
    boolean allRight = true;
    for (Future<Outcome> outcome : outcomes) {
      allRight &= outcome.get().isRight();
      System.out.println(outcome.get().line());
    }
    System.out.println(allRight ? "planted mistakes: as expected" : "planted mistakes: FAILED");
    return allRight;
  }

  private Outcome plant(Mistake mistake) {
    long usual = killsOnly ? Mistake.KILLED_STATES : mistake.foundWithinStates();
    long most = states > 0 ? states : usual;
    Optional<String> found = new PlantedEngine(mistake).explore(1, most, killsOnly);
    boolean right = found.isPresent() == (!killsOnly || mistake.isFoundByKills());
    return new Outcome(
        mistake + "\t" + found.orElse("not found") + (right ? "" : "\tUNEXPECTED"), right);
  }
}
