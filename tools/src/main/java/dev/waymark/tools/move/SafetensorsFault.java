package dev.waymark.tools.move;

/** What can be wrong with a safetensors file; stable names, which JSON errors show. */
public enum SafetensorsFault {
  /** Shorter than the length of its header. */
  TRUNCATED("the file is shorter than its first field"),
  /** The header's length is above what the format allows. */
  HEADER_TOO_LARGE("the header is longer than the format allows"),
  /** The header ends behind the file. */
  HEADER_BEYOND_FILE("the header ends behind the file"),
  /** The header is no JSON object. */
  HEADER_NOT_JSON("the header is not a JSON object"),
  /** A key stands twice. */
  DUPLICATE_KEY("a key stands twice in the header"),
  /** The metadata is no object of strings. */
  BAD_METADATA("the metadata is not an object of strings"),
  /**
   * A tensor's description lacks a field, has one that the format does not know, or a wrong one.
   */
  BAD_TENSOR("the description of a tensor is not valid"),
  /** An element type that is not known here. */
  UNKNOWN_DTYPE("a tensor has an element type that is not known here"),
  /** A dim is negative, or their product overflows. */
  BAD_SHAPE("the shape of a tensor is out of range"),
  /** A tensor's bytes begin behind their end, or before the data. */
  BAD_OFFSETS("the bytes of a tensor begin behind their end"),
  /** A tensor's bytes end behind the file. */
  OFFSETS_BEYOND_FILE("the bytes of a tensor end behind the file"),
  /** A tensor has more or fewer bytes than its shape needs. */
  SIZE_MISMATCH("the bytes of a tensor are more or fewer than its shape needs"),
  /** Two tensors share bytes. */
  OVERLAPPING_OFFSETS("two tensors share bytes"),
  /** Bytes between two tensors belong to none. */
  HOLE("bytes between two tensors belong to neither"),
  /** Bytes behind the last tensor. */
  TRAILING_BYTES("bytes stand behind the last tensor");

  private final String sentence;

  SafetensorsFault(String sentence) {
    this.sentence = sentence;
  }

  /** One clause that says it. */
  String sentence() {
    return sentence;
  }
}
