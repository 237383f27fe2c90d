package dev.waymark.tools.server;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import dev.waymark.error.RejectedException;
import dev.waymark.error.WaymarkException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** How the server answers: with JSON, also where it refuses. */
final class Answer {
  private static final int TOO_LARGE = 413;
  private static final int TOO_MANY = 429;
  private static final int UNAVAILABLE = 503;
  private static final int INSUFFICIENT_STORAGE = 507;

  private Answer() {}

  static void json(HttpExchange exchange, int status, ObjectNode body) throws IOException {
    byte[] bytes = body.toString().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(bytes);
    }
  }

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** A refusal with its code and a sentence. */
  static void error(HttpExchange exchange, int status, String code, String message)
      throws IOException {
    json(exchange, status, body(code, message));
  }

  /** A refusal by the store, with its numbers where it has some. */
  static void error(HttpExchange exchange, WaymarkException e) throws IOException {
    ObjectNode body = body(e.code().name(), e.detail().sentence());
    if (e instanceof RejectedException rejected) {
      ((ObjectNode) body.get("error"))
          .put("rejection", rejected.rejection().name())
          .put("predicted_bytes", rejected.predictedBytes())
          .put("limit_bytes", rejected.limitBytes())
          .put("missing_bytes", rejected.missingBytes())
          .put("longest_tokens", rejected.longestTokens());
    }
    int status = status(e);
    if (status == TOO_MANY || status == UNAVAILABLE) {
      exchange.getResponseHeaders().set("Retry-After", "1");
    }
    json(exchange, status, body);
  }

  private static int status(WaymarkException e) {
    if (e instanceof RejectedException rejected) {
      return rejected.httpStatus();
    }
    return switch (e.code()) {
      case DISK_FULL, QUOTA_EXCEEDED, WRITE_BUDGET_EXHAUSTED -> INSUFFICIENT_STORAGE;
      case QUOTA_PINNED, BACK_PRESSURE -> TOO_MANY;
      case INVALID_ARGUMENT -> TOO_LARGE;
      default -> UNAVAILABLE;
    };
  }

  private static ObjectNode body(String code, String message) {
    ObjectNode body = object();
    body.putObject("error").put("code", code).put("message", message);
    return body;
  }
}
