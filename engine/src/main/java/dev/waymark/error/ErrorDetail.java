package dev.waymark.error;

import java.util.OptionalLong;

/**
 * What a failure says: what happened, where, what was expected and found, and what to do. Never
 * holds prompt text, token ids or whole keys.
 *
 * @param what one clause saying what failed
 * @param file name of the file inside the store, or empty
 * @param offsetBytes byte offset in that file, or empty
 * @param expected what should have been there, or empty
 * @param found what was there, or empty
 * @param remedy what the reader of the message can do, or empty
 */
public record ErrorDetail(
    String what,
    String file,
    OptionalLong offsetBytes,
    String expected,
    String found,
    String remedy) {

  /**
   * Starts a detail from the clause that says what failed.
   *
   * @param what the clause, without a full stop
   * @return a detail that has nothing else yet
   */
  public static ErrorDetail of(String what) {
    return new ErrorDetail(what, "", OptionalLong.empty(), "", "", "");
  }

  /**
   * Returns a copy that names the file.
   *
   * @param fileName name inside the directory
   * @return the copy
   */
  public ErrorDetail in(String fileName) {
    return new ErrorDetail(what, fileName, offsetBytes, expected, found, remedy);
  }

  /**
   * Returns a copy that names the file and the byte offset in it.
   *
   * @param fileName name inside the directory
   * @param offset first byte that is meant
   * @return the copy
   */
  public ErrorDetail at(String fileName, long offset) {
    return new ErrorDetail(what, fileName, OptionalLong.of(offset), expected, found, remedy);
  }

  /**
   * Returns a copy with what was expected.
   *
   * @param value a number, or a few words
   * @return the copy
   */
  public ErrorDetail expected(Object value) {
    return new ErrorDetail(what, file, offsetBytes, String.valueOf(value), found, remedy);
  }

  /**
   * Returns a copy with what was found.
   *
   * @param value a number, or a few words
   * @return the copy
   */
  public ErrorDetail found(Object value) {
    return new ErrorDetail(what, file, offsetBytes, expected, String.valueOf(value), remedy);
  }

  /**
   * Returns a copy with what to do about it.
   *
   * @param text a clause in the imperative
   * @return the copy
   */
  public ErrorDetail remedy(String text) {
    return new ErrorDetail(what, file, offsetBytes, expected, found, text);
  }

  /** {@return the sentence that exceptions carry as their message} */
  public String sentence() {
    StringBuilder text = new StringBuilder(what);
    if (!file.isEmpty()) {
      text.append(" in ").append(file);
    }
    offsetBytes.ifPresent(offset -> text.append(" at byte ").append(offset));
    if (!expected.isEmpty()) {
      text.append(": expected ").append(expected);
    }
    if (!found.isEmpty()) {
      text.append(expected.isEmpty() ? ": found " : ", found ").append(found);
    }
    if (!remedy.isEmpty()) {
      text.append("; ").append(remedy);
    }
    return text.toString();
  }
}
