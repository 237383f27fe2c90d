/** What opening a store does: read, decide what to keep and what to cut, carry it out. */
package dev.waymark.internal.recover;
