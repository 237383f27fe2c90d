package dev.waymark.tools.move;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.waymark.tools.Run;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lengths that lie take no memory: what is claimed is compared with the file first. */
class AllocationTest {
  private static final long MUCH_BYTES = 40_000_000;
  private static final long TERABYTE = 1L << 40;

  @TempDir Path dir;

  private long allocatedBy(Path file, String fault) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    // Classes are loaded by another run first.
    Run.of("import", dir.resolve("store"), file, "--create", "--json");
    long before = threads.getCurrentThreadAllocatedBytes();
    Run run = Run.of("import", dir.resolve("store"), file, "--create", "--json");
    long after = threads.getCurrentThreadAllocatedBytes();
    assertThat(run.out()).contains("\"" + fault + "\"");
    return after - before;
  }

  private Path file(byte[] json, long claimed, int length) throws IOException {
    ByteBuffer file = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    file.putLong(claimed).put(json);
    return Files.write(dir.resolve("file"), file.array());
  }

  @Test
  void ofSafetensorsHeaders() throws IOException {
    byte[] none = {};
    assertThat(allocatedBy(file(none, 99_000_000, 64), "HEADER_BEYOND_FILE"))
        .isLessThan(MUCH_BYTES);
    assertThat(allocatedBy(file(none, 132_000_000, 64), "HEADER_TOO_LARGE")).isLessThan(MUCH_BYTES);
    byte[] vast =
        "{\"a\":{\"dtype\":\"F64\",\"shape\":[99999999999],\"data_offsets\":[0,799999999992]}}"
            .getBytes(StandardCharsets.UTF_8);
    assertThat(allocatedBy(file(vast, vast.length, 200), "OFFSETS_BEYOND_FILE"))
        .isLessThan(MUCH_BYTES);
  }

  /** Longer than any disk of a test: nothing but a few pages of them is there. */
  @Test
  void ofSparseFilesOfATerabyte() throws IOException {
    ByteBuffer archive = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    archive.putInt(ArchiveFormat.MAGIC).putShort((short) 1).putShort((short) 0);
    archive.putLong(2_000_000_000L).putLong(0);
    assertThat(allocatedBy(sparse(archive.array()), "TOO_LARGE")).isLessThan(MUCH_BYTES);
    long data = TERABYTE - 200;
    String tensor = "{\"a\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[0,%d]}}";
    String header = String.format("%-192s", tensor.formatted(data, data));
    ByteBuffer front = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
    front.putLong(192).put(header.getBytes(StandardCharsets.UTF_8));
    assertThat(allocatedBy(sparse(front.array()), "NO_LAYOUT")).isLessThan(MUCH_BYTES);
    assertThat(allocatedBy(sparse(new byte[0]), "HEADER_NOT_JSON")).isLessThan(MUCH_BYTES);
  }

  private Path sparse(byte[] front) throws IOException {
    Path file = Files.write(dir.resolve("sparse"), front);
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(TERABYTE);
    }
    return file;
  }

  @Test
  void ofArchives() throws IOException {
    ByteBuffer front = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    front.putInt(ArchiveFormat.MAGIC).putShort((short) 1).putShort((short) 0);
    front.putLong(2_000_000_000L).putLong(1L << 60);
    Path file = Files.write(dir.resolve("file"), front.array());
    assertThat(allocatedBy(file, "ARCHIVE_CUT_SHORT")).isLessThan(MUCH_BYTES);
  }
}
