package dev.waymark.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.internal.io.StoreFile;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

/** Which states are enumerated, and that they are the same each time. */
class CrashStatesTest {
  private static final int PAGE = Page.SIZE_BYTES;

  @Test
  void theTellingStatesComeFirst() {
    List<String> how = new ArrayList<>();
    for (CrashState state : CrashStates.of(busy(40)).enumerate(1000)) {
      how.add(state.how());
    }
    assertThat(how.subList(0, 2))
        .containsExactly("nothing unforced survived", "everything survived");
    assertThat(how)
        .contains(
            "page 3 of a with version 0 of 2",
            "of pages only page 3 of a",
            "without create b",
            "only create b",
            "page 39 of a torn at sector 3, first new",
            "page 39 of a torn at sector 3, first old");
    assertThat(how).doesNotHaveDuplicates().anyMatch(name -> name.startsWith("mix "));
  }

  @Test
  void theSameSeedGivesTheSameStates() {
    assertThat(hashes(busy(40), 7))
        .isEqualTo(hashes(busy(40), 7))
        .isNotEqualTo(hashes(busy(40), 8));
    assertThat(busy(40).crashState(5).bytes("a")).isEqualTo(busy(40).crashState(5).bytes("a"));
    assertThat(busy(40).crashState(5).contentHash())
        .isNotEqualTo(busy(40).crashState(6).contentHash());
  }

  @Test
  void noContentComesTwice() {
    Set<Long> seen = new HashSet<>();
    for (CrashState state : CrashStates.of(busy(20)).enumerate(500)) {
      assertThat(seen.add(state.directory().contentHash())).as(state.how()).isTrue();
    }
    assertThat(seen).hasSize(500);
  }

  @Test
  void nothingInDoubtIsOneState() {
    SimulatedDirectory directory = busy(20);
    try (StoreFile file = directory.open("a")) {
      file.force();
    }
    directory.force();
    assertThat(CrashStates.of(directory).enumerate(500)).hasSize(1);
  }

  @Test
  void manySingleChoicesAreThinnedToLeaveRoomForMixes() {
    List<CrashState> states = new ArrayList<>();
    CrashStates.of(busy(256)).enumerate(100).forEach(states::add);
    assertThat(states).hasSize(100);
    assertThat(states.stream().filter(state -> state.how().startsWith("mix ")))
        .hasSizeGreaterThan(20);
  }

  @Test
  void aStateCanCrashAgain() {
    SimulatedDirectory directory = busy(4);
    SimulatedDirectory once = directory.crashState(new FixedChoices(true, true, true), "all");
    try (StoreFile file = once.open("a")) {
      file.write(0, new UnsafeBuffer(new byte[PAGE]), 0, PAGE);
    }
    SimulatedDirectory twice = once.crashState(new FixedChoices(false, false, false), "none");
    assertThat(twice.contentHash()).isNotEqualTo(once.contentHash());
    assertThat(twice.bytes("a")).isEqualTo(directory.bytes("a"));
  }

  @Test
  void exploringDoesNotChangeWhatIsExplored() {
    SimulatedDirectory directory = busy(10);
    byte[] before = directory.bytes("a");
    for (CrashState state : CrashStates.of(directory).enumerate(50)) {
      try (StoreFile file = state.directory().open("a")) {
        file.setLength(PAGE);
        file.write(0, new UnsafeBuffer(new byte[PAGE]), 0, PAGE);
      }
    }
    assertThat(directory.bytes("a")).isEqualTo(before);
  }

  private static List<Long> hashes(SimulatedDirectory directory, long seed) {
    List<Long> hashes = new ArrayList<>();
    for (CrashState state : CrashStates.of(directory).enumerate(300, seed)) {
      hashes.add(state.directory().contentHash());
    }
    return hashes;
  }

  /** A durable file of which every page was written again, and a new one. */
  static SimulatedDirectory busy(int pages) {
    SimulatedDirectory directory = new SimulatedDirectory();
    SplittableRandom random = new SplittableRandom(3);
    byte[] content = new byte[pages * PAGE];
    try (StoreFile file = directory.create("a")) {
      directory.force();
      random.nextBytes(content);
      file.write(0, new UnsafeBuffer(content), 0, content.length);
      file.force();
      random.nextBytes(content);
      file.write(0, new UnsafeBuffer(content), 0, content.length);
    }
    directory.create("b").close();
    directory.create("c").close();
    return directory;
  }
}
