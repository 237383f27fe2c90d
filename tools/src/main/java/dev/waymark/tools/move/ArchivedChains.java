package dev.waymark.tools.move;

import com.fasterxml.jackson.databind.JsonNode;
import dev.waymark.KeptChain;
import dev.waymark.StoreReader.Boundary;
import dev.waymark.error.WaymarkException;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Follows the records of an archive, each boundary with the chain above it, and finds them to
 * agree: every boundary follows its parent, is as long as a block, and has as many bytes as its
 * layout says.
 */
final class ArchivedChains {
  private final ArchiveReader in;
  private final Map<Integer, NamespaceHead> namespaces = new HashMap<>();
  private final Map<Integer, Set<BoundaryKey>> seen = new HashMap<>();
  private final Set<KeptName> kept = new HashSet<>();
  private final List<Link> chain = new ArrayList<>();
  private long boundaries;
  private long points;

  private record KeptName(int namespaceId, String name) {}

  /** A namespace as the archive describes it. */
  record NamespaceHead(
      int id, BoundaryKey fingerprint, ModelIdentity identity, Layout layout, CodecPlan codecs) {}

  /**
   * A boundary of the chain that is being followed.
   *
   * @param names under which the chain up to it is kept
   * @param bodyOffset where its body begins
   */
  record Link(
      Boundary boundary, List<String> names, List<ArchiveBody.Part> parts, long bodyOffset) {}

  /** Is told of what comes, in the archive's order. */
  interface Visitor {
    void namespace(NamespaceHead namespace);

    /** A boundary; it is the last of the chain. */
    void boundary(NamespaceHead namespace, List<Link> chain) throws IOException;
  }

  ArchivedChains(ArchiveReader in) {
    this.in = in;
  }

  /**
   * Follows the whole archive.
   *
   * @throws BadImportException if anything is wrong with it
   */
  void follow(Visitor visitor) throws IOException {
    ArchiveReader.Entry entry = in.next();
    if (entry == null) {
      throw in.bad(ImportFault.NOT_AN_ARCHIVE, 0, "an archive", "an empty file");
    }
    start(entry);
    while (true) {
      entry = in.next();
      if (entry == null) {
        throw in.cutShort(in.position());
      }
      switch (entry.kind()) {
        case START -> throw contradicts(entry, "one start", "another");
        case NAMESPACE -> visitor.namespace(namespace(entry));
        case BOUNDARY -> visitor.boundary(boundary(entry), chain);
        case END -> {
          end(entry);
          if (in.position() != in.fileBytes()) {
            throw in.bad(
                ImportFault.ARCHIVE_TRAILING_BYTES,
                in.position(),
                "the end of the file",
                (in.fileBytes() - in.position()) + " bytes");
          }
          return;
        }
      }
    }
  }

  private void start(ArchiveReader.Entry entry) {
    if (entry.kind() != ArchiveFormat.Kind.START || entry.bodyBytes() != 0) {
      throw contradicts(entry, "a start", entry.kind());
    }
    if (number(entry, "version") != ArchiveFormat.VERSION) {
      throw in.bad(
          ImportFault.ARCHIVE_VERSION,
          entry.offsetBytes(),
          "version " + ArchiveFormat.VERSION,
          number(entry, "version"));
    }
  }

  private void end(ArchiveReader.Entry entry) {
    if (entry.bodyBytes() != 0) {
      throw contradicts(entry, "an end without a body", entry.bodyBytes() + " bytes");
    }
    requireCount(entry, "boundaries", boundaries);
    requireCount(entry, "points", points);
    requireCount(entry, "names", kept.size());
  }

  private void requireCount(ArchiveReader.Entry entry, String field, long count) {
    if (number(entry, field) != count) {
      throw contradicts(entry, count + " " + field, number(entry, field));
    }
  }

  private NamespaceHead namespace(ArchiveReader.Entry entry) {
    try {
      Layout layout = Layout.ofJson(text(entry, "layout"));
      ModelIdentity identity = ModelIdentity.ofJson(text(entry, "identity"));
      CodecPlan codecs = CodecPlan.ofJson(text(entry, "codecs"));
      NamespaceHead head =
          new NamespaceHead(
              (int) number(entry, "id"),
              BoundaryKey.of(KeyChain.fingerprint(identity, layout, codecs)),
              identity,
              layout,
              codecs);
      boolean known =
          namespaces.values().stream().anyMatch(n -> n.fingerprint().equals(head.fingerprint()));
      if (entry.bodyBytes() != 0 || known || namespaces.put(head.id(), head) != null) {
        throw contradicts(entry, "each namespace once", "one twice");
      }
      seen.put(head.id(), new HashSet<>());
      return head;
    } catch (BadImportException e) {
      throw e;
    } catch (WaymarkException e) {
      throw in.bad(
          ImportFault.ARCHIVE_BAD_RECORD,
          entry.offsetBytes(),
          "the description of a namespace",
          e.detail().what());
    }
  }

