package dev.waymark.internal.recover;

/** A file of the directory as it was found. */
public record FileOnDisk(String name, long lengthBytes, long allocatedBytes) {}
