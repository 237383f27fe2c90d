package dev.waymark.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.StoreIoException;
import dev.waymark.internal.io.MappedRegion;
import dev.waymark.internal.io.StoreFile;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What a power loss leaves, and what a kill does. */
class PowerLossTest {
  private static final int PAGE = Page.SIZE_BYTES;

  private final SimulatedDirectory directory = new SimulatedDirectory();

  @Test
  void whatWasForcedSurvives() {
    StoreFile file = durable("a", 1, 2 * PAGE);
    file.write(PAGE, Bytes.of(2, PAGE), 0, PAGE);
    file.force();
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a")))).containsExactly("1,2");
    assertThat(outcomes(directory, d -> d.list().toString())).containsExactly("[a]");
  }

  @Test
  void whatWasNotForcedIsOldOrNewOrTornBySectors() {
    StoreFile file = durable("a", 1, PAGE);
    file.write(0, Bytes.of(2, PAGE), 0, PAGE);
    Set<String> seen = outcomes(directory, d -> Bytes.values(d.bytes("a")));
    assertThat(seen).containsExactlyInAnyOrder("1", "2", "1,2", "2,1");
    for (CrashState state : CrashStates.of(directory).enumerate(200)) {
      byte[] bytes = state.directory().bytes("a");
      for (int i = 0; i < PAGE; i++) {
        assertThat(bytes[i]).isEqualTo(bytes[i - i % Page.SECTOR_BYTES]);
      }
    }
  }

  @Test
  void everyVersionThatWasObservedMaySurvive() {
    StoreFile file = durable("a", 1, 100);
    file.write(0, Bytes.of(2, 100), 0, 100);
    file.write(0, Bytes.of(3, 100), 0, 100);
    directory.yieldPoint("observe");
    file.write(0, Bytes.of(4, 100), 0, 100);
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a"))))
        .containsExactlyInAnyOrder("1", "3", "4");
  }

  @Test
  void everyWriteIsAVersionIfEachCallIsObserved() {
    SimulatedDirectory observed =
        new SimulatedDirectory(SimulationSettings.defaults().observeEachCall(true));
    StoreFile file = observed.create("a");
    observed.force();
    file.write(0, Bytes.of(1, 10), 0, 10);
    file.force();
    file.write(0, Bytes.of(2, 10), 0, 10);
    file.write(0, Bytes.of(3, 10), 0, 10);
    assertThat(outcomes(observed, d -> Bytes.values(d.bytes("a"))))
        .containsExactlyInAnyOrder("1", "2", "3");
  }

  @Test
  void lengthsAndPagesSurviveApart() {
    StoreFile file = durable("a", 1, 100);
    file.write(100, Bytes.of(2, PAGE), 0, PAGE);
    Set<String> seen =
        outcomes(directory, d -> d.bytes("a").length + ":" + Bytes.values(d.bytes("a")));
    assertThat(seen).contains("100:1", PAGE + 100 + ":1,2", PAGE + 100 + ":1,0");
    assertThat(seen).contains(PAGE + 100 + ":1,2,0", PAGE + 100 + ":1,0,2");
  }

  @Test
  void whatLayPastTheLengthThatWasLeftNeverShows() {
    StoreFile file = durable("a", 1, 10);
    file.write(10, Bytes.of(2, 10), 0, 10);
    SimulatedDirectory left =
        directory.crashState(new FixedChoices(true, false, true), "old length");
    try (StoreFile again = left.open("a")) {
      assertThat(again.lengthBytes()).isEqualTo(10);
      again.setLength(20);
    }
    assertThat(Bytes.values(left.bytes("a"))).isEqualTo("1,0");
  }

  @Test
  void aCutMayBeUndone() {
    StoreFile file = durable("a", 1, 2 * PAGE);
    file.setLength(10);
    Set<String> seen =
        outcomes(directory, d -> d.bytes("a").length + ":" + Bytes.values(d.bytes("a")));
    assertThat(seen).contains("10:1", 2 * PAGE + ":1", 2 * PAGE + ":1,0");
    file.force();
    assertThat(outcomes(directory, d -> d.bytes("a").length + "")).containsExactly("10");
  }

  @Test
  void allocationMayBeUndoneAndReadsAsZeros() {
    StoreFile file = durable("a", 1, PAGE);
    file.allocate(PAGE, 3 * PAGE);
    Set<String> seen =
        outcomes(directory, d -> d.bytes("a").length / PAGE + ":" + d.allocatedBytes() / PAGE);
    assertThat(seen).containsExactlyInAnyOrder("1:1", "4:1", "4:4");
    file.force();
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a")) + d.allocatedBytes() / PAGE))
        .containsExactly("1,04");
  }

