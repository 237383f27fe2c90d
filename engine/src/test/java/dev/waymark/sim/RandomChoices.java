package dev.waymark.sim;

import java.util.SplittableRandom;

/**
 * Choices by a seed. How likely the new is to survive is itself drawn once a state, so that nearly
 * nothing and nearly everything surviving come up too, and not only even mixes.
 */
final class RandomChoices implements CrashChoices {
  private static final double[] LIKELIHOODS = {0.03, 0.25, 0.5, 0.75, 0.97};

  private final SplittableRandom random;
  private final double newestName;
  private final double newestPage;
  private final double torn;

  RandomChoices(long seed) {
    random = new SplittableRandom(seed);
    newestName = LIKELIHOODS[random.nextInt(LIKELIHOODS.length)];
    newestPage = LIKELIHOODS[random.nextInt(LIKELIHOODS.length)];
    torn = random.nextInt(3) == 0 ? 0.3 : 0.02;
  }

  @Override
  public boolean survives(int change) {
    return random.nextDouble() < newestName;
  }

  @Override
  public int length(long file, int versions) {
    return version(versions);
  }

  @Override
  public boolean allocation(long file) {
    return random.nextBoolean();
  }

  @Override
  public int page(long file, int page, int versions) {
    return random.nextDouble() < torn ? TORN : version(versions);
  }

  @Override
  public int sector(long file, int page, int sector, int versions) {
    return random.nextInt(versions);
  }

  private int version(int versions) {
    return random.nextDouble() < newestPage ? versions - 1 : random.nextInt(versions);
  }
}
