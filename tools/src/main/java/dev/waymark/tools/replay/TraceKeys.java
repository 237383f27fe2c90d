package dev.waymark.tools.replay;

import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.KeyChain;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/**
 * Names the boundaries of requests. A hash id names a block's own tokens only, and the same id can
 * stand behind different prefixes; a boundary is known by its whole chain of ids and its scope.
 *
 * <p>Not for use by two threads at once.
 */
final class TraceKeys {
  private static final byte[] NO_EXTRA = {};

  private final KeyChain chain = new KeyChain();
  private int[] words = new int[2];

  /** The key of each block of a request, in order. */
  List<BoundaryKey> keysOf(TraceRequest request) {
    long[] ids = request.hashIds();
    int perBlock = request.idsPerBlock();
    if (words.length < 2 * perBlock) {
      words = new int[2 * perBlock];
    }
    List<BoundaryKey> keys = new ArrayList<>(request.blocks());
    BoundaryKey key = rootOf(request.scope());
    for (int from = 0; from < ids.length; from += perBlock) {
      for (int i = 0; i < perBlock; i++) {
        words[2 * i] = (int) ids[from + i];
        words[2 * i + 1] = (int) (ids[from + i] >>> 32);
      }
      key = chain.next(key, words, 0, 2 * perBlock, NO_EXTRA);
      keys.add(key);
    }
    return keys;
  }

  private static BoundaryKey rootOf(String scope) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update("waymark replay 1\n".getBytes(StandardCharsets.UTF_8));
      return BoundaryKey.of(digest.digest(scope.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
