package dev.waymark.tools.forest;

/**
 * A piece of a chain that ends at a restore point, where chains part, or at the chain's end.
 *
 * @param level how many partings stand above it
 * @param isFirst whether it begins a chain of its own, below a parting or a root
 * @param open at which levels, from the outermost to its own, more chains follow
 * @param key of its last boundary
 * @param fromTokens where it begins
 * @param tokens where it ends
 * @param blocks boundaries in it
 * @param isPoint whether a restore can land at its end
 * @param children chains that go on from its end
 * @param rowBytes records of rows
 * @param pointBytes records of windows and state
 * @param addedMillis when its last boundary was stored
 */
record Stretch(
    int level,
    boolean isFirst,
    boolean[] open,
    String key,
    int fromTokens,
    int tokens,
    int blocks,
    boolean isPoint,
    int children,
    long rowBytes,
    long pointBytes,
    long addedMillis) {}
