package dev.waymark.sim;

/**
 * One state that a power loss may leave.
 *
 * @param how which choices made it, for the message of a test that fails
 * @param directory the disk, durable throughout
 */
public record CrashState(String how, SimulatedDirectory directory) {
  @Override
  public String toString() {
    return how + ": " + directory;
  }
}
