package dev.waymark.tools.replay;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.OptionalInt;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Streams the requests of a trace, JSON lines, gzipped or not (told by the first bytes, not by the
 * name). One line is held at a time.
 *
 * <p>Order: as in the file. Of a session, its requests as they stand; where one of them is a
 * sub-agent, the sub-agent's own requests stand in its place, one after the other, at its time plus
 * theirs. So a sub-agent's requests come before what its session asks next, although two sub-agents
 * may have run side by side.
 *
 * <p>Regrouping: with blocks of {@code k} times the trace's, {@code k} ids in a row make one block,
 * and the last ids of a request, where they are fewer than {@code k}, are left out, since a block
 * that is not whole is not stored.
 */
final class TraceReader implements Closeable {
  private final String fileName;
  private final long fileBytes;
  private final CountingInputStream counted;
  private final JsonParser parser;
  private final ArrayDeque<TraceRequest> pending = new ArrayDeque<>();
  private final int blockTokens;
  private TraceKind kind;
  private int traceBlockTokens;

  private TraceReader(
      String fileName,
      long fileBytes,
      CountingInputStream counted,
      JsonParser parser,
      OptionalInt blockTokens)
      throws IOException {
    this.fileName = fileName;
    this.fileBytes = fileBytes;
    this.counted = counted;
    this.parser = parser;
    if (!readLine(blockTokens)) {
      throw new BadTraceException(fileName, 1, "a request or a session");
    }
    this.blockTokens = blockTokens.orElse(traceBlockTokens);
  }

  /**
   * Opens a trace and reads its first line, which says of what kind it is.
   *
   * @param blockTokens tokens a block that the trace's blocks are grouped into, or empty for its
   *     own
   * @throws BadTraceException if the first line is of no known kind
   * @throws InvalidSettingException if {@code blockTokens} is no multiple of the trace's block
   */
  static TraceReader open(Path file, OptionalInt blockTokens) throws IOException {
    CountingInputStream counted = new CountingInputStream(Files.newInputStream(file));
    try {
      BufferedInputStream buffered = new BufferedInputStream(counted, 1 << 16);
      JsonParser parser =
          JsonFactory.builder()
              .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
              .build()
              .createParser(unzipped(buffered));
      String name = String.valueOf(file.getFileName());
      return new TraceReader(name, Files.size(file), counted, parser, blockTokens);
    } catch (IOException | RuntimeException e) {
      try {
        counted.close();
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      if (e instanceof EOFException || e instanceof ZipException) {
        throw new BadTraceException(String.valueOf(file.getFileName()), 1, "whole gzip data");
      }
      throw e;
    }
  }

  /** The next request, or null after the last. */
  TraceRequest next() throws IOException {
    while (pending.isEmpty()) {
      if (!readLine(OptionalInt.of(blockTokens))) {
        return null;
      }
    }
    return pending.poll();
  }

  /** Of what kind the trace is. */
  TraceKind kind() {
    return kind;
  }

  /** Tokens a block of the trace. */
  int traceBlockTokens() {
    return traceBlockTokens;
  }

  /** Tokens a block of the requests that come out. */
  int blockTokens() {
    return blockTokens;
  }

  /** Bytes of the file read so far, as they lie on disk: how far along this is. */
  long readBytes() {
    return counted.bytes;
  }

  /** Bytes of the file, as they lie on disk. */
  long fileBytes() {
    return fileBytes;
  }

  @Override
  public void close() throws IOException {
    parser.close();
  }

  private static InputStream unzipped(BufferedInputStream in) throws IOException {
    in.mark(2);
    boolean zipped = in.read() == 0x1f && in.read() == 0x8b;
    in.reset();
    return zipped ? new GZIPInputStream(in, 1 << 16) : in;
  }

  private boolean readLine(OptionalInt wantedBlockTokens) throws IOException {
    // Where the record begins: a line that is cut short is noticed only in the next one.
    long line = 0;
    TraceRecord record;
    try {
      if (parser.nextToken() == null) {
        return false;
      }
      line = parser.currentTokenLocation().getLineNr();
      record = TraceRecord.read(parser);
    } catch (JsonProcessingException e) {
      long found = line > 0 ? line : parser.currentLocation().getLineNr();
      throw new BadTraceException(fileName, found, "one JSON object");
    } catch (TraceRecord.FieldException e) {
      throw new BadTraceException(fileName, line, e.getMessage());
    } catch (EOFException | ZipException e) {
      long found = line > 0 ? line : parser.currentLocation().getLineNr();
      throw new BadTraceException(fileName, found, "whole gzip data");
    }
    checkKind(record, line);
    int idsPerBlock = idsPerBlock(wantedBlockTokens);
    boolean sessions = kind == TraceKind.SESSIONS;
    String scope = "";
    if (sessions) {
      scope = record.id().isEmpty() ? "line " + line : record.id();
    }
    if (!sessions) {
      queue(record, scope, line, idsPerBlock, 0, false);
    }
    for (TraceRecord request : record.requests()) {
      queueAll(request, scope, line, idsPerBlock, 0, false);
    }
    return true;
  }

  private void checkKind(TraceRecord record, long line) {
    TraceKind found = record.kind();
    if (found == null) {
      throw new BadTraceException(
          fileName, line, "block_size and requests, or timestamp and hash_ids");
    }
    int foundTokens = found == TraceKind.SESSIONS ? record.blockSize() : found.blockTokens();
    if (kind == null) {
      kind = found;
      traceBlockTokens = foundTokens;
    } else if (kind != found || traceBlockTokens != foundTokens) {
      throw new BadTraceException(
          fileName, line, "the kind and the block size of the lines before it");
    }
  }

  private int idsPerBlock(OptionalInt wantedBlockTokens) {
    int wanted = wantedBlockTokens.orElse(traceBlockTokens);
    if (wanted < traceBlockTokens || wanted % traceBlockTokens != 0) {
      throw new InvalidSettingException(
          ErrorDetail.of("the trace's blocks cannot be grouped into blocks of this many tokens")
              .expected("a multiple of " + traceBlockTokens)
              .found(wanted));
    }
    return wanted / traceBlockTokens;
  }

  private void queueAll(
      TraceRecord record,
      String scope,
      long line,
      int idsPerBlock,
      double startSeconds,
      boolean subAgent) {
    if (record.isRequest()) {
      queue(record, scope, line, idsPerBlock, startSeconds, subAgent);
    }
    for (TraceRecord nested : record.requests()) {
      queueAll(nested, scope, line, idsPerBlock, startSeconds + record.time(), true);
    }
  }

  private void queue(
      TraceRecord record,
      String scope,
      long line,
      int idsPerBlock,
      double startSeconds,
      boolean subAgent) {
    long[] ids = record.hashIds();
    int surplus = ids.length % idsPerBlock;
    pending.add(
        new TraceRequest(
            scope,
            line,
            startSeconds + record.time() * kind.timeUnitSeconds(),
            subAgent,
            surplus == 0 ? ids : Arrays.copyOf(ids, ids.length - surplus),
            idsPerBlock));
  }

  /** Counts what is read from the file, before it is unzipped. */
  private static final class CountingInputStream extends InputStream {
    private final InputStream in;
    private long bytes;

    CountingInputStream(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      int value = in.read();
      bytes += value < 0 ? 0 : 1;
      return value;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      int count = in.read(target, offset, length);
      bytes += Math.max(count, 0);
      return count;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
