package dev.waymark.tools.replay;

import dev.waymark.StoreOptions;
import dev.waymark.error.InvalidSettingException;
import dev.waymark.layout.EvictionPolicy;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** What {@code segtool replay} is asked for. A mixin: picocli fills the fields in. */
final class ReplayOptions {
  @Parameters(
      index = "0",
      paramLabel = "TRACE",
      description = "A trace, .jsonl or .jsonl.gz: coding sessions, Mooncake's or Qwen-Bailian's.")
  private Path trace;

  @Option(
      names = "--layout",
      paramLabel = "L1..L9|FILE",
      converter = LayoutChoice.Converter.class,
      description =
          "What the model's state is made of: a name of the catalog, or a JSON file. Default: L4.")
  private LayoutChoice layout = LayoutChoice.of(LayoutCatalog.Entry.L4);

  @Option(
      names = "--scale",
      paramLabel = "N",
      converter = Numbers.PositiveInt.class,
      description =
          "Divides each kind of layer by about N: the innermost dim first, then the outer ones,"
              + " then the number of layers. Default: ${DEFAULT-VALUE}.")
  private int scale = 1_024;

  @Option(
      names = "--block",
      paramLabel = "TOKENS",
      converter = Numbers.PositiveInt.class,
      description =
          "Tokens a block, a multiple of the trace's: its blocks are grouped, and a last group that"
              + " is not whole is dropped. Default: the layout file's, else the trace's.")
  private Integer blockTokens;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      converter = Policy.Converter.class,
      description =
          "Where restore points go: every, stride:N, lattice, lattice:BUDGET (0.25 or 25%% of the"
              + " row bytes) or last. Default: lattice.")
  private Policy policy = new Policy.Lattice(OptionalDouble.empty());

  @Option(
      names = "--store",
      paramLabel = "DIR",
      description = "Where the store is, and stays. Default: a temporary one, removed at the end.")
  private Path store;

  @Option(
      names = "--verify",
      paramLabel = "HOW",
      converter = Verification.Converter.class,
      description =
          "Which restores are checked byte for byte: all, sample:N (one in N) or none."
              + " Default: all.")
  private Verification verification = new Verification(1);

  @Option(
      names = "--limit",
      paramLabel = "N",
      converter = Numbers.PositiveLong.class,
      description = "Stops after N requests. Default: all of them.")
  private long limitRequests = Long.MAX_VALUE;

  @Option(
      names = "--quota",
      paramLabel = "SIZE",
      converter = SizeConverter.class,
      description = "Most that the store may occupy, such as 512MiB, or auto. Default: auto.")
  private long quotaBytes = StoreOptions.AUTO_QUOTA;

  @Option(
      names = "--eviction",
      paramLabel = "lru|recompute",
      converter = EvictionConverter.class,
      description = "Whose chain goes first when room has to be made. Default: lru.")
  private EvictionPolicy eviction = EvictionPolicy.LRU;

  @Option(
      names = "--no-punch",
      description = "Gives space back only with whole segments, as some file systems do.")
  private boolean withoutPunching;

  @Option(names = "--json", description = "Prints the report as JSON.")
  private boolean json;

  Path trace() {
    return trace;
  }

  /** Name of the layout as asked for. */
  String layoutName() {
    return layout.name();
  }

  /** The layout with blocks of so many tokens, made smaller as asked. */
  ScaledLayout layout(int tokens) {
    return LayoutScaler.scale(layout.layout(tokens), scale);
  }

  /** Tokens a block that are asked for: by the option, else by the layout's file. */
  OptionalInt blockTokens() {
    return blockTokens == null ? layout.blockTokens() : OptionalInt.of(blockTokens);
  }

  Policy policy() {
    return policy;
  }

  /** Where the store is to stay, or empty for a temporary one. */
  Optional<Path> store() {
    return Optional.ofNullable(store);
  }

  Verification verification() {
    return verification;
  }

  /** Most requests to replay. */
  long limitRequests() {
    return limitRequests;
  }

  /** How the store is opened. */
  StoreOptions storeOptions() {
    return StoreOptions.builder()
        .quota(quotaBytes)
        .eviction(eviction)
        .punchHoles(!withoutPunching)
        .build();
  }

  /** Reads a size as the store's options do. */
  static final class SizeConverter implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      try {
        return StoreOptions.parseSize(text);
      } catch (InvalidSettingException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** Reads the name of a score. */
  static final class EvictionConverter implements ITypeConverter<EvictionPolicy> {
    @Override
    public EvictionPolicy convert(String text) {
      return switch (text) {
        case "lru" -> EvictionPolicy.LRU;
        case "recompute" -> EvictionPolicy.RECOMPUTE_PER_BYTE;
        default ->
            throw new TypeConversionException("expected lru or recompute, found '" + text + "'");
      };
    }
  }

  boolean json() {
    return json;
  }
}
