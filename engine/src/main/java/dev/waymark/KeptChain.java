package dev.waymark;

/**
 * A chain that is kept against eviction.
 *
 * @param namespace first 8 hex digits of its namespace's fingerprint
 * @param name under which it is kept
 * @param tokens of its last boundary
 * @param bytes whole pages of the records on it; chains share some of them
 */
public record KeptChain(String namespace, String name, int tokens, long bytes) {}
