package dev.waymark.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.waymark.error.StoreLockedException;
import dev.waymark.error.UnsupportedFileSystemException;
import dev.waymark.error.WaymarkException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WriterLockTest {
  @TempDir Path temp;

  /** Takes the lock or says why not; with a second argument, holds it until killed. */
  static final class Second {
    public static void main(String[] arguments) throws IOException {
      try (RealDirectory directory = RealDirectory.openForWriting(Path.of(arguments[0]), true)) {
        directory.lock();
        System.out.println("held");
        if (arguments.length > 1) {
          System.in.read();
        }
      } catch (WaymarkException e) {
        System.out.println(e.code() + " " + e.detail().found());
      }
    }
  }

  @Test
  void everySecondWriterIsRefusedAndChangesNothing() throws IOException {
    Path link = Files.createSymbolicLink(temp.resolve("link"), temp);
    Path store = Files.createDirectory(temp.resolve("store"));
    try (RealDirectory first = RealDirectory.openForWriting(store, true)) {
      first.lock();
      assertThat(first.isLocked()).isTrue();
      List<String> before = snapshot(store);

      for (int i = 0; i < 10; i++) {
        try (RealDirectory second = RealDirectory.openForWriting(link.resolve("store"), true)) {
          assertThatThrownBy(second::lock).isInstanceOf(StoreLockedException.class);
          assertThat(second.isLocked()).isFalse();
        }
        RealDirectory.openReadOnly(store).close();
      }
      assertThatThrownBy(first::lock).isInstanceOf(StoreLockedException.class);
      assertThat(first.isLocked()).isTrue();

      // The attempts above would have dropped the lock had they opened its file.
      ForkedJvm.Result other = ForkedJvm.run(Second.class, store.toString());
      assertThat(other.output().trim())
          .isEqualTo("STORE_LOCKED process " + ProcessHandle.current().pid());
      assertThat(snapshot(store)).isEqualTo(before);
    }
    assertThat(ForkedJvm.run(Second.class, store.toString()).output().trim()).isEqualTo("held");
  }

  @Test
  void closingGivesItBack() {
    for (int i = 0; i < 3; i++) {
      try (RealDirectory directory = RealDirectory.openForWriting(temp, true)) {
        directory.lock();
      }
    }
    assertThat(System.getProperties().stringPropertyNames())
        .noneMatch(name -> name.startsWith("dev.waymark.writer."));
  }

  @Test
  void aKilledHolderGivesItBack() {
    try (RealDirectory directory = RealDirectory.openForWriting(temp, true);
        ForkedJvm holder = ForkedJvm.start(Second.class, temp.toString(), "hold")) {
      holder.awaitLine("held");
      assertThatThrownBy(directory::lock)
          .isInstanceOf(StoreLockedException.class)
          .hasMessageContaining("process ");
      holder.kill();
      directory.lock();
      assertThat(directory.isLocked()).isTrue();
    }
  }

  @Test
  void aFileSystemWithoutLocksIsTyped() {
    WriterLock.Locking none =
        channel -> {
          throw new IOException("No locks available");
        };
    assertThatThrownBy(() -> acquire(none))
        .isInstanceOf(UnsupportedFileSystemException.class)
        .hasMessageContaining("No locks available");
    acquire(FileChannel::tryLock).close();
  }

  @Test
  void aLockServerThatDoesNotAnswerIsTyped() {
    CountDownLatch never = new CountDownLatch(1);
    WriterLock.Locking hanging =
        channel -> {
          try {
            never.await();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
          return null;
        };
    assertThatThrownBy(() -> acquire(hanging))
        .isInstanceOf(UnsupportedFileSystemException.class)
        .hasMessageContaining("no answer");
    never.countDown();
    acquire(FileChannel::tryLock).close();
  }

  @Test
  void aLockByOtherMeansInThisProcessIsKept() throws IOException {
    List<FileChannel> opened = new ArrayList<>();
    WriterLock.Locking overlapping =
        channel -> {
          opened.add(channel);
          throw new OverlappingFileLockException();
        };
    assertThatThrownBy(() -> acquire(overlapping)).isInstanceOf(StoreLockedException.class);
    assertThat(opened.get(0).isOpen()).as("closing it would drop the other's lock").isTrue();
    opened.get(0).close();
  }

  @Test
  void interruptionDoesNotStopIt() {
    Thread.currentThread().interrupt();
    acquire(FileChannel::tryLock).close();
    assertThat(Thread.interrupted()).isTrue();
  }

  /** Where directories cannot be locked, the file's lock is all there is. */
  private WriterLock acquire(WriterLock.Locking locking) {
    return WriterLock.acquire(temp, locking, () -> Libc.ENOSYS);
  }

  @Test
  void removingTheFileLetsNobodyIn() throws IOException {
    try (RealDirectory first = RealDirectory.openForWriting(temp, true)) {
      first.lock();
      Files.delete(temp.resolve("LOCK"));
      assertThat(ForkedJvm.run(Second.class, temp.toString()).output().trim())
          .isEqualTo("STORE_LOCKED process of unknown id");
      assertThat(temp.resolve("LOCK")).doesNotExist();
    }
    assertThat(ForkedJvm.run(Second.class, temp.toString()).output().trim()).isEqualTo("held");
  }

  private static List<String> snapshot(Path store) throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> all = Files.walk(store)) {
      for (Path each : (Iterable<Path>) all.sorted()::iterator) {
        // The lock's file is not read: that would drop the lock.
        found.add(each + " " + Files.size(each) + " " + Files.getLastModifiedTime(each));
      }
    }
    return found;
  }
}
