package dev.waymark.jmh;

import java.util.ArrayList;
import java.util.List;

/** The stores that take part: this one, files, and the peers that were built in. */
final class Contenders {
  private static final String PEERS = "dev.waymark.jmh.Peers";

  private Contenders() {}

  /** The others, files among them. */
  static List<Contender.Factory> others() {
    List<Contender.Factory> all = new ArrayList<>();
    all.add(FileContender.factory());
    all.addAll(peers());
    return all;
  }

  /** Names of the others, of which a goal may want the best. */
  static List<String> namesOfOthers() {
    return others().stream().map(Contender.Factory::name).toList();
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
