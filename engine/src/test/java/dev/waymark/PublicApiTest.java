package dev.waymark;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnJre;
import org.junit.jupiter.api.condition.JRE;

/**
 * What an embedder may rest on is written down in {@code engine/api}: the API as it is, in {@code
 * current.txt}, and as each release had it, under the release's name. With {@code
 * -Dwaymark.api.rewrite=true} the first is written anew.
 */
@EnabledOnJre(value = JRE.JAVA_17, disabledReason = "later ones describe it in other words")
class PublicApiTest {
  private static final Set<String> PACKAGES =
      Set.of("dev.waymark", "dev.waymark.layout", "dev.waymark.error");
  private static final Path FOLDER = Path.of("api");
  private static final Path CURRENT = FOLDER.resolve("current.txt");

  @Test
  void isAsWrittenDown() throws IOException {
    String api = String.join("\n", lines()) + "\n";
    if (Boolean.getBoolean("waymark.api.rewrite")) {
      Files.writeString(CURRENT, api);
    }
    assertThat(api)
        .as("the public API; if the change is meant, write %s anew", CURRENT)
        .isEqualTo(Files.readString(CURRENT));
  }

  /** Code that was compiled against a release goes on to work. */
  @Test
  void hasAllThatAReleaseHad() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      for (Path release : (Iterable<Path>) files::iterator) {
        assertThat(lines()).as("what %s names", release).containsAll(Files.readAllLines(release));
      }
    }
  }

  private static Set<String> lines() {
    Set<String> lines = new TreeSet<>();
    for (JavaClass found :
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(PACKAGES)) {
      Class<?> type = found.reflect();
      if (PACKAGES.contains(type.getPackageName()) && isVisible(type)) {
        lines.add(type.toGenericString() + parents(type));
        members(type).forEach(member -> lines.add(describe(member)));
      }
    }
    return lines;
  }

  private static boolean isVisible(Class<?> type) {
    Class<?> outer = type.getEnclosingClass();
    return isVisible(type.getModifiers())
        && !type.isAnonymousClass()
        && (outer == null || isVisible(outer));
  }

  private static boolean isVisible(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }

  private static String parents(Class<?> type) {
    List<String> parents = new ArrayList<>();
    if (type.getGenericSuperclass() != null) {
      parents.add(type.getGenericSuperclass().getTypeName());
    }
    Stream.of(type.getGenericInterfaces()).forEach(parent -> parents.add(parent.getTypeName()));
    return parents.isEmpty() ? "" : " < " + String.join(", ", parents);
  }

  private static List<Member> members(Class<?> type) {
    List<Member> members = new ArrayList<>(List.of(type.getDeclaredFields()));
    members.addAll(List.of(type.getDeclaredConstructors()));
    members.addAll(List.of(type.getDeclaredMethods()));
    members.removeIf(member -> member.isSynthetic() || !isVisible(member.getModifiers()));
    return members;
  }

  private static String describe(Member member) {
    if (member instanceof Field field) {
      return field.toGenericString();
    }
    return member instanceof Method method
        ? method.toGenericString()
        : ((Constructor<?>) member).toGenericString();
  }
}
