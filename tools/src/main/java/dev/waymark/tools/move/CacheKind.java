package dev.waymark.tools.move;

/** What a layer's cache in a server's block is, by the name of its class. */
enum CacheKind {
  /** One row a token. */
  ROWS,
  /** A ring of the last rows. */
  WINDOW,
  /** Wholly replaced as tokens pass. */
  FIXED,
  /** Several of these. */
  LIST;

  /** The kind of a class, or null where it is not known. */
  static CacheKind ofClass(String name) {
    return switch (name) {
      case "KVCache", "ConcatenateKVCache" -> ROWS;
      case "RotatingKVCache" -> WINDOW;
      case "ArraysCache", "MambaCache" -> FIXED;
      case "CacheList" -> LIST;
      default -> null;
    };
  }
}
