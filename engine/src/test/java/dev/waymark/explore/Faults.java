package dev.waymark.explore;

import dev.waymark.sim.Fault;
import dev.waymark.sim.OperationKind;
import java.util.SplittableRandom;

/** Calls that are to fail. */
final class Faults {
  private static final OperationKind[] KINDS = {
    OperationKind.FORCE,
    OperationKind.DIRECTORY_FORCE,
    OperationKind.CREATE,
    OperationKind.RENAME,
    OperationKind.DELETE,
    OperationKind.ALLOCATE,
    OperationKind.SET_LENGTH,
    OperationKind.PUNCH,
    OperationKind.WRITE,
    OperationKind.PUT,
    OperationKind.GET,
    OperationKind.READ,
    OperationKind.MAP,
    OperationKind.OPEN,
  };

  /** Of what cannot be forced again it is most often the data. */
  private static final String[] FORCED = {
    "append", "delta", ".seg", ".seg", "append", "", "manifest", "CURRENT"
  };

  private static final String[] FILES = {"", "", "append", "delta", "manifest", "CURRENT", ".seg"};

  private Faults() {}

  /** One that leaves it open which of two manifests is in force, or what of them is there. */
  static Fault ofNames(SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> Fault.ioError(OperationKind.RENAME).onCall(1).times(1);
      case 1 -> Fault.ioError(OperationKind.FORCE).onFile("manifest").onCall(1).times(1);
      default ->
          Fault.ioError(OperationKind.DIRECTORY_FORCE).onCall(1 + random.nextInt(3)).times(1);
    };
  }

  /** Any, but half of the time a force that fails once: the one that nobody may try again. */
  static Fault any(SplittableRandom random) {
    if (random.nextBoolean()) {
      boolean names = random.nextInt(4) == 0;
      return Fault.ioError(names ? OperationKind.DIRECTORY_FORCE : OperationKind.FORCE)
          .onCall(1 + random.nextInt(names ? 4 : 2))
          .onFile(names ? "" : FORCED[random.nextInt(FORCED.length)])
          .times(1);
    }
    OperationKind kind = KINDS[random.nextInt(KINDS.length)];
    boolean takesSpace =
        kind == OperationKind.ALLOCATE
            || kind == OperationKind.WRITE
            || kind == OperationKind.CREATE;
    Fault fault = takesSpace && random.nextInt(3) > 0 ? Fault.diskFull(kind) : Fault.ioError(kind);
    fault = fault.onCall(1 + random.nextInt(4)).onFile(FILES[random.nextInt(FILES.length)]);
    return switch (random.nextInt(3)) {
      case 0 -> fault;
      case 1 -> fault.times(1 + random.nextInt(3));
      default -> fault.sticky();
    };
  }
}
