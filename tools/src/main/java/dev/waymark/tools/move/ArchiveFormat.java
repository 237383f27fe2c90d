package dev.waymark.tools.move;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;

/**
 * An archive is a sequence of records, each right behind the one before; numbers are little-endian.
 *
 * <pre>
 *   0  4  magic "WMKA"
 *   4  2  kind: 1 START, 2 NAMESPACE, 3 BOUNDARY, 4 END
 *   6  2  0
 *   8  8  bytes of the head
 *  16  8  bytes of the body
 *  24     head, a JSON object in UTF-8
 *         body, tensors' bytes
 *     32  SHA-256 of the hash of the record before (32 zeros for the first) and of all the above
 * </pre>
 *
 * So a record that was changed, moved, taken out or put in is found where it stands, and the last
 * hash stands for the whole archive. {@code docs/archive.md} says what heads and bodies hold.
 */
final class ArchiveFormat {
  static final int VERSION = 1;
  static final int MAGIC = 0x414b4d57;
  static final int FRONT_BYTES = 24;
  static final int HASH_BYTES = 32;

  private ArchiveFormat() {}

  /** The kinds of records. */
  enum Kind {
    START,
    NAMESPACE,
    BOUNDARY,
    END;

    short wireCode() {
      return (short) (ordinal() + 1);
    }

    /** The kind of a wire code, or null. */
    static Kind ofWireCode(int code) {
      return code >= 1 && code <= values().length ? values()[code - 1] : null;
    }
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
