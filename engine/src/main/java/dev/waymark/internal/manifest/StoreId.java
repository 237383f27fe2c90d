package dev.waymark.internal.manifest;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Drawn once when a store is made; in every file of it, so that files of two stores never mix. */
public record StoreId(long high, long low) {

  /** Draws a new one. */
  public static StoreId random() {
    SecureRandom random = new SecureRandom();
    return new StoreId(random.nextLong(), random.nextLong());
  }

  /** 32 hex digits. */
  @Override
  public String toString() {
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(high) + hex.toHexDigits(low);
  }
}
