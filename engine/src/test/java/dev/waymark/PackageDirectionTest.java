package dev.waymark;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Packages depend on each other in one direction. A package may use what its row names, and what
 * those may use in turn; the generated code is the exception, and is for those who name it. A
 * package that is not in the table may not exist: give it a row first.
 */
class PackageDirectionTest {
  private static final String ROOT = "dev.waymark";
  private static final String IO = ROOT + ".internal.io";
  private static final String WIRE = ROOT + ".internal.wire";

  /** Package to the packages that it may use, below {@link #ROOT}. */
  private static final Map<String, Set<String>> TABLE = new LinkedHashMap<>();

  static {
    row("error");
    row("layout", "error");
    row("internal.wire");
    row("internal.io", "error");
    row("internal.watch");
    row("internal.codec", "layout", "error");
    row("internal.log", "internal.io", "internal.codec", "layout", "internal.wire");
    row("internal.manifest", "internal.log", "layout", "internal.wire");
    row("internal.forest", "internal.manifest");
    row(
        "internal.publish",
        "internal.log",
        "internal.manifest",
        "internal.forest",
        "internal.watch");
    row("internal.retain", "internal.forest");
    row(
        "internal.reclaim",
        "internal.log",
        "internal.manifest",
        "internal.forest",
        "internal.publish");
    row(
        "internal.recover",
        "internal.log",
        "internal.manifest",
        "internal.forest",
        "internal.wire");
    row("internal.admit", "layout", "internal.retain");
    row(
        "internal.check",
        "internal.codec",
        "internal.log",
        "internal.manifest",
        "internal.forest",
        "internal.recover",
        "internal.wire");
  }

  private static JavaClasses engine;

  @BeforeAll
  static void read() {
    engine =
        new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);
  }

  static Stream<String> packages() {
    return TABLE.keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("packages")
  void usesOnlyWhatItsRowNames(String name) {
    String[] allowed =
        Stream.concat(Stream.of(name), reachable(name).stream())
            .map(p -> ROOT + "." + p + "..")
            .toArray(String[]::new);
    noClasses()
        .that()
        .resideInAPackage(ROOT + "." + name + "..")
        .should()
        .dependOnClassesThat(resideInAPackage(ROOT + "..").and(not(resideInAnyPackage(allowed))))
        .allowEmptyShould(true)
        .check(engine);
  }

  @Test
  void everyPackageIsInTheTable() {
    String[] known =
        Stream.concat(Stream.of(ROOT), TABLE.keySet().stream().map(p -> ROOT + "." + p + ".."))
            .toArray(String[]::new);
    classes().should().resideInAnyPackage(known).allowEmptyShould(true).check(engine);
  }

  @Test
  void onlyIoKnowsChronicle() {
    noClasses()
        .that()
        .resideOutsideOfPackage(IO + "..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("net.openhft..")
        .allowEmptyShould(true)
        .check(engine);
  }

  /**
   * A fault on a mapped page can kill the JVM, so one package holds all that touches maps and
   * descriptors.
   */
  @Test
  void onlyIoTouchesChannelsAndMaps() {
    noClasses()
        .that()
        .resideOutsideOfPackage(IO + "..")
        .should()
        .dependOnClassesThat()
        .areAssignableTo(FileChannel.class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(MappedByteBuffer.class)
        .orShould()
        .dependOnClassesThat()
        .areAssignableTo(FileChannel.MapMode.class)
        .allowEmptyShould(true)
        .check(engine);
  }

  @Test
  void noCycles() {
    slices()
        .assignedFrom(
            new SliceAssignment() {
              @Override
              public SliceIdentifier getIdentifierOf(JavaClass type) {
                return type.getPackageName().startsWith(ROOT)
                    ? SliceIdentifier.of(type.getPackageName())
                    : SliceIdentifier.ignore();
              }

              @Override
              public String getDescription() {
                return "one slice a package";
              }
            })
        .should()
        .beFreeOfCycles()
        .allowEmptyShould(true)
        .check(engine);
  }

  private static void row(String name, String... uses) {
    TABLE.put(name, Set.of(uses));
  }

  private static Set<String> reachable(String name) {
    Set<String> found = new TreeSet<>(TABLE.get(name));
    ArrayDeque<String> open = new ArrayDeque<>(found);
    while (!open.isEmpty()) {
      for (String next : TABLE.get(open.remove())) {
        if (!WIRE.endsWith(next) && found.add(next)) {
          open.add(next);
        }
      }
    }
    return found;
  }
}
