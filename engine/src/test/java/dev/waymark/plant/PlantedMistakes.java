package dev.waymark.plant;

import java.util.List;
import java.util.Optional;

/**
 * Plants each mistake and explores until it is found, and says after how many states that was.
 *
 * <p>Options: {@code --kills-only}: only after kills, which lose nothing of what was written;
 * {@code --states N}: gives up after so many, and not after those that the page says; then the
 * mistakes, or none for all of them. The exit code is 0 only if the page is right about each.
 */
public final class PlantedMistakes {
  private long states;
  private boolean killsOnly;
  private List<Mistake> mistakes = List.of(Mistake.values());

  private PlantedMistakes(String[] args) {
    int at = 0;
    for (; at < args.length && args[at].startsWith("--"); at++) {
      switch (args[at]) {
        case "--kills-only" -> killsOnly = true;
        case "--states" -> states = Long.parseLong(args[++at]);
        default -> throw new IllegalArgumentException("unknown option " + args[at]);
      }
    }
    if (at < args.length) {
      mistakes = List.of(args).subList(at, args.length).stream().map(Mistake::valueOf).toList();
    }
  }

  /** Runs. */
  public static void main(String[] args) {
    System.exit(new PlantedMistakes(args).run() ? 0 : 1);
  }

  private boolean run() {
    boolean allRight = true;
    for (Mistake mistake : mistakes) {
      long most = states > 0 ? states : mistake.foundWithinStates();
      Optional<String> found = new PlantedEngine(mistake).explore(1, most, killsOnly);
      boolean right =
          killsOnly
              ? found.isPresent() == mistake.isFoundByKills()
              : found.isPresent() || !mistake.isProven();
      allRight &= right;
      System.out.println(
          mistake + "\t" + found.orElse("not found") + (right ? "" : "\tUNEXPECTED"));
    }
    System.out.println(allRight ? "planted mistakes: as expected" : "planted mistakes: FAILED");
    return allRight;
  }
}
