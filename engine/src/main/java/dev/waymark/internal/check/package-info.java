/** Looks at a store without a lock and without a write: what there is, and where it is wrong. */
package dev.waymark.internal.check;
