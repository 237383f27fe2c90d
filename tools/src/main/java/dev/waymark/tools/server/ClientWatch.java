package dev.waymark.tools.server;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands in front of an HTTP server on the same machine and passes bytes on, both ways; so that a
 * client that goes away while it waits for an answer is noticed at once. The JDK's server does not
 * look at a connection before it writes to it, and nothing may be written while a refusal is still
 * possible.
 *
 * <p>A client that closes only its own direction counts as gone too, as it does for most servers.
 */
final class ClientWatch implements Closeable {
  private static final int BUFFER_BYTES = 16 << 10;
  private static final int PATIENCE_SECONDS = 5;

  private final ServerSocket front;
  private final InetSocketAddress back;
  private final Map<SocketAddress, Connection> connections = new ConcurrentHashMap<>();
  private final ExecutorService threads;
  private volatile boolean closed;

  private record Connection(Socket client, Socket server) {
    void close() {
      closeQuietly(client);
      closeQuietly(server);
    }
  }

  /**
   * Begins.
   *
   * @param front where clients connect; closed with this
   * @param back where the server listens
   */
  ClientWatch(ServerSocket front, InetSocketAddress back) {
    this.back = back;
    this.front = front;
    AtomicInteger number = new AtomicInteger();
    this.threads =
        Executors.newCachedThreadPool(
            task -> {
              Thread thread = new Thread(task, "client-watch-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    threads.execute(this::accept);
  }

  /**
   * Listens on the loopback address.
   *
   * @param port or 0 for any that is free
   * @throws BindException if the port is in use, or not allowed
   */
  static ServerSocket listen(int port) throws IOException {
    try {
      return new ServerSocket(port, 512, InetAddress.getLoopbackAddress());
    } catch (BindException e) {
      boolean denied = String.valueOf(e.getMessage()).contains("denied");
      throw new BindException("port " + port + (denied ? " is not allowed" : " is in use"));
    }
  }

  /** Where clients connect to. */
  int port() {
    return front.getLocalPort();
  }

  /**
   * Whether the client of a connection is gone.
   *
   * @param remote the connection's other end, as the server sees it
   */
  boolean isGone(SocketAddress remote) {
    return !connections.containsKey(remote);
  }

  private void accept() {
    while (!closed) {
      try {
        Socket client = front.accept();
        try {
          threads.execute(() -> connect(client));
        } catch (RejectedExecutionException e) {
          closeQuietly(client);
        }
      } catch (IOException e) {
        // Closed, or one connection that failed before it began.
      }
    }
  }

  private void connect(Socket client) {
    Socket server = new Socket();
    try {
      server.connect(back);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
    } catch (IOException e) {
      closeQuietly(client);
      closeQuietly(server);
      return;
    }
    Connection connection = new Connection(client, server);
    SocketAddress key = server.getLocalSocketAddress();
    connections.put(key, connection);
    if (closed) {
      end(key, connection);
      return;
    }
    threads.execute(() -> pass(key, connection, server, client));
    pass(key, connection, client, server);
  }

  private void pass(SocketAddress key, Connection connection, Socket from, Socket to) {
    byte[] buffer = new byte[BUFFER_BYTES];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        out.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // Either end is gone: so is the connection.
    } finally {
      end(key, connection);
    }
  }

  private void end(SocketAddress key, Connection connection) {
    connections.remove(key, connection);
    connection.close();
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Nothing is lost with it.
    }
  }

  /** Takes no more connections; those that there are go on. */
  void stopAccepting() throws IOException {
    closed = true;
    front.close();
  }

  /** Passes on what the server, which was stopped, has answered, for a few seconds, and ends. */
  @Override
  public void close() throws IOException {
    stopAccepting();
    threads.shutdown();
    try {
      threads.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
      connections.forEach(this::end);
      threads.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      connections.forEach(this::end);
      Thread.currentThread().interrupt();
    }
  }
}
