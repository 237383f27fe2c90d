package dev.waymark.jmh;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Supplier;

/**
 * A store under test, on a directory of its own. It stores a boundary with a CRC32C of its bytes,
 * or its own checksum if that is as strong, and checks it on every read.
 */
interface Contender extends AutoCloseable {

  /** Opens a store in a directory, and makes it if it is not there. */
  interface Opener {
    /**
     * Opens one.
     *
     * @param directory its directory
     * @param load what will be stored
     * @param each whether each boundary is to be durable when its put returns; else all are when
     *     {@link Lane#complete} does
     */
    Contender open(Path directory, Load load, boolean each) throws IOException;
  }

  /**
   * Makes stores of one kind.
   *
   * @param name what it is called in reports
   * @param versions says the version of it, empty where it has none
   */
  record Factory(String name, Supplier<String> versions, Opener opener) {
    Factory(String name, Opener opener) {
      this(name, () -> "", opener);
    }

    String version() {
      return versions.get();
    }

    Contender open(Path directory, Load load, boolean each) throws IOException {
      return opener.open(directory, load, each);
    }
  }

  /** One prompt's way into the store and out of it, for one thread at a time. */
  interface Lane {
    /** Stores a boundary; they come in order. */
    void put(int boundary) throws IOException;

    /** Makes durable what was put. */
    void complete() throws IOException;

    /** Reads and checks all that was put, into the lane's memory. */
    void restore() throws IOException;
  }

  /** A lane of the load, the same for the same number. */
  Lane lane(int number) throws IOException;

  @Override
  void close() throws IOException;
}
