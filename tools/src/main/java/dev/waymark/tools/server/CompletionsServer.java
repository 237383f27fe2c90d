package dev.waymark.tools.server;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreStats;
import dev.waymark.error.WaymarkException;
import dev.waymark.tools.model.CachedModel;
import dev.waymark.tools.model.HybridModel;
import dev.waymark.tools.model.ToyTokenizer;
import dev.waymark.tools.model.Turn;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;

/**
 * Answers {@code POST /v1/completions} on the loopback address with a small model whose state is
 * kept in a store: admit, restore, prefill, generate. The headers of an answer are held back until
 * the prompt is done, so that a refusal at any point before is a status and a typed error, never a
 * 200 that breaks off; and a client that goes away aborts its prefill, of which the retry finds
 * what was computed.
 *
 * <p>{@code GET /v1/stats} says what was asked and what the store holds.
 *
 * <p>Every request that the JDK's server can read has a typed answer in JSON. What it cannot read
 * never comes here: to a line that is no request line or a target that does not begin with a slash
 * it answers by itself, with a line of HTML; where headers are beyond its limits, or a request
 * takes longer than {@code sun.net.httpserver.maxReqTime} to come, it hangs up; until then a body
 * that stalls holds one of the threads.
 *
 * <p>Invariants: each request for a completion is counted once, as answered, refused by the store,
 * invalid, of a client that went away, or failed, by a fault of the server or after its answer had
 * begun; every other path is only counted where it is invalid.
 */
public final class CompletionsServer implements AutoCloseable {
  private static final String COMPLETIONS = "/v1/completions";
  private static final int MOST_BODY_BYTES = 1 << 20;
  private static final int STREAM_TOKENS = 4;
  private static final int PATIENCE_SECONDS = 10;

  private final SnapshotStore store;
  private final CachedModel model;
  private final ToyTokenizer tokenizer;
  private final HttpServer server;
  private final ExecutorService workers;
  private final ClientWatch clients;

  private final LongAdder answered = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder invalid = new LongAdder();
  private final LongAdder gone = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder unstored = new LongAdder();

  /** One party each request that is under way, and the server until it closes. */
  private final Phaser running = new Phaser(1);

  private volatile boolean closing;

