/** What a store does, counted, timed, and told to Java Flight Recorder. */
package dev.waymark.internal.watch;
