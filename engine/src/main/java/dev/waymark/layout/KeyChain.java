package dev.waymark.layout;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.InvalidArgumentException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.DigestException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * How keys come about. All of it is part of the format: another program that hashes the same way
 * finds the same boundaries.
 *
 * <ul>
 *   <li>fingerprint = SHA-256 of strings, each preceded by its length in bytes as 4 bytes,
 *       little-endian: "waymark namespace 1"; the layout's JSON; the number of properties in
 *       decimal; name and value of each property, in order of name; name and codec of each tensor
 *       with a lossy codec, in the layout's order
 *   <li>root = SHA-256("waymark root 1" with its length in front, fingerprint); a tenant's is
 *       HMAC-SHA-256(salt, fingerprint)
 *   <li>key = SHA-256(parent's key, number of tokens, bytes of extra keys, tokens, extra keys), the
 *       numbers and tokens as 4 bytes each, little-endian
 * </ul>
 *
 * <p>Not for use by two threads at once.
 */
public final class KeyChain {
  private final MessageDigest sha256 = newSha256();
  private ByteBuffer scratch = newScratch(512);

  /**
   * {@return the fingerprint of a namespace}
   *
   * @param identity the model and how it is run
   * @param layout what its state is made of
   * @param codecs how each tensor is stored
   */
  public static byte[] fingerprint(ModelIdentity identity, Layout layout, CodecPlan codecs) {
    MessageDigest digest = newSha256();
    update(digest, "waymark namespace 1");
    update(digest, layout.toJson());
    update(digest, Integer.toString(identity.properties().size()));
    for (Map.Entry<String, String> property : identity.properties().entrySet()) {
      update(digest, property.getKey());
      update(digest, property.getValue());
    }
    for (TensorSpec spec : layout.tensors()) {
      Codec codec = codecs.of(spec);
      if (codec.isLossy()) {
        update(digest, spec.name());
        update(digest, codec.name());
      }
    }
    return digest.digest();
  }

  /**
   * {@return the key that stands above the first boundaries of a namespace}
   *
   * @param fingerprint the 32 bytes of the namespace
   */
  public static BoundaryKey root(byte[] fingerprint) {
    MessageDigest digest = newSha256();
    update(digest, "waymark root 1");
    return BoundaryKey.of(digest.digest(fingerprint));
  }

  /**
   * {@return the key that stands above the first boundaries of a tenant} The salt is never stored.
   *
   * @param fingerprint the 32 bytes of the namespace
   * @param secretSalt 16 bytes or more
   */
  public static BoundaryKey tenantRoot(byte[] fingerprint, byte[] secretSalt) {
    if (secretSalt.length < 16) {
      throw new InvalidArgumentException(
          ErrorDetail.of("a tenant's salt is too short")
              .expected("at least 16 bytes")
              .found(secretSalt.length));
    }
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secretSalt, "HmacSHA256"));
      return BoundaryKey.of(mac.doFinal(fingerprint));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has HmacSHA256", e);
    }
  }

  /**
   * {@return the key of the boundary that a block makes of its parent's}
   *
   * @param parent key of the boundary before, or the root's
   * @param tokens array that holds the block's token ids
   * @param from first of them
   * @param count how many
   * @param extra what else tells this block from others (adapters, images), or an empty array
   */
  public BoundaryKey next(BoundaryKey parent, int[] tokens, int from, int count, byte[] extra) {
    int length = BoundaryKey.LENGTH_BYTES + 8 + 4 * count + extra.length;
    if (scratch.capacity() < length) {
      scratch = newScratch(Integer.highestOneBit(length) * 2);
    }
    scratch.clear();
    scratch.putLong(parent.word0()).putLong(parent.word1());
    scratch.putLong(parent.word2()).putLong(parent.word3());
    scratch.putInt(count).putInt(extra.length);
    scratch.asIntBuffer().put(tokens, from, count);
    scratch.position(scratch.position() + 4 * count);
    scratch.put(extra);
    sha256.update(scratch.array(), 0, length);
    try {
      sha256.digest(scratch.array(), 0, BoundaryKey.LENGTH_BYTES);
    } catch (DigestException e) {
      throw new IllegalStateException("a SHA-256 has 32 bytes", e);
    }
    return new BoundaryKey(
        scratch.getLong(0), scratch.getLong(8), scratch.getLong(16), scratch.getLong(24));
  }

  private static void update(MessageDigest digest, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    digest.update(
        ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes.length).array());
    digest.update(bytes);
  }

  private static ByteBuffer newScratch(int capacity) {
    return ByteBuffer.allocate(capacity).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static MessageDigest newSha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
