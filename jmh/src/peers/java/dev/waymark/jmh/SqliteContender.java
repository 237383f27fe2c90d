package dev.waymark.jmh;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.zip.CRC32C;

/**
 * SQLite with a write-ahead log, fully synchronous: a transaction a boundary, or one for all. It
 * has one writer; the driver takes values as arrays.
 */
final class SqliteContender implements Contender {
  private final Load load;
  private final String url;
  private final Connection writer;

  private SqliteContender(Path directory, Load load, boolean each) throws IOException {
    this.load = load;
    Files.createDirectories(directory);
    this.url = "jdbc:sqlite:" + directory.resolve("boundaries.db");
    try {
      this.writer = connect();
      try (Statement statement = writer.createStatement()) {
        statement.execute(
            "create table if not exists boundary (lane integer, number integer, bytes blob,"
                + " checksum integer, primary key (lane, number))");
      }
      writer.setAutoCommit(each);
    } catch (SQLException e) {
      throw new IOException(e);
    }
  }

  private Connection connect() throws SQLException {
    Connection connection = DriverManager.getConnection(url);
    try (Statement statement = connection.createStatement()) {
      statement.execute("pragma page_size = 65536");
      statement.execute("pragma journal_mode = wal");
      statement.execute("pragma synchronous = full");
      statement.execute("pragma busy_timeout = 60000");
    }
    return connection;
  }

  static Factory factory() {
    return new Factory("SQLite", SqliteContender::version, SqliteContender::new);
  }

  private static String version() {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite::memory:")) {
      return connection.getMetaData().getDatabaseProductVersion();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Lane lane(int number) {
    return new OfRows(number, load.lane(number));
  }

  @Override
  public void close() throws IOException {
    try {
      writer.close();
    } catch (SQLException e) {
      throw new IOException(e);
    }
  }

  private final class OfRows implements Lane {
    private final int number;
    private final Load.Lane lane;
    private byte[] array = new byte[0];

    OfRows(int number, Load.Lane lane) {
      this.number = number;
      this.lane = lane;
    }

    @Override
    public void put(int boundary) throws IOException {
      ByteBuffer bytes = lane.packed(boundary);
      if (array.length != bytes.remaining()) {
        array = new byte[bytes.remaining()];
      }
      bytes.get(array);
      synchronized (writer) {
        try (PreparedStatement insert =
            writer.prepareStatement("insert into boundary values (?, ?, ?, ?)")) {
          insert.setInt(1, number);
          insert.setInt(2, boundary);
          insert.setBytes(3, array);
          insert.setInt(4, checksum(array));
          insert.execute();
        } catch (SQLException e) {
          throw new IOException(e);
        }
      }
    }

    @Override
    public void complete() throws IOException {
      synchronized (writer) {
        try {
          if (!writer.getAutoCommit()) {
            writer.commit();
          }
        } catch (SQLException e) {
          throw new IOException(e);
        }
      }
    }

    @Override
    public void restore() throws IOException {
      try (Connection reader = connect();
          PreparedStatement select =
              reader.prepareStatement(
                  "select bytes, checksum from boundary where lane = ? and number = ?")) {
        for (int i = 0; i < load.boundaries(); i++) {
          select.setInt(1, number);
          select.setInt(2, i);
          try (ResultSet result = select.executeQuery()) {
            result.next();
            byte[] bytes = result.getBytes(1);
            Checksum.require(checksum(bytes), result.getInt(2));
            lane.unpacked(i).put(bytes);
          }
        }
      } catch (SQLException e) {
        throw new IOException(e);
      }
    }

    private static int checksum(byte[] bytes) {
      CRC32C crc = new CRC32C();
      crc.update(bytes);
      return (int) crc.getValue();
    }
  }
}
