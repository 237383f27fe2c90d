/**
 * Whether a prefill can end: reservations against budgets, and the slope that is measured. Pure.
 */
package dev.waymark.internal.admit;
