package dev.waymark.internal.manifest;

/**
 * What a manifest says about itself in its first frame.
 *
 * @param storeId the store
 * @param manifestId the number in its name
 * @param createdMillis wall clock, for display only
 * @param versions who may open it
 */
public record ManifestHeader(
    StoreId storeId, long manifestId, long createdMillis, FormatVersions versions) {}
