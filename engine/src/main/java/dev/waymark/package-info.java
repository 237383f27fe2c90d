/**
 * The store: open it, ask it what it has of a prompt, restore that, and store what is computed.
 *
 * <p>Start at {@link dev.waymark.SnapshotStore}.
 */
package dev.waymark;
