package dev.waymark.sim;

import dev.waymark.error.ErrorDetail;
import dev.waymark.error.StoreIoException;
import dev.waymark.error.StoreLockedException;
import dev.waymark.internal.io.FileSystemTraits;
import dev.waymark.internal.io.StoreDirectory;
import dev.waymark.internal.io.StoreFile;
import dev.waymark.internal.io.YieldPoints;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A store directory in memory, as one process sees it. {@link #another} gives the view of another
 * process on the same disk; {@link #killState} and {@link #crashState} give the disk as the next
 * process finds it.
 *
 * <p>Strict where the real one is merely undefined: calls on what is closed, opening the lock file
 * while the lock is held, and puts into ranges that were never allocated are errors of the caller
 * and throw as such.
 */
public final class SimulatedDirectory implements StoreDirectory {
  private static final String LOCK = "LOCK";

  private final SimulatedDisk disk;
  private volatile YieldPoints yieldPoints = YieldPoints.NONE;
  private boolean closed;

  /** A directory on a new disk that behaves as the defaults say. */
  public SimulatedDirectory() {
    this(SimulationSettings.defaults());
  }

  /** A directory on a new disk. */
  public SimulatedDirectory(SimulationSettings settings) {
    this(new SimulatedDisk(settings));
  }

  private SimulatedDirectory(SimulatedDisk disk) {
    this.disk = disk;
  }

  // ------------------------------------------------------------------ StoreDirectory

  @Override
  public String label() {
    return disk.settings().label();
  }

  @Override
  public List<String> list() {
    synchronized (disk) {
      check();
      return new ArrayList<>(disk.names().names());
    }
  }

  @Override
  public boolean exists(String name) {
    synchronized (disk) {
      check();
      return disk.names().get(checked(name)) != null;
    }
  }

  @Override
  public StoreFile create(String name) {
    reached(OperationKind.CREATE);
    synchronized (disk) {
      check();
      change(OperationKind.CREATE, checked(name));
      if (disk.names().get(name) != null) {
        throw failure("file exists", name);
      }
      return new SimulatedFile(this, disk, name, disk.create(name), true);
    }
  }

  @Override
  public StoreFile open(String name) {
    return open(name, true);
  }

  @Override
  public StoreFile openReadOnly(String name) {
    return open(name, false);
  }

  private StoreFile open(String name, boolean writable) {
    reached(OperationKind.OPEN);
    synchronized (disk) {
      check();
      disk.enter(OperationKind.OPEN, checked(name), 0, 0);
      if (name.equals(LOCK) && disk.lockHolder() == this) {
        throw new AssertionError("closing a second descriptor of LOCK would give the lock away");
      }
      return new SimulatedFile(this, disk, name, existing(name), writable);
    }
  }

  @Override
  public void rename(String from, String to) {
    reached(OperationKind.RENAME);
    synchronized (disk) {
      check();
      change(OperationKind.RENAME, checked(from) + " -> " + checked(to));
      existing(from);
      disk.rename(from, to);
    }
  }

  @Override
  public void delete(String name) {
    reached(OperationKind.DELETE);
    synchronized (disk) {
      check();
      change(OperationKind.DELETE, checked(name));
      existing(name);
      disk.delete(name);
    }
  }

  @Override
  public void force() {
    reached(OperationKind.DIRECTORY_FORCE);
    synchronized (disk) {
      check();
      disk.observe();
      SimulatedDisk.Passage passage = disk.pass(OperationKind.DIRECTORY_FORCE, "", 0, 0);
      if (passage.failure() == null) {
        disk.names().force(disk.settings().strictDirectoryForce());
      } else if (!disk.isPowerOff()) {
        disk.names().failForce();
      }
      passage.end();
    }
  }

  @Override
  public long usableBytes() {
    synchronized (disk) {
      check();
      return disk.freeBytes();
    }
  }

  @Override
  public FileSystemTraits traits() {
    return disk.settings().traits();
  }

  @Override
  public void lock() {
    reached(OperationKind.LOCK);
    synchronized (disk) {
      check();
      change(OperationKind.LOCK, LOCK);
      if (disk.lockHolder() != null) {
        throw new StoreLockedException(ErrorDetail.of("the store is open for writing").in(LOCK));
      }
      if (disk.names().get(LOCK) == null) {
        disk.create(LOCK);
      }
      disk.setLockHolder(this);
    }
  }

  @Override
  public boolean isLocked() {
    synchronized (disk) {
      return disk.lockHolder() == this;
    }
  }

  @Override
  public long allocatedBytes() {
    synchronized (disk) {
      check();
      return disk.allocatedBytes();
    }
  }

  @Override
  public void close() {
    synchronized (disk) {
      closed = true;
      if (disk.lockHolder() == this) {
        disk.setLockHolder(null);
      }
    }
  }

  // ------------------------------------------------------------------ driving it

  /** Another process on the same disk: no lock, nothing open. */
  public SimulatedDirectory another() {
    return new SimulatedDirectory(disk);
  }

  /**
   * Called on the thread of each call before it begins, outside any lock. Meant for an {@link
   * Interleaver}, and only where the caller holds no lock of its own.
   */
  public void setYieldPoints(YieldPoints hook) {
    yieldPoints = hook;
  }

  /** Plans a crash; replaces the plan before. */
  public void setCrashPlan(CrashPlan plan) {
    synchronized (disk) {
      disk.setPlan(plan);
    }
  }

  /**
   * A place at which the process may end and what is mapped may reach the disk. Give the engine
   * {@code directory::yieldPoint} as its yield points.
   */
  public void yieldPoint(String label) {
    synchronized (disk) {
      check();
      disk.observe();
      disk.enter(OperationKind.YIELD, label, 0, 0);
    }
  }

  /** How many crash points were passed: plan for any from 1 to this to repeat a run up to there. */
  public long crashPoints() {
    synchronized (disk) {
      return disk.crashPoints();
    }
  }

  /** Whether the planned crash has happened. */
  public boolean isPowerOff() {
    synchronized (disk) {
      return disk.isPowerOff();
    }
  }

  /** Adds a failure to come. */
  public void inject(Fault fault) {
    synchronized (disk) {
      disk.inject(fault);
    }
  }

  /** The faults' cause is gone. */
  public void clearFaults() {
    synchronized (disk) {
      disk.clearFaults();
    }
  }

  /** Makes the file system smaller or larger, as others use it up or free it. */
  public void setCapacityBytes(long bytes) {
    synchronized (disk) {
      disk.setCapacityBytes(bytes);
    }
  }

  /** Flips bits of a byte on the medium, unseen: durable at once, no call, no crash point. */
  public void flip(String name, long offset, int mask) {
    synchronized (disk) {
      existing(name).flip(offset, mask);
    }
  }

  // ------------------------------------------------------------------ what comes after

  /** The disk after a kill: all that was written is there, and as durable as it was. */
  public SimulatedDirectory killState() {
    synchronized (disk) {
      return new SimulatedDirectory(disk.afterKill());
    }
  }

  /** The disk after a power loss, by seeded choices. What is there is durable. */
  public SimulatedDirectory crashState(long seed) {
    return crashState(new RandomChoices(seed), "seed " + seed);
  }

  /** The disk after a power loss, by those choices. What is there is durable. */
  public SimulatedDirectory crashState(CrashChoices choices, String how) {
    synchronized (disk) {
      return new SimulatedDirectory(disk.afterPowerLoss(choices, how));
    }
  }

  SimulatedDisk disk() {
    return disk;
  }

  // ------------------------------------------------------------------ looking at it

  /** The last calls, oldest first. */
  public List<Operation> operations() {
    synchronized (disk) {
      return disk.log();
    }
  }

  /** A file's content as in memory. */
  public byte[] bytes(String name) {
    synchronized (disk) {
      Inode inode = existing(name);
      byte[] copy = new byte[Math.toIntExact(inode.lengthBytes())];
      inode.get(0, new UnsafeBuffer(copy), 0, copy.length);
      return copy;
    }
  }

  /** A hash of all names, lengths and bytes; not of what is allocated or durable. */
  public long contentHash() {
    synchronized (disk) {
      return disk.contentHash();
    }
  }

  /** Fails if a file or a region of this disk is open. */
  public void assertAllClosed() {
    synchronized (disk) {
      if (!disk.handles().isEmpty()) {
        throw new AssertionError("still open: " + disk.handles());
      }
    }
  }

  /** Each file with its length, what of it is in doubt, and the names that are. */
  @Override
  public String toString() {
    synchronized (disk) {
      return disk.toString();
    }
  }

  // ------------------------------------------------------------------ inside

  void reached(OperationKind kind) {
    yieldPoints.reached(kind.name());
  }

  /** A call that changes names is an observation point, before its effect. */
  private void change(OperationKind kind, String name) {
    disk.observe();
    disk.enter(kind, name, 0, 0);
  }

  private void check() {
    disk.checkPower();
    if (closed) {
      throw new IllegalStateException(label() + " is closed");
    }
  }

  private Inode existing(String name) {
    Inode inode = disk.names().get(name);
    if (inode == null) {
      throw failure("no such file", name);
    }
    return inode;
  }

  private static StoreIoException failure(String what, String name) {
    return new StoreIoException(ErrorDetail.of(what).in(name));
  }

  private static String checked(String name) {
    String last = name.startsWith("quarantine/") ? name.substring("quarantine/".length()) : name;
    if (last.isEmpty() || last.startsWith(".") || last.indexOf('/') >= 0) {
      throw new IllegalArgumentException("not a name in a store: " + name);
    }
    return name;
  }
}
