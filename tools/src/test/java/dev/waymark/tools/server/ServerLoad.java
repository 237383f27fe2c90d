package dev.waymark.tools.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.waymark.SnapshotStore;
import dev.waymark.StoreInspector;
import dev.waymark.StoreOptions;
import dev.waymark.StoreStats;
import dev.waymark.StoreVerifier;
import dev.waymark.tools.model.HybridModel;
import dev.waymark.tools.model.ModelConfig;
import dev.waymark.tools.model.ToyPrompts;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.stream.Stream;

/**
 * Drives the example server with clients of which a third go away at any moment, and looks at what
 * they leave.
 *
 * <p>{@code ServerLoad CLIENTS SECONDS SEED}: the last line says what was found; the exit code is 0
 * only if that is nothing.
 */
public final class ServerLoad {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int BLOCK_TOKENS = 16;
  private static final int SERVER_THREADS = 8;

  private final int clients;
  private final Duration duration;
  private final long seed;
  private final Map<String, Long> answers = new TreeMap<>();
  private final List<String> wrong = new ArrayList<>();
  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong samples = new AtomicLong();
  private final LongAccumulator mostAllocatedBytes = new LongAccumulator(Math::max, 0);
  private final LongAccumulator mostMemoryBytes = new LongAccumulator(Math::max, 0);
  private final StringBuilder figures = new StringBuilder();

  ServerLoad(int clients, Duration duration, long seed) {
    this.clients = clients;
    this.duration = duration;
    this.seed = seed;
  }

  /** Runs. */
  public static void main(String[] args) throws Exception {
    ServerLoad load =
        new ServerLoad(
            Integer.parseInt(args[0]),
            Duration.ofSeconds(Long.parseLong(args[1])),
            Long.parseLong(args[2]));
    Path dir = Files.createTempDirectory("waymark-load-");
    load.run(dir.resolve("store"));
    System.out.println(load.answers);
    System.out.println(load.figures);
    load.wrong.forEach(System.out::println);
    System.out.println(
        "server load: " + load.requests + " requests, " + load.wrong.size() + " wrong");
    System.exit(load.wrong.isEmpty() ? 0 : 1);
  }

  List<String> wrong() {
    return wrong;
  }

  Map<String, Long> answers() {
    return answers;
  }

  void run(Path store) throws Exception {
    HybridModel model = new HybridModel(ModelConfig.tiny());
    // Before anything that may keep a thread or a file open for good.
    try (SnapshotStore warm = SnapshotStore.open(store, options())) {
      try (CompletionsServer server = server(warm, model)) {
        request(server.port(), body(new Random(seed), 0), new Random(seed), false);
      }
    }
    int threads = liveThreads();
    long descriptors = descriptors();
    long liveBytes;
    try (SnapshotStore snapshots = SnapshotStore.open(store, options())) {
      try (CompletionsServer server = server(snapshots, model)) {
        drive(server.port(), snapshots);
      }
      StoreStats stats = snapshots.stats();
      check(stats);
      liveBytes = stats.liveBytes();
      if (stats.admittedMemoryBytes() != 0 || stats.openSessions() != 0) {
        wrong("left: " + stats);
      }
      figures.append(stats.timings()).append('\n');
    }
    settle(threads, descriptors);
    figures.append(
        "%d samples: at most %d of %d bytes allocated, %d of %d of memory admitted%n"
            .formatted(
                samples.get(),
                mostAllocatedBytes.get(),
                options().quotaBytes(),
                mostMemoryBytes.get(),
                options().memoryBudgetBytes()));
    figures.append(
        "threads %d before, %d after; descriptors %d before, %d after%n"
            .formatted(threads, liveThreads(), descriptors, descriptors()));
    checkOrphans(store, liveBytes);
    StoreVerifier.Report report = StoreVerifier.verify(store, StoreVerifier.Level.ALL, bytes -> {});
    if (!report.findings().isEmpty()) {
      wrong("verify: " + report.findings());
    }
  }

  /**
   * Orphans are files that the manifest does not name, and bytes that the store which wrote counted
   * as live and that no boundary needs. What the file system takes for itself in files with holes
   * is neither: that is bounded.
   */
  private void checkOrphans(Path store, long liveBytes) {
    StoreInspector inspector = StoreInspector.open(store);
    StoreInspector.Totals totals = inspector.totals();
    long orphans =
        liveBytes
            - totals.liveBytes()
            + inspector.otherFiles().stream().mapToLong(file -> file.allocatedBytes()).sum();
    figures.append(
        "orphan bytes %d; allocated %d, live %d, dead %d, unaccounted %d; %d boundaries"
            .formatted(
                orphans,
                totals.allocatedBytes(),
                totals.liveBytes(),
                totals.deadBytes(),
                totals.unaccountedBytes(),
                inspector.summary().boundaries()));
    if (orphans != 0 || totals.unaccountedBytes() > totals.allocatedBytes() / 100 + (1 << 20)) {
      wrong("orphans: " + totals + inspector.otherFiles());
    }
    if (inspector.summary().openSessions() != 0 || !inspector.summary().isClosed()) {
      wrong("not closed: " + inspector.summary());
    }
  }

  private static StoreOptions options() {
    return StoreOptions.builder().quota("32MiB").memoryBudget(8L << 20).build();
  }

