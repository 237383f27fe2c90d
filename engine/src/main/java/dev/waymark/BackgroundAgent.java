package dev.waymark;

import dev.waymark.error.WaymarkException;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Forces what has waited long enough, gives dead bytes back, publishes the status. */
final class BackgroundAgent implements Agent {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotStore.class);
  private static final long STATUS_MILLIS = 1_000;
  private static final int IDLE_MILLIS = 5;

  private final StoreEngine engine;
  private AgentRunner runner;
  private long lastCommitMillis;
  private long lastStatusMillis;
  private boolean failing;

  BackgroundAgent(StoreEngine engine) {
    this.engine = engine;
    this.lastCommitMillis = engine.clockMillis.getAsLong();
  }

  void start() {
    runner =
        new AgentRunner(
            new SleepingMillisIdleStrategy(IDLE_MILLIS),
            failure -> LOG.error("The background thread failed: {}", failure.toString()),
            null,
            this);
    AgentRunner.startOnThread(
        runner,
        task -> {
          Thread thread = new Thread(task, roleName());
          thread.setDaemon(true);
          return thread;
        });
  }

  void stop() {
    if (runner != null) {
      runner.close();
    }
  }

  @Override
  public int doWork() {
    int work = 0;
    long now = engine.clockMillis.getAsLong();
    engine.endSessions();
    boolean due =
        runner == null
            || Math.abs(now - lastCommitMillis) >= engine.options.groupMillis()
            || engine.publisher.unforcedBytes() >= engine.options.groupBytes();
    if (due && engine.publisher.hasPending()) {
      try {
        engine.publisher.commit();
        failing = false;
      } catch (WaymarkException e) {
        if (!failing) {
          LOG.warn("Appended data could not be made durable yet: {}", e.getMessage());
        }
        failing = true;
      }
      lastCommitMillis = now;
      work++;
    }
    if (due && !failing && engine.reclaim() > 0) {
      work++;
    }
    engine.space.keepWithin();
    if (Math.abs(now - lastStatusMillis) >= STATUS_MILLIS) {
      engine.publishStatus();
      lastStatusMillis = now;
    }
    return work;
  }

  @Override
  public String roleName() {
    return "waymark-agent";
  }
}
