package dev.waymark.sim;

/**
 * One call, as the log keeps it.
 *
 * @param crashPoint number among the calls at which a crash can be planned, from 1; 0 for others
 * @param kind what was asked
 * @param file name of the file, {@code from -> to} of a rename, or the label of a yield point
 * @param offset first byte, or 0
 * @param length bytes, or the new length, or 0
 */
public record Operation(
    long crashPoint, OperationKind kind, String file, long offset, long length) {
  @Override
  public String toString() {
    String number = crashPoint == 0 ? "-" : Long.toString(crashPoint);
    return number + " " + kind + " " + file + " " + offset + "+" + length;
  }
}
