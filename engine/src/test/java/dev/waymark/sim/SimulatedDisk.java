package dev.waymark.sim;

import dev.waymark.error.WaymarkException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The file system under one or more {@link SimulatedDirectory} objects, each of which stands for a
 * process: names, files, space, the lock, and the gate that every call passes, where faults and the
 * crash come in.
 *
 * <p>Invariants: everything here happens under this object's monitor; once the power is off nothing
 * changes any more.
 */
final class SimulatedDisk {
  private static final int LOG_LIMIT = 10_000;

  private final SimulationSettings settings;
  private final NameTable names;
  private final String origin;
  private final SplittableRandom fate;
  private final ArrayDeque<Operation> log = new ArrayDeque<>();
  private final Set<AutoCloseable> handles = new LinkedHashSet<>();
  private final Set<Inode> unobserved = new LinkedHashSet<>();
  private final Map<Fault, Long> faults = new LinkedHashMap<>();

  /** Files without a name that are still open: their space is still taken. */
  private final Set<Inode> orphans = new LinkedHashSet<>();

  private long capacityBytes;
  private long nextInode;
  private long crashPoints;
  private CrashPlan plan = CrashPlan.NEVER;
  private int labelCount;
  private boolean powerOff;
  private SimulatedDirectory lockHolder;

  SimulatedDisk(SimulationSettings settings) {
    this(settings, new NameTable(), settings.capacityBytes(), 1, "empty");
  }

  private SimulatedDisk(
      SimulationSettings settings,
      NameTable names,
      long capacityBytes,
      long nextInode,
      String origin) {
    this.settings = settings;
    this.names = names;
    this.capacityBytes = capacityBytes;
    this.nextInode = nextInode;
    this.origin = origin;
    this.fate = new SplittableRandom(settings.seed());
  }

  SimulationSettings settings() {
    return settings;
  }

  NameTable names() {
    return names;
  }

  // ------------------------------------------------------------------ the gate

  /**
   * What a call may do before it fails.
   *
   * @param percent part that it does, 100 if it does not fail
   * @param bytes bytes that it does at most
   * @param failure what it throws then, or null
   */
  record Passage(int percent, long bytes, Throwable failure) {
    private static final Passage FREE = new Passage(100, Long.MAX_VALUE, null);

    /** Bytes of a call's {@code length} that are done. */
    long part(long length) {
      return Math.min(bytes, percent == 100 ? length : length * percent / 100);
    }

    /** Throws if the call was to fail. */
    void end() {
      if (failure instanceof SimulatedCrash crash) {
        throw crash;
      }
      if (failure != null) {
        throw (WaymarkException) failure;
      }
    }
  }

  /** Lets a call in that does all or nothing. */
  void enter(OperationKind kind, String file, long offset, long length) {
    pass(kind, file, offset, length).end();
  }

  /** Lets a call in; it does {@link Passage#part} of its work, and then {@link Passage#end}. */
  Passage pass(OperationKind kind, String file, long offset, long length) {
    checkPower();
    if (kind.isCrashPoint()) {
      crashPoints++;
    }
    Operation operation =
        new Operation(kind.isCrashPoint() ? crashPoints : 0, kind, file, offset, length);
    if (log.size() == LOG_LIMIT) {
      log.removeFirst();
    }
    log.addLast(operation);
    if (isCrash(operation)) {
      powerOff = true;
      lockHolder = null;
      return new Passage(
          plan.percent(), Long.MAX_VALUE, new SimulatedCrash("at " + operation, true));
    }
    Passage passage = Passage.FREE;
    for (Map.Entry<Fault, Long> entry : faults.entrySet()) {
      Fault fault = entry.getKey();
      if (fault.matches(kind, file, offset, length)) {
        long call = entry.getValue() + 1;
        entry.setValue(call);
        if (call >= fault.firstCall() && call - fault.firstCall() < fault.calls()) {
          passage = new Passage(100, fault.appliedBytes(), fault.failure(file, offset));
        }
      }
    }
    return passage;
  }

  void checkPower() {
    if (powerOff) {
      throw new SimulatedCrash("the power is off", false);
    }
  }

  private boolean isCrash(Operation operation) {
    if (operation.crashPoint() == 0) {
      return false;
    }
    if (operation.kind() == OperationKind.YIELD && operation.file().equals(plan.label())) {
      labelCount++;
      return labelCount == plan.nth();
    }
    return operation.crashPoint() == plan.crashPoint();
  }

  boolean isPowerOff() {
    return powerOff;
  }

  void setPlan(CrashPlan value) {
    plan = value;
    labelCount = 0;
  }

  long crashPoints() {
    return crashPoints;
  }

