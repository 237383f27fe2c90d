package dev.waymark.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import net.openhft.chronicle.bytes.MappedBytesStore;
import net.openhft.chronicle.bytes.MappedFile;
import net.openhft.chronicle.core.io.ReferenceOwner;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The flags that the build gives to tests are enough to map a file and to use it. */
class JvmFlagsTest {
  @Test
  void mapsAFile(@TempDir Path folder) throws Exception {
    ReferenceOwner owner = ReferenceOwner.temporary("test");
    try (MappedFile file = MappedFile.of(folder.resolve("f").toFile(), 1 << 16, 0, false)) {
      MappedBytesStore store = file.acquireByteStore(owner, 0);
      UnsafeBuffer buffer = new UnsafeBuffer(store.addressForRead(0), 1 << 16);
      buffer.putLongVolatile(8, 42);
      assertThat(store.readLong(8)).isEqualTo(42);
      store.release(owner);
    }
  }
}
