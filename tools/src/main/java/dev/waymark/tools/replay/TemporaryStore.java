package dev.waymark.tools.replay;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** A directory for a store that goes, with everything in it, when it is closed. */
final class TemporaryStore implements AutoCloseable {
  private final Path path;

  private TemporaryStore(Path path) {
    this.path = path;
  }

  static TemporaryStore create(Path root) throws IOException {
    return new TemporaryStore(Files.createTempDirectory(root, "waymark-replay-"));
  }

  Path path() {
    return path;
  }

  /** Removes it; idempotent, also where others remove it at the same time. */
  @Override
  public void close() throws IOException {
    try {
      Files.walkFileTree(path, new Remover());
    } catch (NoSuchFileException e) {
      // Gone already.
      return;
    }
  }

  private static final class Remover extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
      if (e instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw e;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, IOException e) throws IOException {
      if (e != null) {
        throw e;
      }
      Files.deleteIfExists(directory);
      return FileVisitResult.CONTINUE;
    }
  }
}
