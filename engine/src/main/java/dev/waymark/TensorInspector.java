package dev.waymark;

import dev.waymark.internal.check.StoreLook;
import dev.waymark.internal.check.TensorAccount;
import dev.waymark.internal.check.TensorAccounts;
import dev.waymark.internal.io.RealDirectory;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.layout.Codec;
import dev.waymark.layout.TensorSpec;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What codecs make of the tensors of a store. Takes no lock and writes nothing, as {@link
 * StoreInspector}, and works beside a live writer; but it reads the front of every record, and
 * chunks that a lossy codec left as they were, so that it costs time as the store grows.
 */
public final class TensorInspector {
  private TensorInspector() {}

  /**
   * How one tensor is stored, over all records that live.
   *
   * @param asked the codec that the namespace asks for
   * @param parts parts of records; a part is a range of the tensor, of one block or point
   * @param partsRaw parts of which some or all bytes are stored as they are although another codec
   *     is asked for
   * @param chunks pieces of at most 1 MiB that are encoded alone
   * @param chunksRaw chunks that are stored as they are although another codec is asked for
   * @param rawBytes bytes of the tensor in all parts
   * @param storedBytes what they take, without the records' fronts
   * @param reasons why chunks are stored as they are, each with the number of chunks
   */
  public record TensorReport(
      int namespaceId,
      TensorSpec spec,
      Codec asked,
      long parts,
      long partsRaw,
      long chunks,
      long chunksRaw,
      long rawBytes,
      long storedBytes,
      Map<String, Long> reasons) {

    /** {@return raw bytes over stored bytes; 1 where there are none} */
    public double ratio() {
      return storedBytes == 0 ? 1 : (double) rawBytes / storedBytes;
    }
  }

  /**
   * What was found.
   *
   * @param tensors every tensor of every namespace, in the order of the layouts
   * @param records records that live
   * @param recordsUnread those of them that are left out, because they are damaged, or moved while
   *     this was looking
   */
  public record Report(List<TensorReport> tensors, long records, long recordsUnread) {}

  /**
   * Looks at the tensors of the store in a directory.
   *
   * @param path the directory of the store
   * @return what was seen
   * @throws dev.waymark.error.NotAStoreException if there is none
   * @throws dev.waymark.error.UnsupportedFormatException if a newer version wrote it
   * @throws dev.waymark.error.CorruptionException if CURRENT or its manifest is damaged
   * @throws dev.waymark.error.MovingException if a writer moved on at every look
   */
  public static Report inspect(Path path) {
    try (StoreDirectory directory = RealDirectory.openReadOnly(path)) {
      TensorAccounts.Result result =
          TensorAccounts.of(directory, StoreLook.at(directory, System::currentTimeMillis));
      return new Report(
          result.tensors().stream().map(TensorInspector::report).toList(),
          result.records(),
          result.recordsUnread());
    }
  }

  private static TensorReport report(TensorAccount account) {
    return new TensorReport(
        account.namespaceId(),
        account.spec(),
        account.asked(),
        account.parts(),
        account.partsRaw(),
        account.chunks(),
        account.chunksRaw(),
        account.rawBytes(),
        account.storedBytes(),
        account.reasons());
  }
}
