package dev.waymark.tools.move;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.WaymarkException;
import dev.waymark.tools.NamedFault;
import java.util.OptionalLong;

/** What is to be imported is not what it should be. */
public final class BadImportException extends WaymarkException implements NamedFault {
  private static final long serialVersionUID = 1L;

  private final ImportFault fault;

  BadImportException(ImportFault fault, String file, Object expected, Object found, String remedy) {
    this(fault, file, OptionalLong.empty(), expected, found, remedy);
  }

  private BadImportException(
      ImportFault fault,
      String file,
      OptionalLong offset,
      Object expected,
      Object found,
      String remedy) {
    super(
        fault.code(),
        new ErrorDetail(
            fault.sentence(),
            file,
            offset,
            String.valueOf(expected),
            String.valueOf(found),
            remedy));
    this.fault = fault;
  }

  /** A fault at a place of a file. */
  static BadImportException at(
      ImportFault fault, String file, long offset, Object expected, Object found) {
    return new BadImportException(
        fault,
        file,
        OptionalLong.of(offset),
        expected,
        found,
        "write the file anew; nothing of it was stored");
  }

  /** Which fault it is. */
  public ImportFault fault() {
    return fault;
  }

  @Override
  public String faultName() {
    return fault.name();
  }
}
