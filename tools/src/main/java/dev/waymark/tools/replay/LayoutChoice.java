package dev.waymark.tools.replay;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.Layout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A layout that the command line names: one of the catalog's, or one in a JSON file. */
public final class LayoutChoice {
  /** A layout's file is a few hundred kilobytes at most; a wrong file must not fill the heap. */
  private static final long MOST_FILE_BYTES = 64L << 20;

  private final String name;
  private final LayoutCatalog.Entry entry;
  private final Layout fromFile;

  private LayoutChoice(String name, LayoutCatalog.Entry entry, Layout fromFile) {
    this.name = name;
    this.entry = entry;
    this.fromFile = fromFile;
  }

  /** The catalog's name, or the file's. */
  public String name() {
    return name;
  }

  /** Tokens a block that the layout asks for by itself; a catalog's layout fits any. */
  public OptionalInt blockTokens() {
    return fromFile == null ? OptionalInt.empty() : OptionalInt.of(fromFile.blockTokens());
  }

  /** The layout, at full size, with blocks of so many tokens. */
  public Layout layout(int blockTokens) {
    return fromFile == null
        ? LayoutCatalog.layout(entry, blockTokens)
        : Layout.of(blockTokens, fromFile.tensors());
  }

  static LayoutChoice of(LayoutCatalog.Entry entry) {
    return new LayoutChoice(entry.name(), entry, null);
  }

  /** Reads a layout's JSON file. */
  static LayoutChoice ofFile(Path file) {
    String fileName = String.valueOf(file.getFileName());
    String text;
    try {
      if (Files.size(file) > MOST_FILE_BYTES) {
        throw new InvalidSettingException(
            ErrorDetail.of("a layout's file is too large")
                .in(fileName)
                .expected("at most " + MOST_FILE_BYTES + " bytes")
                .found(Files.size(file)));
      }
      text = Files.readString(file);
    } catch (IOException e) {
      throw new InvalidSettingException(
          ErrorDetail.of("a layout's file cannot be read")
              .in(fileName)
              .expected("one of " + LayoutCatalog.names() + ", or a readable JSON file of a layout")
              .found(Files.exists(file) ? "a file that cannot be read" : "no file of that name"),
          e);
    }
    return new LayoutChoice(fileName, null, Layout.ofJson(text));
  }

  /** Reads {@code L1} to {@code L9}, else the name of a file. */
  public static final class Converter implements ITypeConverter<LayoutChoice> {
    @Override
    public LayoutChoice convert(String text) {
      for (LayoutCatalog.Entry entry : LayoutCatalog.Entry.values()) {
        if (entry.name().equalsIgnoreCase(text)) {
          return of(entry);
        }
      }
      try {
        return ofFile(Path.of(text));
      } catch (InvalidSettingException e) {
        throw new TypeConversionException(e.detail().sentence());
      }
    }
  }
}
