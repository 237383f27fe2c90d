package dev.waymark;

import dev.waymark.error.WaymarkException;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forces what has waited long enough, gives dead bytes back, keeps the quota, publishes the status.
 *
 * <p>Invariants: what fails keeps nothing else from being done, is said once, and is tried again
 * after a while.
 */
final class BackgroundAgent implements Agent {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotStore.class);
  private static final long STATUS_MILLIS = 1_000;
  private static final int IDLE_MILLIS = 5;

  /** What failed is tried again after that. */
  private static final long RETRY_MILLIS = 1_000;

  private final StoreEngine engine;
  private final List<Step> steps;
  private final Step status;
  private AgentRunner runner;
  private long lastDueMillis;
  private long lastStatusMillis;

  BackgroundAgent(StoreEngine engine) {
    this.engine = engine;
    this.lastDueMillis = engine.clockMillis.getAsLong();
    this.steps =
        List.of(
            new Step("Appended data could not be made durable yet", this::commit),
            new Step("Dead bytes could not be given back yet", this::reclaim),
            new Step("The store could not be kept below its quota", this::keepWithin));
    this.status = new Step("STATUS could not be published yet", this::publishStatus);
  }

  /** One of the things that are done; that one fails keeps none of the others from being done. */
  private final class Step {
    private final String failureMessage;
    private final BooleanSupplier action;
    private boolean failing;
    private long failedMillis;

    Step(String failureMessage, BooleanSupplier action) {
      this.failureMessage = failureMessage;
      this.action = action;
    }

    /** Returns 1 if there was anything to do. */
    int run(long now) {
      if (failing && runner != null && Math.abs(now - failedMillis) < RETRY_MILLIS) {
        return 0;
      }
      try {
        boolean worked = action.getAsBoolean();
        failing = false;
        return worked ? 1 : 0;
      } catch (WaymarkException e) {
        if (!failing) {
          LOG.warn("{}: {}", failureMessage, e.getMessage());
        }
        failing = true;
        failedMillis = now;
        return 1;
      }
    }
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
    boolean due =
        runner == null
            || Math.abs(now - lastDueMillis) >= engine.options.groupMillis()
            || engine.publisher.unforcedBytes() >= engine.options.groupBytes();
    if (due) {
      lastDueMillis = now;
      engine.endSessions();
      for (Step step : steps) {
        work += step.run(now);
      }
    }
    if (Math.abs(now - lastStatusMillis) >= STATUS_MILLIS) {
      lastStatusMillis = now;
      status.run(now);
    }
    return work;
  }

  private boolean commit() {
    boolean pending = engine.publisher.hasPending();
    if (pending) {
      engine.publisher.commit();
    }
    return pending;
  }

  private boolean reclaim() {
    long bytes = engine.reclaim();
    WaymarkException failure = engine.segments.punchFailure();
    if (failure != null) {
      throw failure;
    }
    return bytes > 0;
  }

  private boolean keepWithin() {
    engine.space.keepWithin();
    return false;
  }

  private boolean publishStatus() {
    engine.publishStatus();
    return false;
  }

  @Override
  public String roleName() {
    return "waymark-agent";
  }
}
