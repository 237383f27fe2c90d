package dev.waymark.tools;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Every verb that is about a store, with arguments that make it look at or change one. */
final class Verbs {
  private static final String STORE = "STORE";
  private static final String OUTPUT = "OUTPUT";

  /** Verbs that look, and never write. */
  static final Map<String, List<String>> INSPECTING =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("compact --dry-run", List.of(STORE, "--dry-run")),
              Map.entry("inspect", List.of(STORE)),
              Map.entry("inspect --boundaries", List.of(STORE, "--boundaries")),
              Map.entry("inspect --segment", List.of(STORE, "--segment", "1")),
              Map.entry("inspect --namespace", List.of(STORE, "--namespace", "1")),
              Map.entry("inspect --record", List.of(STORE, "--record", "1:0")),
              Map.entry("ls", List.of(STORE)),
              Map.entry("tree", List.of(STORE)),
              Map.entry("tree --all", List.of(STORE, "--all")),
              Map.entry("dump", List.of(STORE, "1:0")),
              Map.entry("explain", List.of(STORE, "TOKENS")),
              Map.entry("estimate", List.of(STORE, "--tokens", "100")),
              Map.entry("export", List.of(STORE, "-o", OUTPUT, "--force")),
              Map.entry("pin", List.of(STORE)),
              Map.entry("report", List.of(STORE, "--html", OUTPUT)),
              Map.entry("status", List.of(STORE)),
              Map.entry("verify", List.of(STORE)),
              Map.entry("verify --level", List.of(STORE, "--level", "all")),
              Map.entry("repair", List.of(STORE, "--rebuild-manifest")),
              Map.entry("wipe", List.of(STORE, "--older-than", "1d"))));

  /** Verbs that open a store for writing. */
  static final Map<String, List<String>> WRITING =
      new TreeMap<>(
          Map.of(
              "compact", List.of(STORE),
              "import", List.of(STORE, "ARCHIVE"),
              "pin --release", List.of(STORE, "--release", "none"),
              "repair --apply", List.of(STORE, "--rebuild-manifest", "--apply"),
              "wipe --apply", List.of(STORE, "--older-than", "1d", "--apply")));

  /** Verbs that make their store, need none, or look at something else first. */
  static final Set<String> OTHERS = Set.of("completion", "demo", "help", "replay", "serve");

  private Verbs() {}

  /**
   * The command line of one of them.
   *
   * @param tokens a file of token ids; what is written goes beside it, and beside it stands {@code
   *     archive.wmka}, for whom imports it
   */
  static Object[] arguments(String verb, Path store, Path tokens) {
    List<String> pattern = INSPECTING.getOrDefault(verb, WRITING.get(verb));
    List<Object> arguments = new ArrayList<>();
    arguments.add(verb.replaceFirst(" .*", ""));
    for (String argument : pattern) {
      arguments.add(
          switch (argument) {
            case STORE -> store;
            case "TOKENS" -> tokens;
            case "ARCHIVE" -> tokens.resolveSibling("archive.wmka");
            case OUTPUT -> tokens.resolveSibling("output");
            default -> argument;
          });
    }
    return arguments.toArray();
  }

  /** All of them. */
  static Set<String> all() {
    Map<String, List<String>> all = new TreeMap<>(INSPECTING);
    all.putAll(WRITING);
    return all.keySet();
  }
}
