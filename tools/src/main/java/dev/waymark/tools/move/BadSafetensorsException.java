package dev.waymark.tools.move;

import dev.waymark.error.ErrorCode;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.WaymarkException;
import dev.waymark.tools.NamedFault;

/** A safetensors file is not what it should be. */
public final class BadSafetensorsException extends WaymarkException implements NamedFault {
  private static final long serialVersionUID = 1L;

  private final SafetensorsFault fault;

  BadSafetensorsException(SafetensorsFault fault, Object expected, Object found) {
    this(fault, "", expected, found);
  }

  private BadSafetensorsException(
      SafetensorsFault fault, String file, Object expected, Object found) {
    super(
        ErrorCode.CORRUPTION,
        ErrorDetail.of(fault.sentence())
            .in(file)
            .expected(expected)
            .found(found)
            .remedy("write the file anew; nothing of it was stored"));
    this.fault = fault;
  }

  /** The same, naming the file. */
  BadSafetensorsException in(String file) {
    return new BadSafetensorsException(fault, file, detail().expected(), detail().found());
  }

  /** Which fault it is. */
  public SafetensorsFault fault() {
    return fault;
  }

  @Override
  public String faultName() {
    return fault.name();
  }
}
