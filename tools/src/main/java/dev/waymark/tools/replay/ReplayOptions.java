package dev.waymark.tools.replay;

import dev.waymark.StoreOptions;
import dev.waymark.layout.EvictionPolicy;
import dev.waymark.tools.Numbers;
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
      description =
          "a trace, JSON lines, gzipped or not, told by its first line: coding sessions (block_size,"
              + " requests), Mooncake's requests (timestamp, hash_ids; blocks of 512 tokens), or"
              + " Qwen-Bailian's (chat_id, timestamp, hash_ids; blocks of 16)")
  private Path trace;

  @Option(
      names = "--layout",
      paramLabel = "L1..L9|FILE",
      converter = LayoutChoice.Converter.class,
      description =
          "what the model's state is made of: L1 dense hybrid, L2 and L3 sparse hybrids, L4 windows"
              + " of 1,024, L5 attention only, L6 latent and delta attention, L7 windows of 512, L8"
              + " pooled caches, L9 small convolution hybrid; or a JSON file (default: L4)")
  private LayoutChoice layout = LayoutChoice.of(LayoutCatalog.Entry.L4);

  @Option(
      names = "--scale",
      paramLabel = "N",
      converter = Numbers.PositiveInt.class,
      description =
          "divides each kind of layer by about N: the innermost dim first, then the outer ones,"
              + " then the number of layers (default: ${DEFAULT-VALUE})")
  private int scale = 1_024;

  @Option(
      names = "--block",
      paramLabel = "TOKENS",
      converter = Numbers.PositiveInt.class,
      description =
          "tokens a block, a multiple of the trace's: its blocks are grouped, and a last group that"
              + " is not whole is dropped (default: the layout file's, else the trace's)")
  private Integer blockTokens;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      converter = Policy.Converter.class,
      description =
          "where restore points go: every, stride:N (every N blocks), lattice, lattice:BUDGET (0.25"
              + " or 25%% of the row bytes) or last (default: lattice)")
  private Policy policy = new Policy.Lattice(OptionalDouble.empty());

  @Option(
      names = "--store",
      paramLabel = "DIR",
      description = "where the store is, and stays (default: a temporary one, removed at the end)")
  private Path store;

  @Option(
      names = "--verify",
      paramLabel = "HOW",
      converter = Verification.Converter.class,
      description =
          "which restores are checked byte for byte: all, sample:N (one in N) or none"
              + " (default: all)")
  private Verification verification = new Verification(1);

  @Option(
      names = "--limit",
      paramLabel = "N",
      converter = Numbers.PositiveLong.class,
      description = "stop after N requests (default: all of them)")
  private long limitRequests = Long.MAX_VALUE;

  @Option(
      names = "--quota",
      paramLabel = "SIZE",
      converter = Numbers.Quota.class,
      description = "most that the store may occupy, such as 512MiB, or auto (default: auto)")
  private long quotaBytes = StoreOptions.AUTO_QUOTA;

  @Option(
      names = "--eviction",
      paramLabel = "lru|recompute",
      converter = EvictionConverter.class,
      description = "whose chain goes first when room has to be made (default: lru)")
  private EvictionPolicy eviction = EvictionPolicy.LRU;

  @Option(
      names = "--no-punch",
      description = "give space back only with whole segments, as some file systems do")
  private boolean withoutPunching;

  @Option(names = "--json", description = "print the report as JSON, for programs")
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
