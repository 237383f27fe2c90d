package dev.waymark.plant;

import dev.waymark.explore.Hunt;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An engine with a mistake in it, and an explorer of its own beside it. What no mistake is planted
 * in, the simulated disk above all, is shared with everybody else, and so is compiled only once.
 */
final class PlantedEngine extends ClassLoader {
  private static final String ROOT = "dev.waymark.";
  private static final List<String> SHARED =
      List.of("error.", "layout.", "sim.", "internal.io.", "internal.codec.", "internal.wire.");

  private final Mistake mistake;
  private final Map<String, byte[]> changed = new HashMap<>();

  /**
   * A sound engine, with these changes.
   *
   * @throws IllegalStateException if what is to be changed is not there
   */
  PlantedEngine(Mistake mistake) {
    super("planted " + mistake, PlantedEngine.class.getClassLoader());
    this.mistake = mistake;
    for (Patch patch : mistake.patches()) {
      byte[] before = changed.computeIfAbsent(patch.fullClassName(), this::bytes);
      changed.put(patch.fullClassName(), patch.apply(before));
    }
  }

  /**
   * Explores until something is found.
   *
   * @return after how many states of which seed what was found; nothing if nothing was
   */
  Optional<String> explore(long seed, long mostStates, boolean killsOnly) {
    try {
      Object found =
          loadClass("dev.waymark.explore.Hunt")
              .getMethod("hunt", long.class, long.class, boolean.class)
              .invoke(null, seed, mostStates, killsOnly);
      if (found != null
          && !Hunt.isSound(Long.parseLong(((String) found).split("\t")[1]), killsOnly)) {
        throw new IllegalStateException("found without the mistake as well: " + found);
      }
      return Optional.ofNullable((String) found);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException("the explorer fails with " + mistake, e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(ROOT) || SHARED.stream().anyMatch(s -> name.startsWith(ROOT + s))) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded == null) {
        byte[] classFile = changed.containsKey(name) ? changed.get(name) : bytes(name);
        loaded = defineClass(name, classFile, 0, classFile.length);
      }
      return loaded;
    }
  }

  private byte[] bytes(String name) {
    try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new IllegalStateException("no class " + name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
