package dev.waymark.internal.io;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.util.zip.Checksum;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A checksum, comparison or decompression on mapped memory kills the JVM when a page cannot be
 * read. So one class holds the address of a map, and does nothing with it but copy.
 */
class MappedMemoryRulesTest {
  private static final String REGION = "dev.waymark.internal.io.ChronicleRegion(\\$.*)?";

  private static JavaClasses engine;

  @BeforeAll
  static void read() {
    engine =
        new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.waymark");
  }

  @Test
  void onlyTheRegionKnowsMaps() {
    noClasses()
        .that()
        .haveNameNotMatching(REGION)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("net.openhft..")
        .check(engine);
  }

  /** Nor do those who copy between private memory and the caller's, which never see a map. */
  @Test
  void onlyTheRegionCopiesByAddress() {
    noClasses()
        .that()
        .haveNameNotMatching(REGION)
        .and()
        .haveNameNotMatching("dev\\.waymark\\.(layout|internal\\.codec)\\.Memory")
        .should()
        .dependOnClassesThat()
        .haveNameMatching("org\\.agrona\\.Unsafe(Api|Access)|sun\\.misc\\.Unsafe")
        .orShould()
        .dependOnClassesThat()
        .haveNameMatching("jdk\\.internal\\.misc\\.Unsafe")
        .check(engine);
  }

  @Test
  void nobodyUsesTheJdksMaps() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .areAssignableTo(MappedByteBuffer.class)
        .check(engine);
  }

  @Test
  void theRegionDoesNothingDeadly() {
    noClasses()
        .that()
        .haveNameMatching(REGION)
        .should()
        .dependOnClassesThat(
            assignableTo(ByteBuffer.class)
                .or(assignableTo(Checksum.class))
                .or(nameMatching("com\\.github\\.luben\\..*"))
                .as("are buffers, checksums or codecs"))
        .orShould()
        .callMethodWhere(
            target(nameMatching("setMemory|mismatch|compareTo|vectorizedMismatch"))
                .as("memory is set or compared"))
        .check(engine);
  }

  @Test
  void theRegionWrapsNoAddress() {
    noClasses()
        .that()
        .haveNameMatching(REGION)
        .should()
        .callMethodWhere(
            target(nameMatching("wrap|putBytes|getBytes"))
                .as("an Agrona buffer gets an address or copies"))
        .orShould()
        .dependOnClassesThat()
        .haveNameMatching("org\\.agrona\\.concurrent\\.UnsafeBuffer")
        .check(engine);
  }
}
