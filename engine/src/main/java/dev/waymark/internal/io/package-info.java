/**
 * One flat directory and its files: creation, mapping, allocation, punching, forcing, renaming and
 * the lock. The only place that knows Chronicle Bytes and file channels. Everything above works on
 * {@link dev.waymark.internal.io.StoreDirectory}, of which the real one and a simulated one exist.
 */
package dev.waymark.internal.io;
