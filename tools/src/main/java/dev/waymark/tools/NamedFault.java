package dev.waymark.tools;

/** A failure that is one of several of its code; JSON errors show which. */
public interface NamedFault {
  /** Its stable name. */
  String faultName();
}
