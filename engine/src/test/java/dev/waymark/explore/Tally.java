package dev.waymark.explore;

/** What was explored; one for each thread, added up at the end. */
final class Tally {
  long workloads;
  long states;
  long nested;
  long lost;
  long wrong;

  void add(Tally other) {
    workloads += other.workloads;
    states += other.states;
    nested += other.nested;
    lost += other.lost;
    wrong += other.wrong;
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
