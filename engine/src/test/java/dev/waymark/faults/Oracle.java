package dev.waymark.faults;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * What was asked of a store, and what it acknowledged: told by whoever drives it, kept where the
 * fault cannot reach. Each event is a line, so that a process that will be killed can write it down
 * for another one to read.
 *
 * <p>What has to be there is what was there when the store was last opened, and what was
 * acknowledged since by sessions whose boundaries stay: those that were completed, or that are kept
 * when they are aborted. What was asked and not acknowledged may be there or not.
 */
final class Oracle {
  private static final class Session {
    private final String sample;
    private final boolean discards;
    private final boolean keepsPoints;
    private int rows;
    private int tipPoint;
    private final Set<Integer> points = new HashSet<>();
    private boolean completed;
    private boolean discarding;
    private boolean ended;

    Session(String sample, boolean discards, boolean keepsPoints) {
      this.sample = sample;
      this.discards = discards;
      this.keepsPoints = keepsPoints;
    }

    boolean stays() {
      return completed || !discards && !discarding;
    }
  }

  /** What has to be stored of one prompt. */
  record Required(int rows, Set<Integer> points) {}

  private final Consumer<String> journal;
  private final Map<Long, Session> sessions = new HashMap<>();
  private final List<String> said = new ArrayList<>();
  private final Map<String, Required> opened = new HashMap<>();

  /** Of each prompt the last point, where no other session of its family could thin it away. */
  private final Map<String, Integer> tips = new HashMap<>();

  private long nextSession;
  private long acknowledged;
  private boolean frozen;
  private long late;

  /**
   * An oracle.
   *
   * @param journal gets each event before it is believed
   */
  Oracle(Consumer<String> journal) {
    this.journal = journal;
  }

  synchronized long opening(Sample sample, boolean discards, boolean keepsPoints) {
    long id = nextSession++;
    say("open " + id + " " + sample.name() + " " + discards + " " + keepsPoints);
    return id;
  }

  /** Rows up to there, and maybe the point at that boundary, are acknowledged as durable. */
  synchronized void durable(long session, int tokens, boolean point) {
    say("durable " + session + " " + tokens + " " + point);
  }

  /** The prompt is complete, and acknowledged as durable. */
  synchronized void completed(long session, int tokens, boolean point) {
    say("completed " + session + " " + tokens + " " + point);
  }

  /** A completed session goes on: its next point may supersede the one that it had. */
  synchronized void generating(long session) {
    say("generating " + session);
  }

  /** The session was ended, whatever way. */
  synchronized void ended(long session) {
    say("ended " + session);
  }

  /** From now on what it added may go. */
  synchronized void discarding(long session) {
    say("discarding " + session);
  }

  /** Believes an event that another process wrote down. */
  synchronized void apply(String line) {
    said.add(line);
    String[] words = line.split(" ");
    long id = Long.parseLong(words[1]);
    Session session = sessions.get(id);
    switch (words[0]) {
      case "open" -> {
        sessions.put(
            id,
            new Session(words[2], Boolean.parseBoolean(words[3]), Boolean.parseBoolean(words[4])));
        String family = family(words[2]);
        tips.keySet().removeIf(name -> family(name).equals(family));
      }
      case "durable" -> {
        session.rows = Math.max(session.rows, Integer.parseInt(words[2]));
        if (Boolean.parseBoolean(words[3])) {
          session.points.add(Integer.parseInt(words[2]));
        }
        acknowledged++;
      }
      case "completed" -> {
        session.completed = true;
        session.rows = Math.max(session.rows, Integer.parseInt(words[2]));
        if (Boolean.parseBoolean(words[3])) {
          session.tipPoint = Integer.parseInt(words[2]);
          if (isOnlyOfFamily(session)) {
            tips.put(session.sample, session.tipPoint);
          }
        }
        acknowledged++;
      }
      case "generating" -> tips.remove(session.sample);
      case "ended" -> session.ended = true;
      case "discarding" -> session.discarding = true;
      default -> throw new IllegalArgumentException(line);
    }
  }

  /** What has to be there of a prompt now. */
  synchronized Required required(Sample sample) {
    Required before = opened.getOrDefault(sample.name(), new Required(0, Set.of()));
    int rows = before.rows();
    Set<Integer> points = new TreeSet<>(before.points());
    for (Session session : sessions.values()) {
      if (session.stays() && session.sample.equals(sample.name())) {
        rows = Math.max(rows, session.rows);
        if (session.keepsPoints) {
          points.addAll(session.points);
        }
      }
    }
    if (tips.containsKey(sample.name())) {
      points.add(tips.get(sample.name()));
    }
    return new Required(rows, points);
  }

  /** Opening made what it found durable: from now on that is what has to be there. */
  synchronized void reopened(Map<String, Required> found) {
    frozen = false;
    sessions.clear();
    said.clear();
    opened.clear();
    opened.putAll(found);
  }

  /** What was there when the store was last opened. */
  synchronized Map<String, Required> opened() {
    return Map.copyOf(opened);
  }

  /** Acknowledgements that were believed. */
  synchronized long acknowledged() {
    return acknowledged;
  }

  private boolean isOnlyOfFamily(Session session) {
    return sessions.values().stream()
        .allMatch(
            other ->
                other == session
                    || other.ended
                    || !family(other.sample).equals(family(session.sample)));
  }

  private static String family(String sample) {
    return sample.substring(0, sample.indexOf('.'));
  }

  /** What was said of a prompt's family since the store was opened: to explain a loss. */
  synchronized List<String> history(Sample sample) {
    Set<String> ids = new HashSet<>();
    sessions.forEach(
        (id, session) -> {
          if (family(session.sample).equals(family(sample.name()))) {
            ids.add(id.toString());
          }
        });
    return said.stream().filter(line -> ids.contains(line.split(" ")[1])).toList();
  }

  /**
   * From now on nothing acknowledged counts, but what is asked still may happen: the power is
   * going. A machine without power answers nothing; a file system that is being shut down still
   * lets some calls return as if all was well.
   */
  synchronized void powerGoes() {
    frozen = true;
  }

  /** Acknowledgements that came too late to count. */
  synchronized long late() {
    return late;
  }

  private void say(String line) {
    if (frozen && (line.startsWith("durable") || line.startsWith("completed"))) {
      late++;
      return;
    }
    journal.accept(line);
    apply(line);
  }
}