  @Test
  void aPageWrittenAfterItsAllocationMayLoseBoth() {
    StoreFile file = directory.create("a");
    directory.force();
    file.allocate(0, PAGE);
    file.write(0, Bytes.of(1, PAGE), 0, PAGE);
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a")) + ":" + d.allocatedBytes()))
        .contains("0:0", "1:" + PAGE);
  }

  @Test
  void aPunchedRangeIsZeroOrOldUntilForced() {
    StoreFile file = durable("a", 1, PAGE);
    assertThat(file.punch(0, PAGE)).isTrue();
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a"))))
        .containsExactlyInAnyOrder("0", "1", "0,1", "1,0");
    file.force();
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a")) + d.allocatedBytes()))
        .containsExactly("00");
  }

  @Test
  void forcingARangeOfAMapForcesThatAndNotTheLength() {
    StoreFile file = durable("a", 1, 2 * PAGE);
    try (MappedRegion map = file.map(2 * PAGE, true)) {
      map.put(0, Bytes.of(2, 2 * PAGE), 0, 2 * PAGE);
      map.force(0, PAGE);
      Set<String> seen = outcomes(directory, d -> Bytes.values(d.bytes("a")));
      assertThat(seen).containsExactlyInAnyOrder("2", "2,1");
    }
    file.allocate(2 * PAGE, PAGE);
    try (MappedRegion map = file.map(3 * PAGE, true)) {
      map.put(2 * PAGE, Bytes.of(3, PAGE), 0, PAGE);
      map.force(2 * PAGE, PAGE);
    }
    assertThat(outcomes(directory, d -> d.bytes("a").length / PAGE + ""))
        .containsExactlyInAnyOrder("2", "3");
  }

  @Test
  void aCreationMayVanishThoughTheFileWasForced() {
    StoreFile file = directory.create("a");
    file.write(0, Bytes.of(1, 10), 0, 10);
    file.force();
    assertThat(outcomes(directory, d -> d.list().toString()))
        .containsExactlyInAnyOrder("[]", "[a]");
    directory.force();
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a")))).containsExactly("1");
  }

  @Test
  void aNameMaySurviveWithoutItsContent() {
    StoreFile file = directory.create("a");
    file.write(0, Bytes.of(1, 10), 0, 10);
    directory.force();
    assertThat(outcomes(directory, d -> d.bytes("a").length + Bytes.values(d.bytes("a"))))
        .containsExactlyInAnyOrder("0", "101", "100");
  }

  @Test
  void aRenameIsAtomicAndMayBeUndone() {
    durable("CURRENT", 1, 10);
    durable("temp", 2, 10);
    directory.rename("temp", "CURRENT");
    Function<SimulatedDirectory, String> look = d -> d.list() + Bytes.values(d.bytes("CURRENT"));
    assertThat(outcomes(directory, look))
        .containsExactlyInAnyOrder("[CURRENT, temp]1", "[CURRENT]2");
    directory.force();
    assertThat(outcomes(directory, look)).containsExactly("[CURRENT]2");
  }

  @Test
  void changesOfNamesSurviveInAnyCombination() {
    durable("b", 1, 10);
    directory.create("a").close();
    directory.delete("b");
    assertThat(outcomes(directory, d -> d.list().toString()))
        .containsExactlyInAnyOrder("[b]", "[a, b]", "[]", "[a]");
  }

  @Test
  void aRenameBringsItsFileEvenIfTheCreationIsLost() {
    directory.create("temp").close();
    directory.rename("temp", "a");
    assertThat(outcomes(directory, d -> d.list().toString()))
        .containsExactlyInAnyOrder("[]", "[temp]", "[a]");
  }

  @Test
  void aRenameTakesAwayItsOwnFileOnly() {
    durable("temp", 1, 10);
    directory.rename("temp", "CURRENT");
    StoreFile second = directory.create("temp");
    second.write(0, Bytes.of(2, 10), 0, 10);
    second.force();
    directory.rename("temp", "CURRENT");
    assertThat(
            outcomes(
                directory,
                d -> {
                  StringBuilder text = new StringBuilder();
                  d.list().forEach(name -> text.append(name).append(Bytes.values(d.bytes(name))));
                  return text.toString();
                }))
        .containsExactlyInAnyOrder(
            "temp1", "temp2", "CURRENT1", "CURRENT1temp2", "CURRENT2", "CURRENT2temp1");
  }

