/**
 * Fuzz targets for everything that is read from disk. Each has a static {@code
 * fuzzerTestOneInput(byte[])}, which Jazzer calls ({@code tools/bin/fuzz}) and with which {@link
 * dev.waymark.fuzz.CorporaTest} replays the corpora in {@code src/test/fuzz}.
 *
 * <p>An input is compact: what a mutator is to change, and none of the zeros between it. Its first
 * byte says what is {@link dev.waymark.fuzz.Sealer put right} before the engine sees the rest, so
 * that a changed byte gets past the checksums.
 */
package dev.waymark.fuzz;
