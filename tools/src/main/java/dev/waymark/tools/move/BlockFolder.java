package dev.waymark.tools.move;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The files of a server's block folder: {@code <first hex digit>/<hash>.safetensors}, with {@code
 * <hash>.tokens} beside some. Looks at no name that does not fit, and follows no link.
 */
final class BlockFolder {
  private static final String BLOCK = ".safetensors";
  private static final String COMPANION = ".tokens";

  private BlockFolder() {}

  /** Whether a folder looks like one. */
  static boolean isOne(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.anyMatch(path -> isDigit(path) && Files.isDirectory(path));
    }
  }

  private static boolean isDigit(Path path) {
    return path.getFileName().toString().matches("[0-9a-fA-F]");
  }

  /**
   * The files of all blocks, in order of hash.
   *
   * @throws BadImportException if names differ by case only, or something is no plain file
   */
  static List<Path> list(Path folder) throws IOException {
    List<Path> files = new ArrayList<>();
    Set<String> lower = new HashSet<>();
    for (Path digit : children(folder)) {
      if (!isDigit(digit)) {
        continue;
      }
      if (!Files.isDirectory(digit, LinkOption.NOFOLLOW_LINKS)) {
        throw PlainFiles.notPlain(digit);
      }
      for (Path file : children(digit)) {
        String name = file.getFileName().toString();
        String folded = name.toLowerCase(Locale.ROOT);
        if (!folded.endsWith(BLOCK) && !folded.endsWith(COMPANION)) {
          continue;
        }
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          throw PlainFiles.notPlain(file);
        }
        String place = digit.getFileName().toString().toLowerCase(Locale.ROOT) + "/" + folded;
        if (!lower.add(place)) {
          throw PointFiles.namesDifferByCase(file);
        }
        if (folded.endsWith(BLOCK)) {
          files.add(file);
        }
      }
    }
    files.sort(Comparator.comparing(file -> file.getFileName().toString()));
    return files;
  }

  private static List<Path> children(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.sorted().toList();
    }
  }

  /** The companion's place beside a block's file. */
  static Path companion(BlockFile block) {
    return block.path().resolveSibling(block.hash() + COMPANION);
  }

  /**
   * Checks that a block stands where its hash says.
   *
   * @throws BadImportException if it does not
   */
  static void requirePlace(BlockFile block) {
    String name = block.path().getFileName().toString();
    String digit = block.path().getParent().getFileName().toString();
    if (!name.equals(block.hash() + BLOCK) || !digit.equals(block.hash().substring(0, 1))) {
      throw new BadImportException(
          ImportFault.BLOCK_MISPLACED,
          PlainFiles.shown(block.path()),
          "the hash of its metadata, in the folder of its first digit",
          "another name or folder",
          "put it back, or take it out");
    }
  }
}
