package dev.waymark.fuzz;

import dev.waymark.error.CorruptionException;
import dev.waymark.error.UnsupportedFormatException;
import dev.waymark.internal.log.FormatVersions;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.log.SegmentSizing;
import dev.waymark.internal.log.SpaceGate;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.internal.recover.LoadedStore;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import org.agrona.concurrent.UnsafeBuffer;

/** A manifest is read to a state, or is damaged or newer. The state can be written anew. */
public final class ManifestTarget {
  /** The file goes on with zeros, as one that is being written. */
  static final int ZEROS = 0x10;

  /** All bytes of the input were durable, as STATUS says. */
  static final int PROVEN = 0x20;

  /** No more than these is read, as beside a writer. */
  static final int PREFIX = 0x40;

  private static final int ZERO_BYTES = 4096;

  private ManifestTarget() {}

  /** Called by Jazzer. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    int how = input[0];
    int length = input.length - 1;
    byte[] file =
        Arrays.copyOfRange(input, 1, input.length + ((how & ZEROS) == 0 ? 0 : ZERO_BYTES));
    Sealer.manifest(file, how);
    UnsafeBuffer header = new UnsafeBuffer(Arrays.copyOf(file, 48));
    StoreId store =
        new StoreId(
            header.getLong(24, ByteOrder.LITTLE_ENDIAN),
            header.getLong(32, ByteOrder.LITTLE_ENDIAN));
    long id = Math.max(1, header.getLong(40, ByteOrder.LITTLE_ENDIAN));
    MemoryDirectory directory = new MemoryDirectory(Map.of(ManifestLog.fileName(id), file));
    Current current = new Current(store, id, FormatVersions.OWN);
    SegmentSet segments =
        new SegmentSet(
            directory,
            store.high(),
            store.low(),
            SegmentSizing.ofQuota(Long.MAX_VALUE),
            SpaceGate.OPEN);
    LoadedStore loaded;
    try {
      loaded =
          (how & PREFIX) != 0
              ? LoadedStore.readPrefix(directory, current, length, segments)
              : LoadedStore.read(directory, current, (how & PROVEN) == 0 ? 0 : length, segments);
    } catch (CorruptionException | UnsupportedFormatException e) {
      return;
    }
    Checkpoints.saysTheSame(loaded.forest());
  }
}
