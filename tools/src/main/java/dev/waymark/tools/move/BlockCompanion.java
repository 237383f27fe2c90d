package dev.waymark.tools.move;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * What stands beside a block: its place in its chain.
 *
 * @param parentHash hash of the block before; null for a first one
 * @param tokenStart tokens before it
 * @param tokenIds its own
 */
record BlockCompanion(String parentHash, int tokenStart, int[] tokenIds) {
  private static final int MOST_BYTES = 16 << 20;

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  /**
   * Reads a block's companion; null where it has none.
   *
   * @throws BadImportException if it is not what it should be
   */
  static BlockCompanion of(BlockFile block) throws IOException {
    Path path = BlockFolder.companion(block);
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return null;
    }
    JsonNode root;
    try {
      root = JSON.readTree(PlainFiles.readSmall(path, MOST_BYTES));
    } catch (JsonProcessingException e) {
      // The parser's own message shows some of the text.
      throw bad(path, "JSON", "something else");
    }
    JsonNode parent = root.path("parent_hash");
    boolean first = parent.isNull() || parent.isMissingNode() || parent.asText().isEmpty();
    if (!first && !parent.asText().matches("[0-9a-f]{2,128}")) {
      throw bad(path, "a parent_hash of hex digits", "something else");
    }
    JsonNode start = root.path("token_start");
    if (!start.canConvertToInt() || !start.isIntegralNumber() || start.intValue() < 0) {
      throw bad(path, "a token_start of 0 or more", "something else");
    }
    int[] ids = TokenIds.of(root.path("token_ids"));
    if (ids == null || ids.length != block.tokenCount()) {
      throw bad(
          path,
          block.tokenCount() + " token_ids",
          ids == null ? "something else" : String.valueOf(ids.length));
    }
    return new BlockCompanion(first ? null : parent.asText(), start.intValue(), ids);
  }

  private static BadImportException bad(Path path, String expected, String found) {
    return new BadImportException(
        ImportFault.BAD_COMPANION,
        PlainFiles.shown(path),
        expected,
        found,
        "take the companion away: its block is then stored by itself");
  }
}
