package dev.waymark.tools;

import dev.waymark.error.ErrorCode;
import picocli.CommandLine.ExitCode;

/** What segtool's exit codes mean; scripts rely on them. */
public final class ExitCodes {
  /** All is well. */
  public static final int OK = ExitCode.OK;

  /** It could not be done, or the answer is no. */
  public static final int FAILURE = 1;

  /** The command line asks for something that makes no sense. */
  public static final int USAGE = ExitCode.USAGE;

  /** Bytes on disk are not what was written. */
  public static final int CORRUPTION = 3;

  /** The manifest ends in edits that never counted; nothing durable is lost. */
  public static final int TORN_TAIL = 4;

  /** Another writer has the store open. */
  public static final int LOCKED = 5;

  /** A newer version wrote the store. */
  public static final int UNSUPPORTED_FORMAT = 6;

  /** What repair brings back may not be all that there was. */
  public static final int MAYBE_INCOMPLETE = 7;

  private ExitCodes() {}

  /** The code for a failure that the engine reports. */
  public static int of(ErrorCode code) {
    return switch (code) {
      case CORRUPTION, RESTORE_MISS -> CORRUPTION;
      case STORE_LOCKED -> LOCKED;
      case UNSUPPORTED_FORMAT -> UNSUPPORTED_FORMAT;
      case INVALID_SETTING -> USAGE;
      default -> FAILURE;
    };
  }
}
