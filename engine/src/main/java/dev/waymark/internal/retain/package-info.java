/** Where restore points go, what is thinned, whom to evict, what budgets allow: pure decisions. */
package dev.waymark.internal.retain;
