package dev.waymark.tools.move;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreReader;
import dev.waymark.StoreReader.Boundary;
import dev.waymark.StoreReader.NamespaceContent;
import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.KeyChain;
import dev.waymark.tools.ExitCodes;
import dev.waymark.tools.Output;
import dev.waymark.tools.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code segtool export}: a restore point as a safetensors file, or chains as an archive. */
@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    description = {
      "Writes a restore point as one safetensors file, or a whole store or namespace as an archive;"
          + " import takes both back.",
      "Writes nothing into the store and takes no lock, so it may be used beside a running server.",
      "What it writes is as private as the prompts: the file is for its owner only.",
    })
public final class ExportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "STORE", description = "directory of the store")
  private Path path;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      required = true,
      description = "file to write; it comes to be once it is whole")
  private Path output;

  @Option(
      names = "--point",
      paramLabel = "KEY",
      description =
          "a restore point, by the first hex digits of its key, 8 or more, as inspect --boundaries"
              + " shows them: written as safetensors")
  private String point;

  @Option(
      names = "--deepest",
      description = "the restore point with the most tokens: written as safetensors")
  private boolean deepest;

  @Option(
      names = "--namespace",
      paramLabel = "FINGERPRINT",
      description = "only this namespace, by the first hex digits of its fingerprint")
  private String namespace;

  @Option(
      names = "--token-ids",
      paramLabel = "FILE",
      description =
          "put these token ids into the metadata of a point, after checking that they are its"
              + " prompt's; a store does not hold them")
  private Path tokenIds;

  @Option(names = "--force", description = "replace a file that is there")
  private boolean force;

  @Option(names = "--json", description = "print JSON, for programs")
  private boolean json;

  @Override
  public Integer call() throws IOException {
    checkUsage();
    try (StoreReader store = StoreReader.open(path);
        NewFile file = NewFile.at(output, force);
        Progress progress = Progress.onTerminal()) {
      PointSelection selection = new PointSelection(store, namespace);
      if (point != null || deepest) {
        exportPoint(store, selection, file, progress);
      } else {
        exportArchive(store, selection, file, progress);
      }
    }
    return ExitCodes.OK;
  }

  private void checkUsage() {
    if (point != null && deepest) {
      throw usage("--point and --deepest each name a restore point: take one");
    }
    if (point != null && !point.matches("[0-9A-Fa-f]{8,64}")) {
      throw usage("--point takes 8 to 64 hex digits");
    }
    if (namespace != null && !namespace.matches("[0-9A-Fa-f]{1,64}")) {
      throw usage("--namespace takes 1 to 64 hex digits");
    }
    if (tokenIds != null && point == null && !deepest) {
      throw usage("--token-ids goes with --point or --deepest");
    }
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private void exportPoint(
      StoreReader store, PointSelection selection, NewFile file, Progress progress)
      throws IOException {
    Boundary boundary = deepest ? selection.deepest() : selection.point(point);
    NamespaceContent content =
        selection.namespaces().stream()
            .filter(n -> n.id() == boundary.namespaceId())
            .findFirst()
            .orElseThrow();
    int[] ids = tokenIds == null ? null : checkedIds(store.chain(boundary), content, boundary);
    long bytes = new PointExport(store, content, boundary, ids, progress).write(file.channel());
    file.finish();
    progress.close();
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        ObjectNode root = Output.envelope("export");
        root.put("kind", "safetensors");
        root.put("key", boundary.key().abbreviated());
        root.put("tokens", boundary.tokens());
        root.put("tensors", content.layout().tensors().size());
        root.put("file_bytes", bytes);
        out.json(root);
      } else {
        out.line(
            "Wrote the state at %,d tokens (%s): %,d tensors, %s.",
            boundary.tokens(),
            boundary.key().abbreviated(),
            content.layout().tensors().size(),
            Output.bytes(bytes));
      }
    }
  }

  private int[] checkedIds(List<BoundaryKey> chain, NamespaceContent content, Boundary boundary)
      throws IOException {
    int[] ids = TokenIds.read(tokenIds);
    int block = content.layout().blockTokens();
    boolean right = ids != null && ids.length == boundary.tokens();
    KeyChain keys = new KeyChain();
    for (int i = 1; right && i < chain.size(); i++) {
      BoundaryKey key = keys.next(chain.get(i - 1), ids, (i - 1) * block, block, new byte[0]);
      right = key.equals(chain.get(i));
    }
    if (!right) {
      throw new InvalidArgumentException(
          ErrorDetail.of("the token ids are not those of the restore point's prompt")
              .expected("its " + boundary.tokens() + " ids in order")
              .found("others")
              .remedy("give the right ones, or leave --token-ids out"));
    }
    return ids;
  }

  private void exportArchive(
      StoreReader store, PointSelection selection, NewFile file, Progress progress)
      throws IOException {
    ArchiveExport.Written written =
        new ArchiveExport(store, selection, file.channel()).write(progress);
    file.finish();
    progress.close();
    String hash = HexFormat.of().formatHex(written.hash());
    try (Output out = new Output(spec.commandLine().getOut())) {
      if (json) {
        ObjectNode root = Output.envelope("export");
        root.put("kind", "archive");
        root.put("namespaces", selection.namespaces().size());
        root.put("boundaries", written.boundaries());
        root.put("restore_points", written.points());
        root.put("names", written.names());
        root.put("names_left_out", written.namesLeftOut());
        root.put("file_bytes", written.bytes());
        root.put("sha256", hash);
        out.json(root);
      } else {
        out.line(
            "Wrote %,d namespaces, %,d boundaries, %,d restore points, %,d names of kept chains: %s.",
            selection.namespaces().size(),
            written.boundaries(),
            written.points(),
            written.names(),
            Output.bytes(written.bytes()));
        if (written.namesLeftOut() > 0) {
          out.line(
              "Left out, %,d: names of chains that have lost their restore point",
              written.namesLeftOut());
        }
        out.line("Hash of the last record, which stands for all: %s", hash);
      }
    }
  }
}
