/**
 * Boundaries by key: what the manifest's edits add up to, held in columns; matching, coverage of
 * windows, liveness, pins.
 */
package dev.waymark.internal.forest;
