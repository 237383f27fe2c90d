/** Holds {@code format-spec/FORMAT.md} to the schema and to what the encoders write. */
package dev.waymark.formatpage;
