package dev.waymark;

import dev.waymark.internal.log.Alignment;
import dev.waymark.internal.log.RecordLocation;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What prefills may still bring into their namespaces, in whole pages of records. Guarded by the
 * lock of publishing, under which records become live.
 *
 * <p>Invariants: a record is written only out of a promise, and stays part of it until it is
 * published, when its pages go from what is promised to what lives in one step. So where live and
 * promised pages are within a namespace's quota when something is promised, they stay so.
 */
final class NamespacePromises {
  private final Map<Integer, Long> bytesByNamespace = new HashMap<>();

  /** Of one prefill. */
  final class Promise {
    private final int namespaceId;
    private long bytes;
    private long writtenBytes;

    private Promise(int namespaceId) {
      this.namespaceId = namespaceId;
    }

    void grow(long more) {
      bytes += more;
      bytesByNamespace.merge(namespaceId, more, Long::sum);
    }

    /** Takes what a record may need; false where so much is not left. */
    boolean take(long most) {
      if (bytes - writtenBytes < most) {
        return false;
      }
      writtenBytes += most;
      return true;
    }

    /** Of what was taken, so much was not needed, or is needed no more. */
    void giveBack(long unused) {
      writtenBytes -= unused;
    }

    /** The records live: their pages count as such from now on. */
    void published(List<RecordLocation> records) {
      long pages = pageBytes(records);
      writtenBytes -= pages;
      grow(-pages);
    }

    void end() {
      grow(-bytes);
      writtenBytes = 0;
    }
  }

  /** A promise of nothing. */
  Promise promise(int namespaceId) {
    return new Promise(namespaceId);
  }

  /** What is promised to all prefills of a namespace, written and not yet published included. */
  long bytes(int namespaceId) {
    return bytesByNamespace.getOrDefault(namespaceId, 0L);
  }

  static long pageBytes(List<RecordLocation> records) {
    long bytes = 0;
    for (RecordLocation record : records) {
      bytes += Alignment.toPage(record.lengthBytes());
    }
    return bytes;
  }
}
