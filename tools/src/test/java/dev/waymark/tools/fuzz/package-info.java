/**
 * The fuzz target for files that others made. As those of the engine it has a static {@code
 * fuzzerTestOneInput(byte[])}, which Jazzer calls ({@code tools/bin/fuzz}) and with which {@link
 * dev.waymark.tools.fuzz.SafetensorsCorpusTest} replays the corpus in {@code src/test/fuzz}.
 */
package dev.waymark.tools.fuzz;
