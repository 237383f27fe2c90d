/**
 * A store directory in memory that remembers what a power loss may choose from, and can build every
 * state that one may leave. The engine runs on it unchanged.
 *
 * <p>The model is more pessimistic than ext4 and xfs, on purpose:
 *
 * <ul>
 *   <li>A page of 4 KiB that was written since its last successful force holds, after the loss, any
 *       content that it had at an observation point since then, what was durable before, or a mix
 *       of 512-byte sectors of those.
 *   <li>A file has any length that it had since its last force. Length and pages are independent: a
 *       new length over old pages reads as zeros there.
 *   <li>Creations, renames and removals since the last force of the directory each survive or not,
 *       independently and in any combination, applied in their order. A rename is atomic: its
 *       target is the old or the new file, its source goes when the target comes. A force of a file
 *       does not make its name durable, and a force of the directory no content.
 *   <li>After a failed force pages stay in memory but are clean. A later force that succeeds helps
 *       only those that were written again. Lengths and, unless set otherwise, names likewise.
 *   <li>Forcing a range of a map makes content durable, not the file's length.
 * </ul>
 *
 * <p>A kill keeps all that was written, and makes none of it durable.
 */
package dev.waymark.sim;
