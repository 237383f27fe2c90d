package dev.waymark.internal.io;

/**
 * What a file system can do.
 *
 * @param canMap files can be mapped for writing
 * @param canAllocate space can be allocated ahead, so that a full disk is an error from allocation
 * @param canPunch a range can be given back while the file stays
 */
public record FileSystemTraits(boolean canMap, boolean canAllocate, boolean canPunch) {}
