package dev.waymark.tools.dump;

import dev.waymark.RecordInspector;
import dev.waymark.StoreInspector;
import dev.waymark.StoreInspector.BoundaryDetail;
import dev.waymark.StoreInspector.RecordReport;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * How the command line names records: {@code SEGMENT:OFFSET}, or {@code KEY}, {@code KEY:KIND} or
 * {@code KEY:KIND:PIECE} with the first digits of a boundary's key.
 */
public final class RecordName {
  /** What a help text says of it. */
  public static final String SYNTAX =
      "SEGMENT:OFFSET in bytes, or KEY[:append|delta|state[:PIECE]] with 8 or more digits of a"
          + " boundary's key";

  private static final Pattern PLACE = Pattern.compile("([0-9]{1,18}):([0-9]{1,18})");
  private static final Pattern BOUNDARY =
      Pattern.compile("([0-9a-f]{8,64})(?::(append|delta|state)(?::([0-9]{1,5}))?)?");

  private final long segmentId;
  private final long offsetBytes;
  private final String key;
  private final String kind;
  private final int piece;

  private RecordName(long segmentId, long offsetBytes, String key, String kind, int piece) {
    this.segmentId = segmentId;
    this.offsetBytes = offsetBytes;
    this.key = key;
    this.kind = kind;
    this.piece = piece;
  }

  /**
   * Reads what it names.
   *
   * @throws InvalidArgumentException if there is no such record
   */
  public List<RecordInspector.Report> read(Path path, boolean wholeKeys) {
    if (key == null) {
      return List.of(RecordInspector.read(path, segmentId, offsetBytes, wholeKeys));
    }
    List<RecordInspector.Report> reports = new ArrayList<>();
    for (RecordReport record : records(StoreInspector.open(path))) {
      reports.add(RecordInspector.read(path, record.segmentId(), record.offsetBytes(), wholeKeys));
    }
    return reports;
  }

  private List<RecordReport> records(StoreInspector store) {
    List<BoundaryDetail> boundaries = store.find(key);
    List<RecordReport> records =
        boundaries.size() != 1
            ? List.of()
            : boundaries.get(0).records().stream()
                .filter(record -> kind == null || kind.equals(record.kind()))
                .filter(record -> piece < 0 || piece == record.piece())
                .toList();
    if (records.isEmpty()) {
      throw new InvalidArgumentException(
          ErrorDetail.of("which record is meant is not clear")
              .expected("a record of one boundary")
              .found(
                  boundaries.size() == 1
                      ? "a boundary without such a record"
                      : boundaries.isEmpty() ? "none" : boundaries.size() + " boundaries")
              .remedy("segtool inspect STORE --boundary KEY lists a boundary's records"));
    }
    return records;
  }

  /** Reads a name from the command line. */
  public static final class Converter implements ITypeConverter<RecordName> {
    @Override
    public RecordName convert(String text) {
      String name = text.toLowerCase(Locale.ROOT);
      Matcher place = PLACE.matcher(name);
      if (place.matches()) {
        return new RecordName(
            Long.parseLong(place.group(1)), Long.parseLong(place.group(2)), null, null, -1);
      }
      Matcher boundary = BOUNDARY.matcher(name);
      if (boundary.matches()) {
        String piece = boundary.group(3);
        return new RecordName(
            0,
            0,
            boundary.group(1),
            boundary.group(2),
            piece == null ? -1 : Integer.parseInt(piece));
      }
      throw new TypeConversionException("expected " + SYNTAX);
    }
  }
}
