package dev.waymark.layout;

/** Element types, named as safetensors names them. */
public enum DType {
  /** One byte, 0 or 1. */
  BOOL(1),
  /** Unsigned byte. */
  U8(1),
  /** Signed byte. */
  I8(1),
  /** 8-bit float, 5 exponent bits. */
  F8_E5M2(1),
  /** 8-bit float, 4 exponent bits. */
  F8_E4M3(1),
  /** 16-bit signed integer. */
  I16(2),
  /** 16-bit unsigned integer. */
  U16(2),
  /** IEEE half. */
  F16(2),
  /** bfloat16. */
  BF16(2),
  /** 32-bit signed integer. */
  I32(4),
  /** 32-bit unsigned integer. */
  U32(4),
  /** IEEE single. */
  F32(4),
  /** IEEE double. */
  F64(8),
  /** 64-bit signed integer. */
  I64(8),
  /** 64-bit unsigned integer. */
  U64(8);

  private final int sizeBytes;

  DType(int sizeBytes) {
    this.sizeBytes = sizeBytes;
  }

  /** {@return bytes an element} */
  public int sizeBytes() {
    return sizeBytes;
  }
}
