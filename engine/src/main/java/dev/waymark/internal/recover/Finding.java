package dev.waymark.internal.recover;

/**
 * Something that recovery or a check found.
 *
 * @param id stable name of this kind of finding
 * @param severity how bad it is
 * @param file the file, or empty
 * @param offsetBytes where in it, or -1
 * @param text what it means
 */
public record Finding(String id, Severity severity, String file, long offsetBytes, String text) {

  /** How bad a finding is. */
  public enum Severity {
    /** Worth knowing. */
    INFO,
    /** Nothing that was durable is lost. */
    WARNING,
    /** Something that was stored is lost or wrong. */
    ERROR
  }
}
