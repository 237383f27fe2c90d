package dev.waymark.jmh;

import java.util.List;

/** The stores that the profile brings in. */
final class Peers implements Contenders.PeerStores {
  @Override
  public List<Contender.Factory> factories() {
    return List.of(
        LmdbContender.factory(),
        RocksContender.factory(),
        QueueContender.factory(),
        SqliteContender.factory());
  }
}
