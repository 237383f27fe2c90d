package dev.waymark.layout;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;

/**
 * Where restore points go. Under every policy the last whole block below the prompt's end gets one,
 * and so does the boundary where a prompt branches off from what is stored.
 *
 * @param kind which policy
 * @param argument of {@code STRIDE} the blocks, of {@code LATTICE} the budget in percent of the
 *     chain's row bytes, else 0
 */
public record RestorePolicy(Kind kind, int argument) {

  /** The policies. */
  public enum Kind {
    /** A point at every boundary. */
    EVERY(1),
    /** A point every {@code n} blocks from the root, never thinned, and the last. */
    STRIDE(2),
    /** A point a cell of a lattice that widens until the points keep to a budget. */
    LATTICE(3),
    /** The last point; a newer one supersedes it on its own chain unless it is a branch. */
    LAST(4);

    private final int wireCode;

    Kind(int wireCode) {
      this.wireCode = wireCode;
    }

    /** {@return the number that stands for this policy on disk} */
    public int wireCode() {
      return wireCode;
    }
  }

  /** A point at every boundary. */
  public static final RestorePolicy EVERY = new RestorePolicy(Kind.EVERY, 0);

  /** Only the last point of a chain. */
  public static final RestorePolicy LAST = new RestorePolicy(Kind.LAST, 0);

  /** The default: a lattice whose points cost at most a quarter of their chain's row bytes. */
  public static final RestorePolicy DEFAULT = lattice(25);

  /**
   * Checks the argument.
   *
   * @param kind which policy
   * @param argument of {@code STRIDE} the blocks, of {@code LATTICE} the budget in percent of the
   *     chain's row bytes, else 0
   */
  public RestorePolicy {
    boolean valid =
        switch (kind) {
          case EVERY, LAST -> argument == 0;
          case STRIDE -> argument >= 1;
          case LATTICE -> argument >= 0 && argument <= 1_000_000;
        };
    if (!valid) {
      throw new InvalidSettingException(
          ErrorDetail.of("the argument of policy " + kind + " is out of range").found(argument));
    }
  }

  /**
   * {@return a point every {@code blocks} blocks from the root, and the last}
   *
   * @param blocks 1 or more
   */
  public static RestorePolicy stride(int blocks) {
    return new RestorePolicy(Kind.STRIDE, blocks);
  }

  /**
   * {@return a lattice whose points cost at most {@code budgetPercent} of their chain's row bytes}
   *
   * @param budgetPercent 0 to 1,000,000
   */
  public static RestorePolicy lattice(int budgetPercent) {
    return new RestorePolicy(Kind.LATTICE, budgetPercent);
  }

  /**
   * {@return the policy of a wire code and an argument, or null where there is none}
   *
   * @param wireCode the number on disk
   * @param argument the number beside it on disk
   */
  public static RestorePolicy ofWire(int wireCode, long argument) {
    for (Kind kind : Kind.values()) {
      if (kind.wireCode == wireCode && argument == (int) argument) {
        try {
          return new RestorePolicy(kind, (int) argument);
        } catch (InvalidSettingException e) {
          return null;
        }
      }
    }
    return null;
  }
}
