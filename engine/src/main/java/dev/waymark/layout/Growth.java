package dev.waymark.layout;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidSettingException;

/** How a tensor grows as tokens pass. */
public sealed interface Growth {

  /**
   * One row per {@code tokensPerRow} tokens, immutable once written: a KV cache (1), a pooled cache
   * (4, 128). After {@code n} tokens there are {@code n / tokensPerRow} rows, rounded down.
   */
  record Rows(int tokensPerRow) implements Growth {
    /**
     * Checks the range.
     *
     * @param tokensPerRow tokens that one row stands for, 1 or more
     */
    public Rows {
      if (tokensPerRow < 1) {
        throw new InvalidSettingException(
            ErrorDetail.of("tokensPerRow out of range").expected("1 or more").found(tokensPerRow));
      }
    }
  }

  /**
   * The rows of the last {@code windowTokens} tokens, plus those of the first {@code sinkTokens}. A
   * cache whose size includes its kept first tokens has a window of size minus kept.
   */
  record Window(int windowTokens, int sinkTokens) implements Growth {
    /**
     * Checks the range.
     *
     * @param windowTokens tokens that the window holds, 1 or more
     * @param sinkTokens first tokens that stay for good, 0 or more
     */
    public Window {
      if (windowTokens < 1 || sinkTokens < 0) {
        throw new InvalidSettingException(
            ErrorDetail.of("window out of range")
                .expected("windowTokens of 1 or more, sinkTokens of 0 or more")
                .found(windowTokens + " and " + sinkTokens));
      }
    }
  }

  /** One value, wholly replaced as tokens pass: recurrent and convolution state. */
  record Fixed() implements Growth {}
}
