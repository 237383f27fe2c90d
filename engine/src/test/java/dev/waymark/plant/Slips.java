package dev.waymark.plant;

import dev.waymark.error.WaymarkException;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.log.SegmentInfo;
import dev.waymark.internal.log.SegmentSet;
import dev.waymark.internal.manifest.Current;
import dev.waymark.internal.manifest.CurrentFile;
import dev.waymark.internal.manifest.Edit;
import dev.waymark.internal.manifest.ManifestCheckpoint;
import dev.waymark.internal.manifest.ManifestLog;
import dev.waymark.internal.manifest.NextIds;
import dev.waymark.internal.manifest.StoreId;
import dev.waymark.internal.publish.Publisher;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

/** What planted mistakes do in place of the right thing. */
public final class Slips {
  private static final ThreadLocal<SegmentSet> UNFORCED = new ThreadLocal<>();

  private Slips() {}

  /** Says at once that it is durable. */
  public static Object durableAtOnce(Publisher publisher, Supplier<?> action) {
    return CompletableFuture.completedFuture(null);
  }

  /** Data waits until the edits were forced. */
  public static long forceLater(SegmentSet segments) {
    UNFORCED.set(segments);
    return 0;
  }

  /** Edits, and only then the data that they name. */
  public static void forceThenData(ManifestLog log) {
    log.force();
    UNFORCED.get().forceDirty();
  }

  /** Tries again what failed, and believes it. */
  public static void forceAgain(StoreFile file) {
    try {
      file.force();
    } catch (WaymarkException e) {
      file.force();
    }
  }

  /** No segment ever failed. */
  public static Set<Long> none(SegmentSet segments) {
    return Set.of();
  }

  /** No segment was created. */
  public static List<SegmentInfo> noneCreated(SegmentSet segments) {
    segments.takeCreated();
    return List.of();
  }

  /** Opens CURRENT itself, to write over it. */
  public static StoreFile openInPlace(StoreDirectory directory, String name) {
    return directory.exists(CurrentFile.NAME)
        ? directory.open(CurrentFile.NAME)
        : directory.create(CurrentFile.NAME);
  }

  /** Empties the manifest in force, and only then writes its successor. */
  public static ManifestLog beginAfterDeleting(
      StoreDirectory directory,
      long manifestId,
      StoreId storeId,
      long createdMillis,
      Iterator<? extends Edit> state,
      NextIds nextIds) {
    empty(directory, ManifestLog.fileName(manifestId - 1));
    return ManifestCheckpoint.begin(directory, manifestId, storeId, createdMillis, state, nextIds);
  }

  private static void empty(StoreDirectory directory, String name) {
    if (directory.exists(name)) {
      directory.delete(name);
      directory.create(name).close();
    }
  }

  /** Writes a manifest without a force. */
  public static ManifestLog beginUnforced(
      StoreDirectory directory,
      long manifestId,
      StoreId storeId,
      long createdMillis,
      Iterator<? extends Edit> state,
      NextIds nextIds) {
    return unforced(
        directory,
        lazy -> ManifestCheckpoint.begin(lazy, manifestId, storeId, createdMillis, state, nextIds));
  }

  /** Writes CURRENT without a force. */
  public static void putInForceUnforced(
      StoreDirectory directory, StoreId storeId, ManifestLog log) {
    unforced(
        directory,
        lazy -> {
          ManifestCheckpoint.putInForce(lazy, storeId, log);
          return null;
        });
  }

  private static <T> T unforced(StoreDirectory directory, Function<StoreDirectory, T> action) {
    AtomicBoolean forces = new AtomicBoolean();
    T result = action.apply(lazy(StoreDirectory.class, directory, forces));
    forces.set(true);
    return result;
  }

  /** The same object, but for a time its forces do nothing, nor do those of its files. */
  private static <T> T lazy(Class<T> type, T target, AtomicBoolean forces) {
    Object proxy =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              if (method.getName().equals("force") && !forces.get()) {
                return null;
              }
              try {
                Object result = method.invoke(target, arguments);
                return result instanceof StoreFile file
                    ? lazy(StoreFile.class, file, forces)
                    : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
    return type.cast(proxy);
  }

  /** Takes the new manifest away where it is not known whether CURRENT names it. */
  public static void writeOrRemove(StoreDirectory directory, Current current) {
    try {
      CurrentFile.write(directory, current);
    } catch (WaymarkException e) {
      directory.delete(ManifestLog.fileName(current.manifestId()));
      throw e;
    }
  }
}
