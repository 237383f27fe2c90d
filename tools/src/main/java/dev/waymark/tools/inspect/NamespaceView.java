package dev.waymark.tools.inspect;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.waymark.StoreInspector.NamespaceReport;
import dev.waymark.StoreInspector.RootReport;
import dev.waymark.layout.Growth;
import dev.waymark.layout.TensorSpec;
import dev.waymark.tools.Output;
import java.util.List;

/** One namespace, with its tensors and tenants. */
final class NamespaceView implements View {
  private static final String ROW = "%-28s %-8s %-24s %-16s %s";

  private final NamespaceReport namespace;
  private final List<RootReport> roots;

  NamespaceView(NamespaceReport namespace, List<RootReport> roots) {
    this.namespace = namespace;
    this.roots = roots;
  }

  @Override
  public void print(Output out) {
    InspectText.namespace(namespace, out);
    out.line();
    for (RootReport root : roots) {
      out.line(
          "%s: first blocks: %,d",
          root.isTenant() ? "tenant " + root.key() : "prompts of no tenant", root.children());
    }
    out.line();
    out.line(ROW, "tensor", "dtype", "growth", "shape", "codec");
    for (TensorSpec spec : namespace.layout().tensors()) {
      out.line(
          ROW, spec.name(), spec.dtype(), growth(spec), spec.shape(), namespace.codecs().of(spec));
    }
  }

  private static String growth(TensorSpec spec) {
    if (spec.growth() instanceof Growth.Rows rows) {
      return rows.tokensPerRow() == 1
          ? "a row a token"
          : "a row every " + rows.tokensPerRow() + " tokens";
    }
    return spec.growth() instanceof Growth.Window window
        ? "window of " + window.windowTokens() + ", first " + window.sinkTokens()
        : "fixed";
  }

  @Override
  public void add(ObjectNode root) {
    ObjectNode node = root.putObject("namespace");
    InspectJson.add(namespace, node);
    ArrayNode tenants = node.putArray("roots");
    for (RootReport each : roots) {
      tenants
          .addObject()
          .put("root_key", each.key())
          .put("tenant", each.isTenant())
          .put("first_blocks", each.children());
    }
    ArrayNode tensors = node.putArray("tensors");
    for (TensorSpec spec : namespace.layout().tensors()) {
      ArrayNode dims =
          tensors
              .addObject()
              .put("name", spec.name())
              .put("dtype", spec.dtype().name())
              .put("growth", growth(spec))
              .put("codec", namespace.codecs().of(spec).name())
              .putArray("dims");
      spec.shape().forEach(dims::add);
    }
  }
}
