package dev.waymark.tools.replay;

import dev.waymark.error.ErrorCode;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.WaymarkException;

/**
 * A trace is not what it should be. Names the line and what was expected there, never what stands
 * there: ids in a trace can stand for somebody's prompt. For the same reason it carries no cause; a
 * parser's own messages quote the text.
 */
final class BadTraceException extends WaymarkException {
  private static final long serialVersionUID = 1L;

  private final long lineNumber;

  BadTraceException(String fileName, long lineNumber, String expected) {
    super(
        ErrorCode.INVALID_ARGUMENT,
        ErrorDetail.of("line " + lineNumber + " of a trace is not valid")
            .in(fileName)
            .expected(expected));
    this.lineNumber = lineNumber;
  }

  /** The line, counted from 1, on which the record that is at fault begins. */
  long lineNumber() {
    return lineNumber;
  }
}
