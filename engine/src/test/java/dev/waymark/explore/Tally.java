package dev.waymark.explore;

import java.util.Map;
import java.util.TreeMap;

/** What was explored; one for each thread, added up at the end. */
final class Tally {
  long workloads;
  long states;
  long nested;
  long lost;
  long wrong;

  /** What the stores of the workloads did themselves, apart from the states: how often. */
  final Map<String, Long> did = new TreeMap<>();

  void add(Tally other) {
    workloads += other.workloads;
    states += other.states;
    nested += other.nested;
    lost += other.lost;
    wrong += other.wrong;
    other.did.forEach(this::did);
  }

  void did(String what, long times) {
    did.merge(what, times, Long::sum);
  }

  void count(Violation violation) {
    if (violation.kind == Violation.Kind.LOST) {
      lost++;
    } else {
      wrong++;
    }
  }

  boolean isClean() {
    return lost == 0 && wrong == 0;
  }

  /** The line by which a run is judged. */
  String line() {
    return "crash states: %d explored, %d nested, %d lost, %d wrong"
        .formatted(states, nested, lost, wrong);
  }
}