  @Test
  void aRemovalMayBeUndoneWithAllContent() {
    durable("a", 1, PAGE);
    directory.delete("a");
    assertThat(outcomes(directory, d -> d.exists("a") ? Bytes.values(d.bytes("a")) : "gone"))
        .containsExactlyInAnyOrder("1", "gone");
    directory.force();
    assertThat(outcomes(directory, d -> d.list().toString())).containsExactly("[]");
  }

  @Test
  void aLaterForceDoesNotHelpPagesThatAnEarlierOneFailedOn() {
    StoreFile file = durable("a", 1, 2 * PAGE);
    file.write(0, Bytes.of(2, 2 * PAGE), 0, 2 * PAGE);
    directory.inject(Fault.ioError(OperationKind.FORCE));
    assertThatThrownBy(file::force).isInstanceOf(StoreIoException.class);
    assertThat(Bytes.values(directory.bytes("a"))).isEqualTo("2");
    file.write(PAGE, Bytes.of(3, PAGE), 0, PAGE);
    file.force();
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a"))))
        .containsExactlyInAnyOrder("1,3", "2,3", "1,2,3", "2,1,3");
  }

  @Test
  void aFailedForceLeavesTheLengthInDoubtToo() {
    StoreFile file = durable("a", 1, 10);
    file.write(10, Bytes.of(1, 10), 0, 10);
    directory.inject(Fault.ioError(OperationKind.FORCE));
    assertThatThrownBy(file::force).isInstanceOf(StoreIoException.class);
    file.force();
    assertThat(outcomes(directory, d -> d.bytes("a").length + ""))
        .containsExactlyInAnyOrder("10", "20");
    file.setLength(21);
    file.force();
    assertThat(outcomes(directory, d -> d.bytes("a").length + "")).containsExactly("21");
  }

  @Test
  void aFailedForceOfARangeIsNoDifferent() {
    StoreFile file = durable("a", 1, PAGE);
    try (MappedRegion map = file.map(PAGE, true)) {
      map.put(0, Bytes.of(2, PAGE), 0, PAGE);
      directory.inject(Fault.ioError(OperationKind.REGION_FORCE));
      assertThatThrownBy(() -> map.force(0, PAGE)).isInstanceOf(StoreIoException.class);
      map.force(0, PAGE);
      file.force();
    }
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a")))).contains("1", "2");
  }

  @Test
  void pagesMayFallOutOfMemoryAfterAFailedForce() {
    Set<String> read = new TreeSet<>();
    for (int seed = 0; seed < 20; seed++) {
      SimulatedDirectory forgetful =
          new SimulatedDirectory(
              SimulationSettings.defaults().dropAfterFailedForce(true).seed(seed));
      StoreFile file = forgetful.create("a");
      forgetful.force();
      file.write(0, Bytes.of(1, PAGE), 0, PAGE);
      file.force();
      file.write(0, Bytes.of(2, PAGE), 0, PAGE);
      forgetful.inject(Fault.ioError(OperationKind.FORCE));
      assertThatThrownBy(file::force).isInstanceOf(StoreIoException.class);
      String now = Bytes.values(forgetful.bytes("a"));
      assertThat(outcomes(forgetful, d -> Bytes.values(d.bytes("a")))).containsExactly(now);
      read.add(now);
    }
    assertThat(read).containsExactly("1", "2");
  }

  @Test
  void aLaterForceDoesNotHelpNamesThatAnEarlierOneFailedOn() {
    directory.create("a").close();
    directory.inject(Fault.ioError(OperationKind.DIRECTORY_FORCE));
    assertThatThrownBy(directory::force).isInstanceOf(StoreIoException.class);
    directory.create("b").close();
    directory.force();
    assertThat(outcomes(directory, d -> d.list().toString()))
        .containsExactlyInAnyOrder("[b]", "[a, b]");
    directory.rename("a", "c");
    directory.force();
    assertThat(outcomes(directory, d -> d.list().toString())).containsExactly("[b, c]");
  }

  @Test
  void aLaterForceHelpsNamesIfTheFileSystemHasAJournal() {
    SimulatedDirectory journaled =
        new SimulatedDirectory(SimulationSettings.defaults().strictDirectoryForce(false));
    journaled.create("a").close();
    journaled.inject(Fault.ioError(OperationKind.DIRECTORY_FORCE));
    assertThatThrownBy(journaled::force).isInstanceOf(StoreIoException.class);
    assertThat(outcomes(journaled, d -> d.list().toString())).containsExactly("[]", "[a]");
    journaled.force();
    assertThat(outcomes(journaled, d -> d.list().toString())).containsExactly("[a]");
  }

