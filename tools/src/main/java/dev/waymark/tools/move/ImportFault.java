package dev.waymark.tools.move;

import dev.waymark.error.ErrorCode;

/** What can be wrong with what is to be imported; stable names, which JSON errors show. */
public enum ImportFault {
  /** A link, or something else that is no plain file, where a file should be. */
  NOT_A_PLAIN_FILE(ErrorCode.INVALID_ARGUMENT, "what is to be imported is not a plain file"),
  /** A file is not the one any more that was checked. */
  FILE_CHANGED(ErrorCode.IO_FAILURE, "a file changed while it was read"),
  /** Two names in a folder differ by case only. */
  NAMES_DIFFER_BY_CASE(ErrorCode.INVALID_ARGUMENT, "two names in the folder differ by case only"),
  /** There is nothing to import. */
  NOTHING_THERE(ErrorCode.INVALID_ARGUMENT, "there is nothing to import"),
  /** Neither a mapping nor the file's own metadata says what the state is made of. */
  NO_LAYOUT(ErrorCode.INVALID_ARGUMENT, "nothing says what the state is made of"),
  /** The mapping is not what it should be. */
  BAD_MAPPING(ErrorCode.INVALID_ARGUMENT, "the mapping is not valid"),
  /** A tensor of the layout is not in the file. */
  TENSOR_MISSING(ErrorCode.CORRUPTION, "a tensor of the layout is not in the file"),
  /** A tensor has another dtype or shape than the layout says. */
  TENSOR_DIFFERS(ErrorCode.CORRUPTION, "a tensor differs from the layout"),
  /** A file is longer in one piece than can be taken in. */
  TOO_LARGE(ErrorCode.INVALID_ARGUMENT, "a piece of the file is too large to be taken in"),
  /** A block's file has another name, or stands in another folder, than its hash says. */
  BLOCK_MISPLACED(ErrorCode.CORRUPTION, "a block's file is not where its hash belongs"),
  /** A block's metadata lacks something, or contradicts itself. */
  BAD_BLOCK_METADATA(ErrorCode.CORRUPTION, "the metadata of a block is not valid"),
  /** A block was written by a version that is not known. */
  BLOCK_VERSION(ErrorCode.UNSUPPORTED_FORMAT, "the block has a version that is not known here"),
  /** A layer's cache has a type that is not known. */
  UNKNOWN_CACHE_TYPE(ErrorCode.UNSUPPORTED_FORMAT, "a layer's cache has a type not known here"),
  /** A companion is not what it should be. */
  BAD_COMPANION(ErrorCode.CORRUPTION, "the companion of a block is not valid"),
  /** Blocks are each other's parents. */
  PARENT_CYCLE(ErrorCode.CORRUPTION, "blocks are each other's parents"),
  /** A companion says another position than its parent's. */
  POSITION_CONTRADICTS(ErrorCode.CORRUPTION, "a block does not begin where its parent ends"),
  /** The file is no archive. */
  NOT_AN_ARCHIVE(ErrorCode.INVALID_ARGUMENT, "the file is not an archive"),
  /** The archive was written by a newer version. */
  ARCHIVE_VERSION(ErrorCode.UNSUPPORTED_FORMAT, "a newer version wrote the archive"),
  /** The archive ends inside a record, or before its last one. */
  ARCHIVE_CUT_SHORT(ErrorCode.CORRUPTION, "the archive is cut short"),
  /** A record is not what was written, or not where it was written. */
  ARCHIVE_HASH_DIFFERS(ErrorCode.CORRUPTION, "a record of the archive has another hash"),
  /** The front of a record is not valid. */
  ARCHIVE_BAD_RECORD(ErrorCode.CORRUPTION, "a record of the archive is not valid"),
  /** A record contradicts those before it. */
  ARCHIVE_CONTRADICTS(ErrorCode.CORRUPTION, "a record of the archive contradicts those before it"),
  /** A name in the archive stands for another chain in the store. */
  NAME_IN_USE(ErrorCode.INVALID_ARGUMENT, "a name keeps another chain in this store"),
  /** Bytes stand behind the last record. */
  ARCHIVE_TRAILING_BYTES(ErrorCode.CORRUPTION, "bytes stand behind the archive's last record");

  private final ErrorCode code;
  private final String sentence;

  ImportFault(ErrorCode code, String sentence) {
    this.code = code;
    this.sentence = sentence;
  }

  ErrorCode code() {
    return code;
  }

  String sentence() {
    return sentence;
  }
}
