package dev.waymark.layout;

/** Element types, named as safetensors names them. The wire code is part of the format. */
public enum DType {
  /** One byte, 0 or 1. */
  BOOL(0, 1),
  /** Unsigned byte. */
  U8(1, 1),
  /** Signed byte. */
  I8(2, 1),
  /** 8-bit float, 5 exponent bits. */
  F8_E5M2(3, 1),
  /** 8-bit float, 4 exponent bits. */
  F8_E4M3(4, 1),
  /** 16-bit signed integer. */
  I16(5, 2),
  /** 16-bit unsigned integer. */
  U16(6, 2),
  /** IEEE half. */
  F16(7, 2),
  /** bfloat16. */
  BF16(8, 2),
  /** 32-bit signed integer. */
  I32(9, 4),
  /** 32-bit unsigned integer. */
  U32(10, 4),
  /** IEEE single. */
  F32(11, 4),
  /** IEEE double. */
  F64(12, 8),
  /** 64-bit signed integer. */
  I64(13, 8),
  /** 64-bit unsigned integer. */
  U64(14, 8);

  private final int wireCode;
  private final int sizeBytes;

  DType(int wireCode, int sizeBytes) {
    this.wireCode = wireCode;
    this.sizeBytes = sizeBytes;
  }

  /** The number that stands for this type on disk. */
  public int wireCode() {
    return wireCode;
  }

  /** Bytes an element. */
  public int sizeBytes() {
    return sizeBytes;
  }
}
