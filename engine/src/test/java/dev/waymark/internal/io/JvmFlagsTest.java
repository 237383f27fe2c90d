package dev.waymark.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import dev.waymark.error.MissingJvmFlagsException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JvmFlagsTest {
  @TempDir Path temp;

  /** Opens a store in a JVM that may lack the flags. */
  static final class Open {
    public static void main(String[] arguments) {
      try (RealDirectory directory = RealDirectory.openForWriting(Path.of(arguments[0]), true)) {
        directory.lock();
        directory.traits();
        System.out.println("opened");
      } catch (MissingJvmFlagsException e) {
        System.out.println(e.detail().remedy());
      }
    }
  }

  @Test
  void passesWithTheFlags() {
    JvmFlags.check();
  }

  @Test
  void openingWithoutThemSaysWhatToPaste() {
    Path store = temp.resolve("store");
    ForkedJvm.Result result = ForkedJvm.runWithoutFlags(Open.class, store.toString());
    assertThat(result.output().lines())
        .containsExactly(
            "add this line to the java command, before the main class or -jar: " + JvmFlags.line());
    assertThat(Files.exists(store)).isFalse();
  }

  @Test
  void openingWithThemSaysNothing() {
    ForkedJvm.Result result = ForkedJvm.run(Open.class, temp.resolve("store").toString());
    assertThat(result.output().lines()).containsExactly("opened");
  }

  @Test
  void theLineFitsTheJdk() {
    Module base = Object.class.getModule();
    Module user = JvmFlags.class.getModule();
    String common =
        "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED"
            + " --add-opens=java.base/sun.nio.ch=ALL-UNNAMED"
            + " --add-exports=java.base/jdk.internal.ref=ALL-UNNAMED"
            + " --add-exports=java.base/jdk.internal.misc=ALL-UNNAMED";
    assertThat(JvmFlags.line(17, base, user)).isEqualTo(common);
    assertThat(JvmFlags.line(25, base, user))
        .isEqualTo(
            common
                + " --enable-native-access=ALL-UNNAMED"
                + " --sun-misc-unsafe-memory-access=allow");
  }
}
