package dev.waymark.jmh;

import java.util.ArrayList;
import java.util.List;

/** The stores that take part: this one, files, and the peers that were built in. */
final class Contenders {
  static final String LMDB = "LMDB";
  static final String ROCKSDB = "RocksDB BlobDB";

  /** Those whose fastest is the one to beat at appending. */
  static final List<String> RIVALS = List.of(LMDB, ROCKSDB, FileContender.NAME);

  private static final String PEERS = "dev.waymark.jmh.Peers";

  private Contenders() {}

  /** The others, files among them. */
  static List<Contender.Factory> others() {
    List<Contender.Factory> all = new ArrayList<>();
    all.add(FileContender.factory());
    all.addAll(peers());
    return all;
  }

  /** Empty unless built with the profile. */
  private static List<Contender.Factory> peers() {
    try {
      return Class.forName(PEERS)
          .asSubclass(PeerStores.class)
          .getDeclaredConstructor()
          .newInstance()
          .factories();
    } catch (ClassNotFoundException e) {
      return List.of();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What the profile adds. */
  interface PeerStores {
    List<Contender.Factory> factories();
  }
}
