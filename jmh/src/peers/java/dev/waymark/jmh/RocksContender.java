package dev.waymark.jmh;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/**
 * RocksDB with blob files: its log forced by each, or no log and a flush at the end. Its blobs have
 * a CRC32C of their own, which it checks on every read.
 */
final class RocksContender implements Contender {
  private final Load load;
  private final boolean each;
  private final Options options;
  private final WriteOptions writes;
  private final ReadOptions reads;
  private final RocksDB database;

  private RocksContender(Path directory, Load load, boolean each) throws IOException {
    this.load = load;
    this.each = each;
    Files.createDirectories(directory);
    this.options =
        new Options()
            .setCreateIfMissing(true)
            .setEnableBlobFiles(true)
            .setMinBlobSize(0)
            .setBlobCompressionType(CompressionType.NO_COMPRESSION)
            .setCompressionType(CompressionType.NO_COMPRESSION)
            .setWriteBufferSize(128L << 20)
            .setMaxBackgroundJobs(2);
    this.writes = new WriteOptions().setSync(each).setDisableWAL(!each);
    this.reads = new ReadOptions().setVerifyChecksums(true);
    try {
      this.database = RocksDB.open(options, directory.toString());
    } catch (RocksDBException e) {
      throw new IOException(e);
    }
  }

  static Factory factory() {
    return new Factory(Contenders.ROCKSDB, RocksContender::version, RocksContender::new);
  }

  private static String version() {
    RocksDB.loadLibrary();
    return RocksDB.rocksdbVersion().toString();
  }

  @Override
  public Lane lane(int number) {
    return new OfBlobs(number, load.lane(number));
  }

  @Override
  public void close() {
    database.close();
    reads.close();
    writes.close();
    options.close();
  }

  private final class OfBlobs implements Lane {
    private final int number;
    private final Load.Lane lane;
    private final ByteBuffer key = ByteBuffer.allocateDirect(2 * Integer.BYTES);

    OfBlobs(int number, Load.Lane lane) {
      this.number = number;
      this.lane = lane;
    }

    @Override
    public void put(int boundary) throws IOException {
      try {
        database.put(writes, key(boundary), lane.packed(boundary));
      } catch (RocksDBException e) {
        throw new IOException(e);
      }
    }

    @Override
    public void complete() throws IOException {
      if (each) {
        return;
      }
      try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
        database.flush(flush);
      } catch (RocksDBException e) {
        throw new IOException(e);
      }
    }

    @Override
    public void restore() throws IOException {
      for (int i = 0; i < load.boundaries(); i++) {
        ByteBuffer target = lane.unpacked(i);
        int length = target.remaining();
        try {
          if (database.get(reads, key(i), target) != length) {
            throw new IOException("a boundary has another length");
          }
        } catch (RocksDBException e) {
          throw new IOException(e);
        }
      }
    }

    private ByteBuffer key(int boundary) {
      return key.clear().putInt(number).putInt(boundary).flip();
    }
  }
}
