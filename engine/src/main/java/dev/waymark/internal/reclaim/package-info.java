/** What to unlink, punch out or copy to get dead bytes back: a pure choice and its execution. */
package dev.waymark.internal.reclaim;
