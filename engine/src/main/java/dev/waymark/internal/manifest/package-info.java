/** The log of what is true: its edits, their framing, and the files that name the one in force. */
package dev.waymark.internal.manifest;