  private static CompletionsServer server(SnapshotStore store, HybridModel model)
      throws IOException {
    return new CompletionsServer(
        store, model, BLOCK_TOKENS, CompletionsServer.listen(0), SERVER_THREADS);
  }

  private void drive(int port, SnapshotStore store) throws InterruptedException {
    long end = System.nanoTime() + duration.toNanos();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      Random random = new Random(seed * 1_000_003 + i);
      int client = i;
      Thread thread = new Thread(() -> client(port, store, random, client, end), "client-" + i);
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void client(int port, SnapshotStore store, Random random, int client, long end) {
    for (int turn = 0; System.nanoTime() < end; turn++) {
      try {
        request(port, body(random, client % 10), random, random.nextInt(3) == 0);
        requests.incrementAndGet();
        check(store.stats());
      } catch (IOException | RuntimeException e) {
        wrong("client " + client + ", turn " + turn + ": " + e);
      }
    }
  }

  /** Some share a beginning; some are too long for the memory there is. */
  private static String body(Random random, int conversation) {
    int chars = random.nextInt(40) == 0 ? 200_000 : 50 + random.nextInt(3_000);
    return JSON.createObjectNode()
        .put("prompt", ToyPrompts.text(conversation, chars))
        .put("max_tokens", random.nextInt(40))
        .put("stream", random.nextBoolean())
        .toString();
  }

  private void request(int port, String body, Random random, boolean leave) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    String head =
        "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
            + bytes.length
            + "\r\n\r\n";
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(120_000);
      ByteArrayOutputStream request = new ByteArrayOutputStream();
      request.write(head.getBytes(StandardCharsets.US_ASCII));
      request.write(bytes);
      if (leave) {
        leave(socket, request.toByteArray(), random);
        count("left");
        return;
      }
      socket.getOutputStream().write(request.toByteArray());
      answer(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /** In the middle of the request, while it is computed, or in the middle of the answer. */
  private static void leave(Socket socket, byte[] request, Random random) throws IOException {
    int sent = random.nextInt(4) == 0 ? random.nextInt(request.length) : request.length;
    socket.getOutputStream().write(request, 0, sent);
    if (random.nextBoolean()) {
      socket.setSoLinger(true, 0);
    }
    if (sent == request.length && random.nextBoolean()) {
      // Until it may have begun, or until something of the answer is there.
      socket.setSoTimeout(1 + random.nextInt(50));
      InputStream in = socket.getInputStream();
      try {
        in.read(new byte[1 + random.nextInt(200)]);
      } catch (java.net.SocketTimeoutException e) {
        // Gone before that.
      }
    }
  }

  private void answer(String response) throws IOException {
    int headEnd = response.indexOf("\r\n\r\n");
    if (!response.startsWith("HTTP/1.1 ") || headEnd < 0) {
      wrong("no answer: " + response.length() + " characters");
      return;
    }
    int status = Integer.parseInt(response.substring(9, 12));
    String body = response.substring(headEnd + 4);
    if (status == 200) {
      boolean whole = body.contains("[DONE]") || JSON.readTree(body).has("usage");
      if (!whole) {
        wrong("an answer that breaks off after " + body.length());
      }
      count("200");
      return;
    }
    JsonNode error = JSON.readTree(body).path("error");
    if (status != 507 && (status < 400 || status >= 500)
        || error.path("code").asText().isEmpty()
        || error.path("message").asText().isEmpty()) {
      wrong("an answer of " + status + " that is not typed: " + error);
    }
    count(status + " " + error.path("code").asText() + " " + error.path("rejection").asText());
  }

  private void check(StoreStats stats) {
    samples.incrementAndGet();
    mostAllocatedBytes.accumulate(stats.allocatedBytes());
    mostMemoryBytes.accumulate(stats.admittedMemoryBytes());
    if (stats.admittedMemoryBytes() > options().memoryBudgetBytes()) {
      wrong("above the memory budget: " + stats.admittedMemoryBytes());
    }
    long sum = stats.liveBytes() + stats.deadBytes() + stats.framingBytes() + stats.reservedBytes();
    if (stats.allocatedBytes() > stats.quotaBytes()) {
      wrong("above the quota: " + stats.allocatedBytes());
    }
    if (sum != stats.allocatedBytes()) {
      wrong("an account that does not add up: " + stats);
    }
  }

  /** Threads and descriptors that were opened for the load are gone, at the latest soon. */
  private void settle(int threads, long descriptors) throws InterruptedException {
    long patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (System.nanoTime() < patience
        && (liveThreads() > threads || descriptors() > descriptors)) {
      Thread.onSpinWait();
    }
    if (liveThreads() > threads) {
      wrong(
          "threads left: " + (liveThreads() - threads) + " " + Thread.getAllStackTraces().keySet());
    }
    if (descriptors() > descriptors) {
      wrong("descriptors left: " + (descriptors() - descriptors));
    }
  }

  private static int liveThreads() {
    return Thread.getAllStackTraces().size();
  }

  private static long descriptors() {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    } catch (IOException e) {
      return 0;
    }
  }

  private synchronized void wrong(String what) {
    wrong.add(what);
  }

  private synchronized void count(String answer) {
    answers.merge(answer, 1L, Long::sum);
  }
}
