package dev.waymark.sim;

import dev.waymark.internal.io.FileSystemTraits;

/**
 * How a simulated file system behaves. The defaults are the strictest that leaves the state space
 * small.
 *
 * @param label how the directory is called in messages
 * @param traits what the file system can do
 * @param capacityBytes size of the file system
 * @param observeEachCall whether every call that writes is an observation point; otherwise forces,
 *     changes of names and yield points are, and writes between two of them make one version a page
 * @param strictDirectoryForce whether a directory force that succeeds leaves names in doubt that an
 *     earlier one failed to force, as a file system without a journal would
 * @param dropAfterFailedForce whether pages that could not be forced fall out of memory, each by
 *     the seed: reads then give what the device has, old or new
 * @param strictMaps whether a put into a range that was never allocated is an AssertionError, since
 *     on a full disk it would be a fault; otherwise it allocates
 * @param seed decides what {@code dropAfterFailedForce} leaves to chance
 */
public record SimulationSettings(
    String label,
    FileSystemTraits traits,
    long capacityBytes,
    boolean observeEachCall,
    boolean strictDirectoryForce,
    boolean dropAfterFailedForce,
    boolean strictMaps,
    long seed) {

  /** All traits, 1 TiB, strict. */
  public static SimulationSettings defaults() {
    return new SimulationSettings(
        "simulated", new FileSystemTraits(true, true, true), 1L << 40, false, true, false, true, 1);
  }

  /** Returns a copy with those traits. */
  public SimulationSettings traits(boolean canMap, boolean canAllocate, boolean canPunch) {
    return new SimulationSettings(
        label,
        new FileSystemTraits(canMap, canAllocate, canPunch),
        capacityBytes,
        observeEachCall,
        strictDirectoryForce,
        dropAfterFailedForce,
        strictMaps,
        seed);
  }

  /** Returns a copy with that capacity. */
  public SimulationSettings capacityBytes(long bytes) {
    return new SimulationSettings(
        label,
        traits,
        bytes,
        observeEachCall,
        strictDirectoryForce,
        dropAfterFailedForce,
        strictMaps,
        seed);
  }

  /** Returns a copy that observes at every call, or only at observation points. */
  public SimulationSettings observeEachCall(boolean each) {
    return new SimulationSettings(
        label,
        traits,
        capacityBytes,
        each,
        strictDirectoryForce,
        dropAfterFailedForce,
        strictMaps,
        seed);
  }

  /** Returns a copy in which names that failed to be forced stay in doubt, or not. */
  public SimulationSettings strictDirectoryForce(boolean strict) {
    return new SimulationSettings(
        label,
        traits,
        capacityBytes,
        observeEachCall,
        strict,
        dropAfterFailedForce,
        strictMaps,
        seed);
  }

  /** Returns a copy in which pages that failed to be forced fall out of memory, or not. */
  public SimulationSettings dropAfterFailedForce(boolean drop) {
    return new SimulationSettings(
        label,
        traits,
        capacityBytes,
        observeEachCall,
        strictDirectoryForce,
        drop,
        strictMaps,
        seed);
  }

  /** Returns a copy that forbids puts into holes, or lets them allocate. */
  public SimulationSettings strictMaps(boolean strict) {
    return new SimulationSettings(
        label,
        traits,
        capacityBytes,
        observeEachCall,
        strictDirectoryForce,
        dropAfterFailedForce,
        strict,
        seed);
  }

  /** Returns a copy with that seed. */
  public SimulationSettings seed(long value) {
    return new SimulationSettings(
        label,
        traits,
        capacityBytes,
        observeEachCall,
        strictDirectoryForce,
        dropAfterFailedForce,
        strictMaps,
        value);
  }
}