  private NamespaceHead boundary(ArchiveReader.Entry entry) {
    NamespaceHead namespace = namespaces.get((int) number(entry, "namespace"));
    if (namespace == null) {
      throw contradicts(entry, "a namespace that stands before", number(entry, "namespace"));
    }
    BoundaryKey key = key(entry, "key");
    BoundaryKey parent = key(entry, "parent");
    while (!chain.isEmpty()
        && (last().namespaceId() != namespace.id() || !last().key().equals(parent))) {
      chain.remove(chain.size() - 1);
    }
    int from = chain.isEmpty() ? 0 : last().tokens();
    long tokens = number(entry, "tokens");
    if (tokens != (long) from + namespace.layout().blockTokens() || tokens > Integer.MAX_VALUE) {
      throw contradicts(
          entry, "a parent that stands before, and a block more of tokens", tokens + " tokens");
    }
    if (!seen.get(namespace.id()).add(key)) {
      throw contradicts(entry, "each boundary once", "one twice");
    }
    boolean delta = entry.head().has("covered_from");
    long covered = delta ? number(entry, "covered_from") : tokens;
    if (covered < 0 || covered > tokens) {
      throw contradicts(entry, "covered_from of 0 to " + tokens, covered);
    }
    Boundary boundary =
        new Boundary(
            namespace.id(),
            key,
            parent,
            from,
            (int) tokens,
            flag(entry, "point"),
            false,
            flag(entry, "state"),
            delta,
            (int) covered,
            entry.bodyBytes(),
            0);
    chain.add(
        new Link(
            boundary,
            names(entry, boundary),
            parts(entry, namespace, boundary),
            entry.bodyOffset()));
    if (boundary.isRestorable()
        && (namespace.layout().hasFixed() && !boundary.hasState() || !isWindowCovered(namespace))) {
      throw contradicts(entry, "a restore point with its windows and state", "less");
    }
    boundaries++;
    points += boundary.isRestorable() ? 1 : 0;
    return namespace;
  }

  private List<String> names(ArchiveReader.Entry entry, Boundary boundary) {
    JsonNode field = entry.head().path("kept");
    if (field.isMissingNode()) {
      return List.of();
    }
    if (!field.isArray()) {
      throw lacks(entry, "kept");
    }
    List<String> names = new ArrayList<>();
    for (JsonNode name : field) {
      if (!name.isTextual() || !KeptChain.isName(name.textValue())) {
        throw lacks(entry, "names in kept");
      }
      if (!boundary.isRestorable()) {
        throw contradicts(entry, "a restore point that is kept", "a boundary with rows only");
      }
      if (!kept.add(new KeptName(boundary.namespaceId(), name.textValue()))) {
        throw contradicts(entry, "each name once in a namespace", "one twice");
      }
      names.add(name.textValue());
    }
    return names;
  }

  private Boundary last() {
    return chain.get(chain.size() - 1).boundary();
  }

  private List<ArchiveBody.Part> parts(
      ArchiveReader.Entry entry, NamespaceHead namespace, Boundary boundary) {
    try {
      List<ArchiveBody.Part> parts = ArchiveBody.parts(namespace.layout(), boundary);
      if (ArchiveBody.lengthBytes(parts) == entry.bodyBytes()) {
        return parts;
      }
      throw contradicts(
          entry,
          "a body of " + ArchiveBody.lengthBytes(parts) + " bytes, by the layout",
          entry.bodyBytes());
    } catch (ArithmeticException e) {
      throw contradicts(entry, "a size of 63 bits, by the layout", "more");
    }
  }

  /** Whether the window rows of a point at the chain's end are in the chain. */
  private boolean isWindowCovered(NamespaceHead namespace) {
    int open = last().tokens();
    int windowFrom = namespace.layout().windowFrom(open);
    for (int i = chain.size() - 1; i >= 0 && open > windowFrom; i--) {
      Boundary at = chain.get(i).boundary();
      if (at.tokens() < open) {
        return false;
      }
      if (at.hasDelta()) {
        open = Math.min(open, at.coveredFrom());
      }
    }
    return open <= windowFrom;
  }

  private long number(ArchiveReader.Entry entry, String field) {
    JsonNode value = entry.head().path(field);
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw lacks(entry, field);
    }
    return value.longValue();
  }

  private boolean flag(ArchiveReader.Entry entry, String field) {
    JsonNode value = entry.head().path(field);
    if (!value.isBoolean()) {
      throw lacks(entry, field);
    }
    return value.booleanValue();
  }

  private String text(ArchiveReader.Entry entry, String field) {
    JsonNode value = entry.head().path(field);
    if (!value.isTextual()) {
      throw lacks(entry, field);
    }
    return value.textValue();
  }

  private BoundaryKey key(ArchiveReader.Entry entry, String field) {
    String text = text(entry, field);
    if (!text.matches("[0-9a-f]{64}")) {
      throw lacks(entry, field);
    }
    return BoundaryKey.ofHex(text);
  }

  private BadImportException lacks(ArchiveReader.Entry entry, String field) {
    return in.bad(
        ImportFault.ARCHIVE_BAD_RECORD, entry.offsetBytes(), field, "none, or of another kind");
  }

  private BadImportException contradicts(ArchiveReader.Entry entry, Object expected, Object found) {
    return in.bad(ImportFault.ARCHIVE_CONTRADICTS, entry.offsetBytes(), expected, found);
  }
}
