package dev.waymark.tools.server;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import dev.waymark.error.RejectedException;
import dev.waymark.error.WaymarkException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** How the server answers: with JSON, also where it refuses. */
final class Answer {
  private static final int TOO_LARGE = 413;
  private static final int TOO_MANY = 429;
  private static final int UNAVAILABLE = 503;
  private static final int INSUFFICIENT_STORAGE = 507;
  private static final int CLIENT_CLOSED = 499;

  private static final long MOST_DRAINED_BYTES = 64L << 20;
  private static final long MOST_DRAINING_NANOS = 2_000_000_000L;

  private Answer() {}

  static void json(HttpExchange exchange, int status, ObjectNode body) throws IOException {
    byte[] bytes = body.toString().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.sendResponseHeaders(status, -1);
      return;
    }
    exchange.sendResponseHeaders(status, bytes.length);
    OutputStream out = exchange.getResponseBody();
    try {
      out.write(bytes);
      out.flush();
    } catch (IOException e) {
      abandon(exchange);
      throw e;
    }
    drain(exchange.getRequestBody());
    out.close();
  }

  /**
   * Closes the connection of a client that cannot be written to. The JDK's exchange closes it only
   * if closing the answer's stream fails, and a stream that failed before is closed without fault.
   */
  static void abandon(HttpExchange exchange) {
    exchange.setStreams(
        null,
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("the client is gone");
          }

          @Override
          public void close() throws IOException {
            throw new IOException("the client is gone");
          }
        });
    exchange.close();
  }

  /** Ends the exchange of a client that is gone, so that the JDK's server forgets it. */
  static void gone(HttpExchange exchange) throws IOException {
    exchange.sendResponseHeaders(CLIENT_CLOSED, -1);
  }

  /**
   * Takes what a client still sends, in bounds: where a connection is closed on bytes that nobody
   * read, its client may never see the answer. The time bounds one that goes on sending; one that
   * stops and stays holds its thread, here as in the middle of a body that is wanted: what the
   * JDK's server reads can neither be polled nor given up, and only its own limit ({@code
   * sun.net.httpserver.maxReqTime}) ends it.
   */
  private static void drain(InputStream in) {
    byte[] buffer = new byte[16 << 10];
    long end = System.nanoTime() + MOST_DRAINING_NANOS;
    long left = MOST_DRAINED_BYTES;
    try {
      while (left > 0 && System.nanoTime() - end < 0) {
        int n = in.read(buffer);
        if (n < 0) {
          return;
        }
        left -= n;
      }
    } catch (IOException e) {
      // It has its answer, and does not send the rest.
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

  /** A refusal of what was asked. */
  static void error(HttpExchange exchange, BadRequestException e) throws IOException {
    error(exchange, e.status(), e.code(), e.getMessage());
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
