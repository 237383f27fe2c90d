package dev.waymark.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreFile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.agrona.concurrent.UnsafeBuffer;

/** Random calls, checked against something much simpler than the simulator. */
class SimulatorPropertiesTest {
  private static final int PAGE = Page.SIZE_BYTES;
  private static final int LIMIT = 4 * PAGE;

  private enum Act {
    CREATE,
    DELETE,
    RENAME,
    WRITE,
    PUT,
    ALLOCATE,
    SET_LENGTH,
    PUNCH,
    FORCE,
    REGION_FORCE,
    DIRECTORY_FORCE,
    YIELD,
    KILL
  }

  private record Step(Act act, int file, int otherFile, int from, int to, int value) {}

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Integer> file = Arbitraries.integers().between(0, 2);
    // Offsets near the edges of pages and sectors are where mistakes are.
    Arbitrary<Integer> offset =
        Arbitraries.oneOf(
            Arbitraries.integers().between(0, LIMIT),
            Arbitraries.integers().between(0, 4).map(page -> page * PAGE),
            Arbitraries.integers()
                .between(1, 30)
                .map(sector -> sector * Page.SECTOR_BYTES + sector % 3 - 1));
    return Combinators.combine(
            Arbitraries.of(Act.class),
            file,
            file,
            offset,
            offset,
            Arbitraries.integers().between(1, 100))
        .as(
            (act, one, two, a, b, value) ->
                new Step(act, one, two, Math.min(a, b), Math.max(a, b), value))
        .list()
        .ofMaxSize(60);
  }

  /** Without a crash, the directory is a map of byte arrays. */
  @Property(tries = 400, edgeCases = EdgeCasesMode.NONE)
  void withoutACrashItIsAMapOfByteArrays(@ForAll("steps") List<Step> steps) {
    SimulatedDirectory directory = new SimulatedDirectory();
    TreeMap<String, Plain> plain = new TreeMap<>();
    for (Step step : steps) {
      directory = apply(step, directory);
      applyPlain(step, plain);
      assertThat(directory.list()).containsExactlyElementsOf(plain.keySet());
      long allocated = 0;
      for (Map.Entry<String, Plain> entry : plain.entrySet()) {
        byte[] bytes = directory.bytes(entry.getKey());
        int differs = Arrays.mismatch(bytes, entry.getValue().bytes);
        assertThat(differs).as("first byte of " + entry.getKey() + " that differs").isEqualTo(-1);
        allocated += (long) entry.getValue().allocated.cardinality() * PAGE;
      }
      assertThat(directory.allocatedBytes()).isEqualTo(allocated);
    }
    directory.assertAllClosed();
  }

  /**
   * After a crash, each file has a length and each sector a content that they had since they were
   * last forced. Kept naively: all contents of all files after every step.
   */
  @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
  void nothingButWhatWasThereSinceTheLastForceComesBack(@ForAll("steps") List<Step> steps) {
    SimulatedDirectory directory =
        new SimulatedDirectory(SimulationSettings.defaults().observeEachCall(true));
    TreeMap<String, Plain> plain = new TreeMap<>();
    Set<Plain> everyFile = new HashSet<>();
    for (Step step : steps) {
      directory = apply(step, directory);
      applyPlain(step, plain);
      everyFile.addAll(plain.values());
      everyFile.forEach(Plain::remember);
    }
    Set<String> everyName = Set.of("f0", "f1", "f2");
    for (CrashState state : CrashStates.of(directory).enumerate(60)) {
      for (String name : state.directory().list()) {
        assertThat(everyName).contains(name);
        byte[] left = state.directory().bytes(name);
        assertThat(everyFile).as(state.how()).anyMatch(file -> file.mayBecome(left));
      }
    }
  }

  /** The other direction: a forced file under a forced name is there, whatever else happened. */
  @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
  void whatIsForcedLastIsLeftExactly(@ForAll("steps") List<Step> steps) {
    SimulatedDirectory directory = new SimulatedDirectory();
    for (Step step : steps) {
      directory = apply(step, directory);
    }
    for (String name : directory.list()) {
      try (StoreFile file = directory.open(name)) {
        file.force();
      }
    }
    directory.force();
    List<CrashState> states = new ArrayList<>();
    CrashStates.of(directory).enumerate(30).forEach(states::add);
    assertThat(states).hasSize(1);
    assertThat(states.get(0).directory().contentHash()).isEqualTo(directory.contentHash());
    assertThat(states.get(0).directory().allocatedBytes()).isEqualTo(directory.allocatedBytes());
  }

  private static SimulatedDirectory apply(Step step, SimulatedDirectory directory) {
    String name = "f" + step.file;
    boolean exists = directory.exists(name);
    switch (step.act) {
      case CREATE -> {
        if (!exists) {
          directory.create(name).close();
        }
      }
      case DIRECTORY_FORCE -> directory.force();
      case YIELD -> directory.yieldPoint("any");
      case KILL -> {
        return directory.killState();
      }
      default -> {
        if (exists) {
          applyToFile(step, directory, name);
        }
      }
    }
    return directory;
  }

  private static void applyToFile(Step step, SimulatedDirectory directory, String name) {
    int length = step.to - step.from;
    switch (step.act) {
      case DELETE -> directory.delete(name);
      case RENAME -> directory.rename(name, "f" + step.otherFile);
      default -> {
        try (StoreFile file = directory.open(name)) {
          switch (step.act) {
            case WRITE -> file.write(step.from, Bytes.of(step.value, length), 0, length);
            case ALLOCATE -> file.allocate(step.from, length);
            case SET_LENGTH -> file.setLength(step.to);
            case PUNCH -> file.punch(pageUp(step.from), pageUp(step.to) - pageUp(step.from));
            case FORCE -> file.force();
            case PUT -> {
              file.allocate(0, step.to);
              try (MappedRegion map = file.map(file.lengthBytes(), true)) {
                map.put(step.from, Bytes.of(step.value, length), 0, length);
              }
            }
            case REGION_FORCE -> {
              try (MappedRegion map = file.map(LIMIT, false)) {
                map.force(step.from, length);
              }
            }
            default -> throw new IllegalStateException(step.toString());
          }
        }
      }
    }
  }

  private static void applyPlain(Step step, Map<String, Plain> plain) {
    String name = "f" + step.file;
    Plain file = plain.get(name);
    if (step.act == Act.CREATE) {
      plain.putIfAbsent(name, new Plain());
    }
    if (file == null) {
      return;
    }
    int length = step.to - step.from;
    switch (step.act) {
      case DELETE -> plain.remove(name);
      case RENAME -> {
        plain.remove(name);
        plain.put("f" + step.otherFile, file);
      }
      case WRITE -> file.fill(step.from, length, step.value);
      case PUT -> {
        file.allocate(0, step.to);
        file.fill(step.from, length, step.value);
      }
      case ALLOCATE -> file.allocate(step.from, length);
      case SET_LENGTH -> file.cut(step.to);
      case PUNCH -> file.punch(pageUp(step.from), pageUp(step.to));
      case FORCE -> file.forget();
      default -> {}
    }
  }

  private static int pageUp(int offset) {
    return (offset + PAGE - 1) / PAGE * PAGE;
  }

  /** A file that remembers all that it was since it was forced. */
  private static final class Plain {
    byte[] bytes = {};
    final BitSet allocated = new BitSet();
    private final Set<Integer> lengths = new HashSet<>(Set.of(0));
    private final Map<Integer, Set<UnsafeBuffer>> sectors = new HashMap<>();

    Plain() {
      forget();
    }

    void fill(int offset, int length, int value) {
      if (length > 0) {
        extend(offset + length);
        Arrays.fill(bytes, offset, offset + length, (byte) value);
        allocated.set(offset / PAGE, (offset + length + PAGE - 1) / PAGE);
      }
    }

    void allocate(int offset, int length) {
      if (length > 0) {
        allocated.set(offset / PAGE, (offset + length + PAGE - 1) / PAGE);
        extend(offset + length);
      }
    }

    void cut(int length) {
      bytes = Arrays.copyOf(bytes, length);
      allocated.clear((length + PAGE - 1) / PAGE, LIMIT);
    }

    void punch(int from, int to) {
      int end = Math.min(to, bytes.length);
      if (from < end) {
        Arrays.fill(bytes, from, end, (byte) 0);
      }
      allocated.clear(from / PAGE, to / PAGE);
    }

    void forget() {
      lengths.clear();
      sectors.clear();
      remember();
    }

    void remember() {
      lengths.add(bytes.length);
      for (int sector = 0; sector * Page.SECTOR_BYTES < LIMIT; sector++) {
        sectors.computeIfAbsent(sector, s -> new HashSet<>()).add(sector(bytes, sector));
      }
    }

    boolean mayBecome(byte[] left) {
      if (!lengths.contains(left.length)) {
        return false;
      }
      for (int sector = 0; sector * Page.SECTOR_BYTES < left.length; sector++) {
        int known = Math.min(Page.SECTOR_BYTES, left.length - sector * Page.SECTOR_BYTES);
        UnsafeBuffer found = sector(left, sector);
        boolean any = false;
        for (UnsafeBuffer candidate : sectors.get(sector)) {
          byte[] cut = Arrays.copyOf(candidate.byteArray(), known);
          any |= new UnsafeBuffer(Arrays.copyOf(cut, Page.SECTOR_BYTES)).equals(found);
        }
        if (!any) {
          return false;
        }
      }
      return true;
    }

    private void extend(int length) {
      if (length > bytes.length) {
        bytes = Arrays.copyOf(bytes, length);
      }
    }

    /** A sector's bytes, with zeros past the end. */
    private static UnsafeBuffer sector(byte[] bytes, int sector) {
      int from = Math.min(bytes.length, sector * Page.SECTOR_BYTES);
      int to = Math.min(bytes.length, from + Page.SECTOR_BYTES);
      byte[] copy = Arrays.copyOfRange(bytes, from, to);
      return new UnsafeBuffer(Arrays.copyOf(copy, Page.SECTOR_BYTES));
    }
  }
}
