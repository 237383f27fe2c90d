package dev.waymark.internal.forest;

import dev.waymark.internal.log.NamespaceDescriptor;
import dev.waymark.layout.BoundaryKey;
import dev.waymark.layout.CodecPlan;
import dev.waymark.layout.KeyChain;
import dev.waymark.layout.Layout;
import dev.waymark.layout.ModelIdentity;

/** A namespace of the store, and what it holds. */
public final class NamespaceState {
  private final NamespaceDescriptor descriptor;
  private final ModelIdentity identity;
  private final Layout layout;
  private final CodecPlan codecs;
  long boundaries;
  long points;
  long rowRecordBytes;
  long pointRecordBytes;
  long recordPageBytes;

  NamespaceState(NamespaceDescriptor descriptor) {
    this.descriptor = descriptor;
    this.identity = ModelIdentity.ofJson(descriptor.identity());
    this.layout = Layout.ofJson(descriptor.layout());
    this.codecs = CodecPlan.ofJson(descriptor.codecs());
  }

  /** Its number in this store. */
  public int id() {
    return descriptor.namespaceId();
  }

  /** Its texts. */
  public NamespaceDescriptor descriptor() {
    return descriptor;
  }

  /** Whether what it is known by is that of its texts. */
  boolean hasRightFingerprint() {
    return BoundaryKey.of(KeyChain.fingerprint(identity, layout, codecs)).equals(fingerprint());
  }

  /** What it is known by. */
  public BoundaryKey fingerprint() {
    return descriptor.fingerprint();
  }

  /** The model. */
  public ModelIdentity identity() {
    return identity;
  }

  /** The tensors. */
  public Layout layout() {
    return layout;
  }

  /** How tensors are stored. */
  public CodecPlan codecs() {
    return codecs;
  }

  /** Boundaries in it. */
  public long boundaries() {
    return boundaries;
  }

  /** Restore points in it. */
  public long points() {
    return points;
  }

  /** Bytes of its APPEND records. */
  public long rowRecordBytes() {
    return rowRecordBytes;
  }

  /** Bytes of all its records. */
  public long recordBytes() {
    return rowRecordBytes + pointRecordBytes;
  }

  /** Whole pages of all its records. */
  public long recordPageBytes() {
    return recordPageBytes;
  }

  /** Bytes of its DELTA and STATE records. */
  public long pointRecordBytes() {
    return pointRecordBytes;
  }
}
