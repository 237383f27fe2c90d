/** Claim, write, read, seal and roll: records and the segments that hold them. */
package dev.waymark.internal.log;
