/**
 * Looks for a crash after which the store lost what it had acknowledged, or returns what is wrong:
 * runs seeded workloads on the real engine over a simulated directory, forks the disk at every call
 * into states that a kill or a power loss may leave, opens each, and compares it with what the
 * workload was promised.
 */
package dev.waymark.explore;
