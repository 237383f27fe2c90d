package dev.waymark.tools.move;

import dev.waymark.AppendReceipt;
import java.util.Map;
import java.util.TreeMap;

/** Counts what an import meets and what becomes of it. */
final class ImportTally {
  private final Map<String, Long> leftOut = new TreeMap<>();
  private final Map<String, Long> notes = new TreeMap<>();
  private long files;
  private long fileBytes;
  private long boundaries;
  private long points;
  private long pointsAdded;
  private long names;
  private long namesAdded;
  private long chains;
  private long rawBytes;

  void file(long bytes) {
    files++;
    fileBytes += bytes;
  }

  /** Boundaries of the source, the last of them a point or not, and what storing them did. */
  void stored(int count, boolean point, AppendReceipt receipt) {
    boundaries += count;
    points += point ? 1 : 0;
    pointsAdded += receipt.pointAdded() ? 1 : 0;
    rawBytes += receipt.appendedBytes();
  }

  /** A name of the source, under which its chain is kept now; whether it was not before. */
  void kept(boolean added) {
    names++;
    namesAdded += added ? 1 : 0;
  }

  void chain() {
    chains++;
  }

  /** Something of the source was not stored. */
  void leftOut(String why) {
    leftOut.merge(why, 1L, Long::sum);
  }

  /** Something that the user should know. */
  void note(String what) {
    notes.merge(what, 1L, Long::sum);
  }

  long files() {
    return files;
  }

  long fileBytes() {
    return fileBytes;
  }

  long boundaries() {
    return boundaries;
  }

  long points() {
    return points;
  }

  long pointsAdded() {
    return pointsAdded;
  }

  long names() {
    return names;
  }

  long namesAdded() {
    return namesAdded;
  }

  long chains() {
    return chains;
  }

  long rawBytes() {
    return rawBytes;
  }

  Map<String, Long> leftOut() {
    return leftOut;
  }

  Map<String, Long> notes() {
    return notes;
  }
}
