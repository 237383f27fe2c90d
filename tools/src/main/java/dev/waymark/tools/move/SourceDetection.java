package dev.waymark.tools.move;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.layout.CodecPlan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Tells by what is there what kind of source it is. */
final class SourceDetection {
  private final Path map;
  private final Path order;
  private final Path tokenIds;
  private final CodecPlan codecs;
  private final boolean skipBad;

  SourceDetection(Path map, Path order, Path tokenIds, CodecPlan codecs, boolean skipBad) {
    this.map = map;
    this.order = order;
    this.tokenIds = tokenIds;
    this.codecs = codecs;
    this.skipBad = skipBad;
  }

  ImportSource detect(Path source) throws IOException {
    if (!Files.exists(source, LinkOption.NOFOLLOW_LINKS)) {
      throw new NoSuchFileException(source.toString());
    }
    if (Files.isDirectory(source, LinkOption.NOFOLLOW_LINKS)) {
      if (map == null && BlockFolder.isOne(source)) {
        refuse(tokenIds, "--token-ids");
        return new BlockImport(source, order, codecs, skipBad);
      }
      refuse(order, "--order");
      return new PointImport(PointFiles.ofFolder(source, map, tokenIds, codecs));
    }
    refuse(order, "--order");
    if (ArchiveReader.isArchive(source)) {
      refuse(map, "--map");
      refuse(tokenIds, "--token-ids");
      return new ArchiveImport(source);
    }
    return new PointImport(PointFiles.ofFile(source, map, tokenIds, codecs));
  }

  private static void refuse(Path value, String option) {
    if (value != null) {
      throw new InvalidArgumentException(
          ErrorDetail.of(option + " has no meaning for what is to be imported")
              .remedy("leave it out"));
    }
  }
}
