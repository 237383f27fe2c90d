package dev.waymark.tools.replay;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The fields of one JSON object that matter here: a whole line of a trace, or a request nested in
 * one. What it has no use for is skipped without being kept.
 */
final class TraceRecord {
  private static final long[] NO_IDS = {};

  private String id = "";
  private int blockSize;
  private double time;
  private boolean hasTime;
  private boolean hasChat;
  private long[] hashIds;
  private List<TraceRecord> requests;

  private TraceRecord() {}

  /** Thrown for a field that is there and is not what it should be. */
  static final class FieldException extends Exception {
    private static final long serialVersionUID = 1L;

    FieldException(String expected) {
      super(expected);
    }
  }

  /** Reads the object on whose opening brace the parser stands. */
  static TraceRecord read(JsonParser parser) throws IOException, FieldException {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw new FieldException("an object");
    }
    TraceRecord record = new TraceRecord();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      JsonToken value = parser.nextToken();
      switch (name) {
        case "id" -> record.id = value.isScalarValue() ? parser.getText() : "";
        case "block_size" -> record.blockSize = positiveInt(parser, name);
        case "t", "timestamp" -> {
          record.time = number(parser, name);
          record.hasTime = true;
        }
        case "chat_id" -> record.hasChat = true;
        case "hash_ids" -> record.hashIds = ids(parser, name);
        case "requests" -> {
          if (value != JsonToken.START_ARRAY) {
            throw new FieldException("requests as an array");
          }
          record.requests = records(parser);
        }
        default -> {}
      }
      parser.skipChildren();
    }
    return record;
  }

  /** The record's name, or "". */
  String id() {
    return id;
  }

  /** Tokens a block, 0 where the record does not say. */
  int blockSize() {
    return blockSize;
  }

  /** Its time in its own unit, 0 where it does not say. */
  double time() {
    return time;
  }

  /** Its block ids; none where it is only the head of nested requests. */
  long[] hashIds() {
    return hashIds == null ? NO_IDS : hashIds;
  }

  /** Whether it has block ids, be it none of them. */
  boolean isRequest() {
    return hashIds != null;
  }

  /** Requests nested in it. */
  List<TraceRecord> requests() {
    return requests == null ? List.of() : requests;
  }

  /** The kind of trace that a line with these fields belongs to, or null. */
  TraceKind kind() {
    if (requests != null && blockSize > 0) {
      return TraceKind.SESSIONS;
    }
    if (hashIds == null || !hasTime) {
      return null;
    }
    return hasChat ? TraceKind.BAILIAN : TraceKind.MOONCAKE;
  }

  private static List<TraceRecord> records(JsonParser parser) throws IOException, FieldException {
    List<TraceRecord> records = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      TraceRecord record = read(parser);
      if (!record.isRequest() && record.requests == null) {
        throw new FieldException("hash_ids or requests in each of requests");
      }
      records.add(record);
    }
    return records;
  }

  private static long[] ids(JsonParser parser, String name) throws IOException, FieldException {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      throw new FieldException(name + " as an array of whole numbers");
    }
    long[] ids = new long[64];
    int count = 0;
    for (JsonToken token = parser.nextToken();
        token != JsonToken.END_ARRAY;
        token = parser.nextToken()) {
      if (token != JsonToken.VALUE_NUMBER_INT) {
        throw new FieldException(name + " as an array of whole numbers");
      }
      if (count == ids.length) {
        ids = Arrays.copyOf(ids, 2 * count);
      }
      ids[count++] = parser.getLongValue();
    }
    return Arrays.copyOf(ids, count);
  }

  private static double number(JsonParser parser, String name) throws IOException, FieldException {
    if (!parser.currentToken().isNumeric()) {
      throw new FieldException(name + " as a number");
    }
    return parser.getDoubleValue();
  }

  private static int positiveInt(JsonParser parser, String name)
      throws IOException, FieldException {
    if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT || parser.getLongValue() < 1) {
      throw new FieldException(name + " as a whole number of 1 or more");
    }
    return parser.getIntValue();
  }
}
