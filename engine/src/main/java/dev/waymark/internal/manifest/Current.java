package dev.waymark.internal.manifest;

import dev.waymark.internal.log.FormatVersions;

/**
 * What the file CURRENT says.
 *
 * @param storeId the store
 * @param manifestId the manifest in force
 * @param versions who may open the store
 */
public record Current(StoreId storeId, long manifestId, FormatVersions versions) {}
