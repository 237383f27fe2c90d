/**
 * Replays recorded request traces against a store: reads the trace, makes up the state that a model
 * of a given layout would have held, and counts what the store and what bundle files would write.
 */
package dev.waymark.tools.replay;
