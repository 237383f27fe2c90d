/**
 * Serial publication, and its way to the disk: an edit is applied in memory, waits in a queue, and
 * is written only after the force of what it names returned.
 */
package dev.waymark.internal.publish;