  List<Operation> log() {
    return new ArrayList<>(log);
  }

  void inject(Fault fault) {
    faults.put(fault, 0L);
  }

  void clearFaults() {
    faults.clear();
  }

  // ------------------------------------------------------------------ observation

  /** Called after each change of a file's content. */
  void changed(Inode inode) {
    if (settings.observeEachCall()) {
      inode.observe();
    } else {
      unobserved.add(inode);
    }
  }

  void observe() {
    unobserved.forEach(Inode::observe);
    unobserved.clear();
  }

  /** What decides which pages fall out of memory after a failed force; null if none do. */
  SplittableRandom dropped() {
    return settings.dropAfterFailedForce() ? fate : null;
  }

  // ------------------------------------------------------------------ names and space

  Inode create(String name) {
    Inode inode = new Inode(nextInode++);
    names.change(new NameChange(NameChange.Kind.CREATE, name, name, inode));
    return inode;
  }

  void rename(String from, String to) {
    Inode replaced = names.get(to);
    Inode inode = names.get(from);
    if (replaced == inode) {
      return;
    }
    names.change(new NameChange(NameChange.Kind.RENAME, from, to, inode));
    unlinked(replaced);
  }

  void delete(String name) {
    Inode inode = names.get(name);
    names.change(new NameChange(NameChange.Kind.DELETE, name, name, inode));
    unlinked(inode);
  }

  private void unlinked(Inode inode) {
    if (inode != null && inode.isOpen()) {
      orphans.add(inode);
    }
  }

  long allocatedBytes() {
    long sum = 0;
    for (Inode inode : names.inodes()) {
      sum += inode.allocatedBytes();
    }
    for (Inode inode : orphans) {
      sum += inode.allocatedBytes();
    }
    return sum;
  }

  long freeBytes() {
    return Math.max(0, capacityBytes - allocatedBytes());
  }

  long freePages() {
    return freeBytes() / Page.SIZE_BYTES;
  }

  void setCapacityBytes(long bytes) {
    capacityBytes = bytes;
  }

  // ------------------------------------------------------------------ handles and the lock

  void opened(AutoCloseable handle, Inode inode) {
    inode.opened();
    handles.add(handle);
  }

  void closed(AutoCloseable handle, Inode inode) {
    if (handles.remove(handle)) {
      inode.closed();
      if (!inode.isOpen()) {
        orphans.remove(inode);
      }
    }
  }

  Set<AutoCloseable> handles() {
    return handles;
  }

  SimulatedDirectory lockHolder() {
    return lockHolder;
  }

  void setLockHolder(SimulatedDirectory value) {
    lockHolder = value;
  }

  // ------------------------------------------------------------------ what comes after

  /** As after a kill: all of memory, all of it as durable as it was. */
  SimulatedDisk afterKill() {
    observe();
    Map<Inode, Inode> copies = new HashMap<>();
    for (Inode inode : names.reachable().keySet()) {
      copies.put(inode, inode.copy());
    }
    return new SimulatedDisk(
        settings, names.copy(copies), capacityBytes, nextInode, "kill after " + crashPoints);
  }

  /** As after a power loss: what the choices left, all of it durable. */
  SimulatedDisk afterPowerLoss(CrashChoices choices, String how) {
    observe();
    NavigableMap<String, Inode> left = names.afterPowerLoss(choices);
    Map<Inode, Inode> copies = new HashMap<>();
    left.replaceAll(
        (name, inode) -> copies.computeIfAbsent(inode, file -> file.afterPowerLoss(choices)));
    return new SimulatedDisk(
        settings,
        NameTable.durable(left),
        capacityBytes,
        nextInode,
        "power loss after " + crashPoints + ", " + how);
  }

  long contentHash() {
    long sum = 0;
    for (String name : names.names()) {
      sum = Long.rotateLeft(sum, 17) * 0x9E3779B97F4A7C15L;
      sum += name.hashCode() + names.get(name).contentHash();
    }
    return sum;
  }

  @Override
  public String toString() {
    StringBuilder text =
        new StringBuilder(settings.label()).append(" (").append(origin).append(")");
    for (String name : names.names()) {
      Inode inode = names.get(name);
      text.append("\n  ").append(name).append(": ").append(inode.lengthBytes()).append(" B, ");
      text.append(inode.allocatedBytes()).append(" allocated");
      if (!inode.isDurable()) {
        text.append(", lengths ").append(inode.lengthVersions());
        text.append(", pages in doubt ").append(inode.pageVersions().keySet());
      }
    }
    for (NameChange change : names.open()) {
      text.append("\n  not durable: ").append(change);
    }
    return text.toString();
  }
}
