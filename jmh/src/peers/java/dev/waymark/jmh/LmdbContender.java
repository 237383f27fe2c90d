package dev.waymark.jmh;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.Meta;
import org.lmdbjava.Txn;

/**
 * LMDB: a transaction a boundary; forced by each, or all at the end. The latter is more than fair
 * to it: a loss of power before the end may cost all of the environment.
 */
final class LmdbContender implements Contender {
  private final Load load;
  private final Env<ByteBuffer> env;
  private final Dbi<ByteBuffer> values;

  private LmdbContender(Path directory, Load load, boolean each) throws IOException {
    this.load = load;
    Files.createDirectories(directory);
    Env.Builder<ByteBuffer> builder =
        Env.create().setMapSize(4 * load.bytes() + (64L << 20)).setMaxReaders(64);
    this.env =
        each
            ? builder.open(directory.toFile(), EnvFlags.MDB_NORDAHEAD)
            : builder.open(directory.toFile(), EnvFlags.MDB_NORDAHEAD, EnvFlags.MDB_NOSYNC);
    this.values = env.openDbi((String) null, DbiFlags.MDB_CREATE);
  }

  static Factory factory() {
    return new Factory(Contenders.LMDB, LmdbContender::version, LmdbContender::new);
  }

  private static String version() {
    Meta.Version version = Meta.version();
    return version.major + "." + version.minor + "." + version.patch;
  }

  @Override
  public Lane lane(int number) {
    return new OfValues(number, load.lane(number));
  }

  @Override
  public void close() {
    env.close();
  }

  private final class OfValues implements Lane {
    private final int number;
    private final Load.Lane lane;
    private final ByteBuffer key = ByteBuffer.allocateDirect(2 * Integer.BYTES);

    OfValues(int number, Load.Lane lane) {
      this.number = number;
      this.lane = lane;
    }

    @Override
    public void put(int boundary) {
      ByteBuffer bytes = lane.packed(boundary);
      int length = bytes.remaining();
      try (Txn<ByteBuffer> transaction = env.txnWrite()) {
        ByteBuffer value = values.reserve(transaction, key(boundary), length + Checksum.BYTES);
        value.putInt(length, Checksum.copy(bytes, value, length));
        transaction.commit();
      }
    }

    @Override
    public void complete() {
      env.sync(true);
    }

    @Override
    public void restore() throws IOException {
      for (int i = 0; i < load.boundaries(); i++) {
        ByteBuffer target = lane.unpacked(i);
        int length = target.remaining();
        try (Txn<ByteBuffer> transaction = env.txnRead()) {
          ByteBuffer value = values.get(transaction, key(i));
          Checksum.require(Checksum.copy(value, target, length), value.getInt(length));
        }
      }
    }

    private ByteBuffer key(int boundary) {
      return key.clear().putInt(number).putInt(boundary).flip();
    }
  }
}