  /** The client went away while its prompt was computed. */
  private static final class ClientGoneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ClientGoneException() {
      super(null, null, false, false);
    }
  }

  /**
   * Listens for clients; they wait until a server starts on it.
   *
   * @param port or 0 for any that is free
   * @throws java.net.BindException if the port is in use, or not allowed
   */
  public static ServerSocket listen(int port) throws IOException {
    return ClientWatch.listen(port);
  }

  /**
   * Starts.
   *
   * @param store where state is kept; stays the caller's to close, after this
   * @param front where clients connect; closed with this
   * @param threads requests that are computed at the same time
   */
  public CompletionsServer(
      SnapshotStore store, HybridModel model, int blockTokens, ServerSocket front, int threads)
      throws IOException {
    this.store = store;
    this.model = new CachedModel(model, store, blockTokens);
    this.tokenizer = new ToyTokenizer(model.config().vocab());
    this.server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 512);
    this.clients = new ClientWatch(front, server.getAddress());
    this.workers = Executors.newFixedThreadPool(threads);
    server.setExecutor(workers);
    server.createContext("/", this::handle);
    server.start();
  }

  /** The port that clients connect to. */
  public int port() {
    return clients.port();
  }

  /** Whatever happens, the client has a typed answer, or is gone. */
  private void handle(HttpExchange exchange) {
    running.register();
    LongAdder outcome = failed;
    try (exchange) {
      outcome = answer(exchange);
    } catch (IOException e) {
      outcome = gone;
    } finally {
      if (outcome == invalid || COMPLETIONS.equals(exchange.getRequestURI().getPath())) {
        outcome.increment();
      }
      running.arriveAndDeregister();
    }
  }

  /** Answers, whatever happens; what the request counts as. */
  private LongAdder answer(HttpExchange exchange) throws IOException {
    try {
      return route(exchange);
    } catch (BadRequestException e) {
      Answer.error(exchange, e);
      return invalid;
    } catch (ClientGoneException e) {
      Answer.gone(exchange);
      return gone;
    } catch (RuntimeException | Error e) {
      if (exchange.getResponseCode() >= 0) {
        return failed; // The answer has begun: that it breaks off is all that can be said.
      }
      if (e instanceof WaymarkException refusal) {
        Answer.error(exchange, refusal);
        return refused;
      }
      Answer.error(exchange, 500, "BUG", "the server failed: " + e.getClass().getSimpleName());
      return failed;
    }
  }

  private LongAdder route(HttpExchange exchange) throws IOException, BadRequestException {
    String path = exchange.getRequestURI().getPath();
    switch (path == null ? "" : path) {
      case COMPLETIONS -> {
        requireMethod(exchange, "POST");
        if (closing) {
          Answer.error(exchange, 503, "CLOSING", "the server is closing; try again later");
          return refused;
        }
        complete(exchange, CompletionRequest.parse(body(exchange)));
        return answered;
      }
      case "/v1/stats" -> {
        requireMethod(exchange, "GET");
        stats(exchange);
        return answered;
      }
      default ->
          throw new BadRequestException(
              404, "PATH", "expected POST /v1/completions or GET /v1/stats");
    }
  }

  private static void requireMethod(HttpExchange exchange, String method)
      throws BadRequestException {
    if (!exchange.getRequestMethod().equals(method)) {
      exchange.getResponseHeaders().set("Allow", method);
      throw new BadRequestException(405, "METHOD", "expected " + method);
    }
  }

  private byte[] body(HttpExchange exchange) throws IOException, BadRequestException {
    byte[] body;
    try {
      body = exchange.getRequestBody().readNBytes(MOST_BODY_BYTES + 1);
    } catch (IOException e) {
      requireClient(exchange);
      throw new BadRequestException(400, "BODY", "the body cannot be read to its end");
    }
    if (body.length > MOST_BODY_BYTES) {
      exchange.getResponseHeaders().set("Connection", "close");
      throw new BadRequestException(
          413, "BODY", "expected a body of at most " + MOST_BODY_BYTES + " bytes");
    }
    return body;
  }

  private void complete(HttpExchange exchange, CompletionRequest request) throws IOException {
    int[] prompt = tokenizer.encode(request.prompt());
    requireClient(exchange);
    // Closed before its prompt is done, a turn is aborted; what it stored is kept for the retry.
    try (Turn turn = model.begin(prompt, request.maxTokens())) {
      finishPrompt(exchange, turn);
      if (request.stream()) {
        stream(exchange, turn, request.maxTokens());
      } else {
        answer(exchange, turn, request.maxTokens());
      }
      if (turn.storeFailure() != null) {
        unstored.increment();
      }
    }
  }

  /** Of a client that is gone the state is kept where it was: its retry goes on from there. */
  private void finishPrompt(HttpExchange exchange, Turn turn) {
    try {
      turn.finishPrompt(tokens -> requireClient(exchange));
    } catch (ClientGoneException e) {
      turn.abort();
      throw e;
    }
  }

  private void requireClient(HttpExchange exchange) {
    if (clients.isGone(exchange.getRemoteAddress())) {
      throw new ClientGoneException();
    }
  }

  private void answer(HttpExchange exchange, Turn turn, int tokens) throws IOException {
    ObjectNode body = Answer.object();
    body.put("text", tokenizer.decode(turn.generate(tokens)));
    body.putObject("usage")
        .put("prompt_tokens", turn.promptTokens())
        .put("restored_tokens", turn.restoredTokens())
        .put("completion_tokens", tokens);
    Answer.json(exchange, 200, body);
  }

  private void stream(HttpExchange exchange, Turn turn, int tokens) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    try {
      OutputStream out = exchange.getResponseBody();
      for (int done = 0; done < tokens; done += STREAM_TOKENS) {
        ObjectNode event = Answer.object();
        int[] next = turn.generate(Math.min(STREAM_TOKENS, tokens - done));
        event.put("text", tokenizer.decode(next));
        send(out, event.toString());
      }
      send(out, "[DONE]");
      out.close();
    } catch (IOException | RuntimeException | Error e) {
      // Closed as usual, what breaks off would look whole.
      Answer.abandon(exchange);
      throw e;
    }
  }

  private static void send(OutputStream out, String data) throws IOException {
    out.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private void stats(HttpExchange exchange) throws IOException {
    StoreStats stats = store.stats();
    ObjectNode body = Answer.object();
    body.put("answered", answered.sum()).put("refused", refused.sum());
    body.put("invalid", invalid.sum()).put("gone", gone.sum()).put("failed", failed.sum());
    body.put("unstored", unstored.sum());
    body.put("boundaries", stats.boundaries()).put("points", stats.points());
    body.put("allocated_bytes", stats.allocatedBytes()).put("quota_bytes", stats.quotaBytes());
    body.put("restored_bytes", stats.restoredBytes());
    Answer.json(exchange, 200, body);
  }

  /**
   * Takes no more requests, lets those that are under way end, for ten seconds, and stops. What
   * goes on longer is aborted, as if its client had gone.
   */
  @Override
  public void close() throws IOException {
    close(PATIENCE_SECONDS);
  }

  /** The same with another patience. */
  void close(long patienceSeconds) throws IOException {
    clients.stopAccepting();
    closing = true;
    try {
      int phase = running.arriveAndDeregister();
      running.awaitAdvanceInterruptibly(phase, patienceSeconds, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      // Their connections are closed now, which ends them.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    server.stop(0);
    clients.close();
    workers.shutdown();
    try {
      workers.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