  @Test
  void whatAPowerLossLeftIsDurable() {
    StoreFile file = durable("a", 1, PAGE);
    file.write(0, Bytes.of(2, 2 * PAGE), 0, 2 * PAGE);
    directory.create("b").close();
    for (CrashState state : CrashStates.of(directory).enumerate(50)) {
      long left = state.directory().contentHash();
      assertThat(outcomes(state.directory(), d -> d.contentHash() + "")).containsExactly(left + "");
    }
  }

  @Test
  void aKillKeepsAllAndMakesNothingDurable() {
    StoreFile file = durable("a", 1, 10);
    file.write(0, Bytes.of(2, 10), 0, 10);
    directory.create("b").close();
    directory.rename("b", "c");
    directory.delete("a");
    SimulatedDirectory killed = directory.killState();
    assertThat(killed.list()).containsExactly("c");
    killed.assertAllClosed();
    assertThat(outcomes(killed, d -> d.list().toString()))
        .containsExactlyInAnyOrder("[]", "[a]", "[b]", "[c]", "[a, b]", "[a, c]");
    assertThat(outcomes(killed, d -> d.exists("a") ? Bytes.values(d.bytes("a")) : "gone"))
        .containsExactlyInAnyOrder("1", "2", "gone");
  }

  @Test
  void killThenAppendThenPowerLoss() {
    StoreFile file = durable("log", 1, 10);
    file.write(10, Bytes.of(2, PAGE), 0, PAGE);
    SimulatedDirectory killed = directory.killState();
    StoreFile reopened = killed.open("log");
    assertThat(reopened.lengthBytes()).isEqualTo(PAGE + 10);
    reopened.write(PAGE + 10, Bytes.of(3, 10), 0, 10);
    assertThat(outcomes(killed, d -> Bytes.values(d.bytes("log"))))
        .contains("1", "1,0", "1,2,3", "1,2,0", "1,0,2,3");
    reopened.force();
    assertThat(outcomes(killed, d -> Bytes.values(d.bytes("log")))).containsExactly("1,2,3");
    assertThat(Bytes.values(directory.bytes("log"))).isEqualTo("1,2");
  }

  @Test
  void whatComesAfterDoesNotChangeWhatWas() {
    durable("a", 1, PAGE);
    for (SimulatedDirectory after : List.of(directory.killState(), directory.crashState(1))) {
      try (StoreFile file = after.open("a")) {
        file.write(0, Bytes.of(2, PAGE), 0, PAGE);
      }
      assertThat(Bytes.values(after.bytes("a"))).isEqualTo("2");
      assertThat(Bytes.values(directory.bytes("a"))).isEqualTo("1");
    }
  }

  @Test
  void aKillMayLeaveACallHalfDone() {
    StoreFile file = durable("a", 1, PAGE);
    directory.setCrashPlan(CrashPlan.atOperation(directory.crashPoints() + 1).afterPercent(50));
    assertThatThrownBy(() -> file.write(0, Bytes.of(2, PAGE), 0, PAGE))
        .isInstanceOf(SimulatedCrash.class);
    byte[] bytes = directory.killState().bytes("a");
    assertThat(bytes[PAGE / 2 - 1]).isEqualTo((byte) 2);
    assertThat(bytes[PAGE / 2]).isEqualTo((byte) 1);
  }

  @Test
  void aCrashComesBeforeTheCallTakesEffect() {
    StoreFile file = durable("a", 1, 10);
    file.write(0, Bytes.of(2, 10), 0, 10);
    directory.setCrashPlan(CrashPlan.atOperation(directory.crashPoints() + 1));
    assertThatThrownBy(file::force).isInstanceOf(SimulatedCrash.class);
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a"))))
        .containsExactlyInAnyOrder("1", "2");
  }

  @Test
  void aRottenByteIsDurableAndSilent() {
    durable("a", 1, 10);
    long points = directory.crashPoints();
    directory.flip("a", 3, 0x80);
    assertThat(directory.crashPoints()).isEqualTo(points);
    assertThat(outcomes(directory, d -> Bytes.values(d.bytes("a")))).containsExactly("1,-127");
  }

  private StoreFile durable(String name, int value, int length) {
    StoreFile file = directory.create(name);
    file.write(0, Bytes.of(value, length), 0, length);
    file.force();
    directory.force();
    return file;
  }

  /** What is seen in all states, systematic and random. */
  private static Set<String> outcomes(
      SimulatedDirectory directory, Function<SimulatedDirectory, String> look) {
    Set<String> seen = new TreeSet<>();
    for (CrashState state : CrashStates.of(directory).enumerate(300)) {
      seen.add(look.apply(state.directory()));
    }
    return seen;
  }
}
