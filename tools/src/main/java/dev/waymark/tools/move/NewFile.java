package dev.waymark.tools.move;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * A file on its way: written beside its place under another name, for its owner only, and put there
 * once it is whole and forced. What stood there stays until then; what fails leaves nothing.
 */
public final class NewFile implements AutoCloseable {
  private final Path path;
  private final Path part;
  private final FileChannel channel;
  private boolean done;

  private NewFile(Path path, Path part, FileChannel channel) {
    this.path = path;
    this.part = part;
    this.channel = channel;
  }

  /**
   * Begins a file.
   *
   * @param replace whether a file that is there may be replaced
   * @throws InvalidArgumentException if one is there and may not
   */
  public static NewFile at(Path path, boolean replace) throws IOException {
    Path absolute = path.toAbsolutePath();
    boolean there = Files.exists(absolute, LinkOption.NOFOLLOW_LINKS);
    if (there && (!replace || !Files.isRegularFile(absolute, LinkOption.NOFOLLOW_LINKS))) {
      throw new InvalidArgumentException(
          ErrorDetail.of("there is something in the way")
              .in(PlainFiles.shown(path))
              .expected("no file of that name")
              .found(replace ? "something that is no plain file" : "one")
              .remedy("choose another name, or replace a plain file with --force"));
    }
    Path part = absolute.resolveSibling("." + absolute.getFileName() + "." + System.nanoTime());
    FileChannel channel;
    try {
      channel = create(part);
    } catch (NoSuchFileException e) {
      throw new NoSuchFileException(String.valueOf(path.toAbsolutePath().getParent()));
    }
    // Who is interrupted does not come to close it.
    part.toFile().deleteOnExit();
    return new NewFile(absolute, part, channel);
  }

  private static FileChannel create(Path part) throws IOException {
    Set<StandardOpenOption> options =
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      return FileChannel.open(
          part,
          options,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    } catch (UnsupportedOperationException e) {
      return FileChannel.open(part, options);
    }
  }

  /** Where to write. */
  public FileChannel channel() {
    return channel;
  }

  /** Forces it and puts it in its place. */
  public void finish() throws IOException {
    channel.force(true);
    channel.close();
    try {
      Files.move(part, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (FileSystemException e) {
      Files.move(part, path, StandardCopyOption.REPLACE_EXISTING);
    }
    done = true;
  }

  /** Removes what is not finished. */
  @Override
  public void close() throws IOException {
    if (!done) {
      channel.close();
      Files.deleteIfExists(part);
    }
  }
}
