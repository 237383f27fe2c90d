package dev.waymark.tools.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreOptions;
import dev.waymark.tools.Run;
import dev.waymark.tools.model.HybridModel;
import dev.waymark.tools.model.ModelConfig;
import dev.waymark.tools.model.ToyPrompts;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What a client of the example server sees. */
class CompletionsServerTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int DISCONNECTS = Integer.getInteger("disconnects", 200);

  @TempDir private Path dir;
  private SnapshotStore store;
  private CompletionsServer server;
  private final HttpClient http = HttpClient.newHttpClient();

  @BeforeEach
  void start() throws IOException {
    store =
        SnapshotStore.open(
            dir.resolve("store"),
            StoreOptions.builder().quota("64MiB").memoryBudget(4L << 20).build());
    server =
        new CompletionsServer(
            store, new HybridModel(ModelConfig.tiny()), 16, CompletionsServer.listen(0), 2);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
    store.close();
  }

  private HttpResponse<String> post(String body) throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + "/v1/completions");
    return http.send(
        HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.ofString(body)).build(),
        BodyHandlers.ofString());
  }

  private static String body(String prompt, int tokens, boolean stream) {
    return JSON.createObjectNode()
        .put("prompt", prompt)
        .put("max_tokens", tokens)
        .put("stream", stream)
        .toString();
  }

  @Test
  void aSecondRequestIsAnsweredFromTheStoreAndAlike() throws Exception {
    String prompt = ToyPrompts.text(1, 2_000);
    HttpResponse<String> cold = post(body(prompt, 20, false));
    HttpResponse<String> warm = post(body(prompt, 20, false));
    assertThat(cold.statusCode()).isEqualTo(200);
    JsonNode first = JSON.readTree(cold.body());
    JsonNode second = JSON.readTree(warm.body());
    assertThat(first.at("/usage/restored_tokens").asInt()).isZero();
    // The last point that the default policy keeps of this prompt.
    assertThat(second.at("/usage/restored_tokens").asInt())
        .isGreaterThan(second.at("/usage/prompt_tokens").asInt() / 2);
    assertThat(second.path("text")).isEqualTo(first.path("text"));

    String streamed = post(body(prompt, 20, true)).body();
    StringBuilder text = new StringBuilder();
    for (String line : streamed.split("\n\n")) {
      if (!line.endsWith("[DONE]")) {
        text.append(JSON.readTree(line.substring("data: ".length())).path("text").asText());
      }
    }
    assertThat(text.toString()).isEqualTo(first.path("text").asText());
    assertThat(streamed).endsWith("data: [DONE]\n\n");
  }

  @Test
  void whatDoesNotFitIsRefusedBeforeItBegins() throws Exception {
    HttpResponse<String> refused = post(body(ToyPrompts.text(1, 60_000), 1, true));
    assertThat(refused.statusCode()).isEqualTo(413);
    JsonNode error = JSON.readTree(refused.body()).path("error");
    assertThat(error.path("code").asText()).isEqualTo("REJECTED");
    assertThat(error.path("rejection").asText()).isEqualTo("MEMORY");
    assertThat(error.path("predicted_bytes").asLong()).isGreaterThan(4 << 20);
    assertThat(error.path("longest_tokens").asInt()).isPositive();
    assertThat(store.stats().boundaries()).isZero();
  }

  @Test
  void badRequestsAreTypedAndSayNothingOfThePrompt() throws Exception {
    for (String bad :
        new String[] {
          "secret words",
          "{\"prompt\":17}",
          "{}",
          "[".repeat(5_000),
          "{\"secret\":" + "9".repeat(5_000) + "}",
          "{\"" + "k".repeat(60_000) + "\":1}",
          "{\"prompt\":\"secret\"} secret",
          "{\"prompt\":\"secret\"}{\"prompt\":\"secret\"}",
          "{\"prompt\":\"secret\",\"prompt\":\"secret\"}",
          "{\"prompt\":\"secret\",\"stream\":\"secret\"}",
          "{\"prompt\":\"secret \\ud800\"}",
          "[{\"prompt\":\"secret\"}]",
          body("secret words", -1, false),
          body("", 1, false)
        }) {
      HttpResponse<String> refused = post(bad);
      assertThat(refused.statusCode()).as(bad).isEqualTo(400);
      assertThat(JSON.readTree(refused.body()).at("/error/message").asText())
          .isNotEmpty()
          .doesNotContain("secret");
    }
  }

  @Test
  void aBodyThatIsNotUtf8IsRefusedAndNotChanged() throws Exception {
    byte[] text = body("secret e\u0301", 1, false).getBytes(StandardCharsets.UTF_8);
    URI uri = URI.create("http://127.0.0.1:" + server.port() + "/v1/completions");
    for (int i = 0; i < text.length; i++) {
      if (text[i] < 0) {
        byte[] broken = text.clone();
        broken[i] = 'a';
        HttpResponse<String> refused =
            http.send(
                HttpRequest.newBuilder(uri)
                    .POST(HttpRequest.BodyPublishers.ofByteArray(broken))
                    .build(),
                BodyHandlers.ofString());
        requireTyped(refused, 400, "REQUEST");
        assertThat(refused.body()).contains("UTF-8").doesNotContain("secret");
      }
    }
    assertThat(post(new String(text, StandardCharsets.UTF_8)).statusCode()).isEqualTo(200);
  }

  private HttpResponse<String> send(String method, String path, String body)
      throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
    return http.send(
        HttpRequest.newBuilder(uri)
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  private static void requireTyped(HttpResponse<String> answer, int status, String code)
      throws IOException {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
    JsonNode error = JSON.readTree(answer.body()).path("error");
    assertThat(error.path("code").asText()).isEqualTo(code);
    assertThat(error.path("message").asText()).isNotEmpty();
  }

  @Test
  void pathsAndMethodsThatThereAreNotAreTyped() throws Exception {
    for (String path :
        new String[] {"/", "/v1", "/v1/completionsXYZ", "/v1/completions/", "/v1/statsX"}) {
      requireTyped(send("GET", path, ""), 404, "PATH");
      requireTyped(send("POST", path, body("words", 1, false)), 404, "PATH");
    }
    for (String method : new String[] {"GET", "PUT", "DELETE"}) {
      HttpResponse<String> refused = send(method, "/v1/completions", "");
      requireTyped(refused, 405, "METHOD");
      assertThat(refused.headers().firstValue("Allow")).contains("POST");
    }
    HttpResponse<String> refused = send("POST", "/v1/stats", "");
    requireTyped(refused, 405, "METHOD");
    assertThat(refused.headers().firstValue("Allow")).contains("GET");
    HttpResponse<String> head = send("HEAD", "/v1/completions", "");
    assertThat(head.statusCode()).isEqualTo(405);
    assertThat(head.body()).isEmpty();
    await(() -> stats().path("invalid").asInt() == 15);
  }

  /** Sent to its end by a client that looks at the answer only then. */
  @Test
  void aBodyThatIsTooLargeIsAnsweredAllTheSame() throws Exception {
    int bytes = 50_000_000;
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      OutputStream out = socket.getOutputStream();
      out.write(head(bytes).getBytes(StandardCharsets.US_ASCII));
      socket.setSoTimeout(60_000);
      byte[] piece = new byte[1_000_000];
      for (int sent = 0; sent < bytes; sent += piece.length) {
        out.write(piece);
      }
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(answer).startsWith("HTTP/1.1 413 ").contains("Connection: close");
      JsonNode error = JSON.readTree(answer.substring(answer.indexOf("\r\n\r\n"))).path("error");
      assertThat(error.path("code").asText()).isEqualTo("BODY");
    }
    await(() -> stats().path("invalid").asInt() == 1);
    assertThat(counted(stats())).isEqualTo(1);
  }

  @Test
  void aBodyOfBrokenChunksIsTyped() throws Exception {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout(60_000);
      socket
          .getOutputStream()
          .write(
              ("POST /v1/completions HTTP/1.1\r\nHost: x\r\n"
                      + "Transfer-Encoding: chunked\r\n\r\nno number\r\n")
                  .getBytes(StandardCharsets.US_ASCII));
      // The server waits for more of it, or for the connection's end.
      StringBuilder answer = new StringBuilder();
      while (answer.indexOf("}}") < 0) {
        int next = socket.getInputStream().read();
        assertThat(next).as(answer.toString()).isNotNegative();
        answer.append((char) next);
      }
      assertThat(answer).startsWith("HTTP/1.1 400 ").contains("\"code\":\"BODY\"");
    }
  }

  @Test
  void everyRequestIsCountedOnceAsWhatItWas() throws Exception {
    post(body("words", 1, false));
    post("no JSON");
    post(body("", 1, false));
    send("GET", "/v1/completions", "");
    post(body(ToyPrompts.text(1, 60_000), 1, false));
    // A request is counted once its answer is on the wire.
    await(() -> counted(stats()) >= 5);
    JsonNode stats = stats();
    assertThat(counted(stats)).isEqualTo(5);
    assertThat(stats.path("refused").asInt()).isEqualTo(1);
    assertThat(stats.path("answered").asInt()).isEqualTo(1);
    assertThat(stats.path("invalid").asInt()).isEqualTo(3);
  }

  private static int counted(JsonNode stats) {
    return Stream.of("answered", "refused", "invalid", "gone", "failed")
        .mapToInt(name -> stats.required(name).asInt())
        .sum();
  }

  @Test
  void aPortThatIsTakenIsNamed() {
    int port = server.port();
    assertThatThrownBy(() -> CompletionsServer.listen(port))
        .isInstanceOf(BindException.class)
        .hasMessage("port " + port + " is in use");
    Run run = Run.of("serve", dir.resolve("other"), "--port", port, "--json");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out())
        .contains("PORT_UNAVAILABLE", "port " + port + " is in use", "choose another with --port")
        .doesNotContain(dir.toString());
    assertThat(dir.resolve("other")).as("a store for nothing").doesNotExist();
  }

  /** The answer of a request that had begun is whole, whenever the server is closed. */
  @Test
  void closingLetsRequestsEnd() throws Exception {
    CompletableFuture<HttpResponse<String>> answer =
        http.sendAsync(
            HttpRequest.newBuilder(
                    URI.create("http://127.0.0.1:" + server.port() + "/v1/completions"))
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        body(ToyPrompts.text(3, 6_000), 100, false)))
                .build(),
            BodyHandlers.ofString());
    await(() -> store.stats().boundaries() >= 8);
    assertThat(answer).isNotDone();
    server.close(120);
    HttpResponse<String> whole = answer.get(1, TimeUnit.MINUTES);
    assertThat(whole.statusCode()).isEqualTo(200);
    assertThat(JSON.readTree(whole.body()).at("/usage/completion_tokens").asInt()).isEqualTo(100);
    assertThat(store.stats().openSessions()).isZero();
  }

  /** In the middle of the headers, of the body, or after it; closed or reset. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void connectionsThatEndHalfWayLeaveNoSocket() throws Exception {
    String body = body(ToyPrompts.text(5, 300), 1, false);
    byte[] request = (head(body.length()) + body).getBytes(StandardCharsets.UTF_8);
    Random random = new Random(DISCONNECTS);
    post(body);
    stats();
    long before = sockets();
    for (int i = 0; i < DISCONNECTS; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
        socket.setSoLinger(random.nextBoolean(), 0);
        socket.getOutputStream().write(request, 0, random.nextInt(request.length + 1));
      }
    }
    // The JVM keeps one of its own from the first close of a socket that another thread reads.
    await(() -> sockets() <= before + 1);
    assertThat(stats().path("answered").asInt()).isPositive();
  }

  /** Descriptors of this process that are sockets: files of the store come and go beside them. */
  private static long sockets() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.filter(CompletionsServerTest::isSocket).count();
    }
  }

  private static boolean isSocket(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().startsWith("socket:");
    } catch (IOException e) {
      return false; // It was closed just now.
    }
  }

  private static String head(int lengthBytes) {
    return "POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: "
        + lengthBytes
        + "\r\n\r\n";
  }

  /** What a client that went away had waited for is there for its retry. */
  @Test
  void aClientThatGoesAwayEndsItsPrefill() throws Exception {
    String prompt = ToyPrompts.text(3, 10_000);
    String body = body(prompt, 1, false);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.getOutputStream().write((head(body.length()) + body).getBytes(StandardCharsets.UTF_8));
      await(() -> store.stats().boundaries() >= 8);
    }
    await(() -> stats().path("gone").asInt() > 0);
    long boundaries = store.stats().boundaries();
    JsonNode retry = JSON.readTree(post(body).body());
    assertThat(boundaries * 16).isLessThan(retry.at("/usage/prompt_tokens").asLong() / 16 * 16);
    assertThat(retry.at("/usage/restored_tokens").asLong()).isEqualTo(boundaries * 16);
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    long patience = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (!condition.call()) {
      assertThat(System.nanoTime()).as("patience").isLessThan(patience);
      Thread.onSpinWait();
    }
  }

  private JsonNode stats() throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + "/v1/stats");
    return JSON.readTree(
        http.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body());
  }

  /** A short form of what {@link ServerLoad} does for as long as is wanted. */
  @Test
  void clientsThatComeAndGoLeaveNothingBehind() throws Exception {
    ServerLoad load = new ServerLoad(20, Duration.ofSeconds(4), 1);
    load.run(dir.resolve("load"));
    assertThat(load.wrong()).isEmpty();
    assertThat(load.answers()).containsKeys("200", "left");
  }
}
