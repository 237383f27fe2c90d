package dev.waymark;

import dev.waymark.internal.publish.Publisher;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How far the prefix of a session is durable, told from the numbers of its edits. Any thread may
 * ask.
 *
 * <p>Invariant: it remembers no more than is not durable yet, and one entry an edit.
 */
final class DurablePrefix {
  private final Publisher publisher;
  private final Deque<Reached> waiting = new ArrayDeque<>();
  private int tokens;

  /** Edits up to a number make the prefix durable up to so many tokens. */
  private record Reached(long number, int tokens) {}

  DurablePrefix(Publisher publisher) {
    this.publisher = publisher;
  }

  /** {@return tokens of the prefix that are known to be durable} */
  synchronized int tokens() {
    takeDurable();
    return tokens;
  }

  /** The prefix reaches so far once the edits up to a number are durable. */
  synchronized void reach(long number, int reachedTokens) {
    takeDurable();
    if (!waiting.isEmpty() && waiting.peekLast().number() == number) {
      waiting.pollLast();
    }
    waiting.add(new Reached(number, reachedTokens));
  }

  /** {@return how many entries are remembered} */
  synchronized int waiting() {
    return waiting.size();
  }

  private void takeDurable() {
    while (!waiting.isEmpty() && waiting.peek().number() <= publisher.durable()) {
      Reached reached = waiting.poll();
      if (!publisher.isLost(reached.number())) {
        tokens = reached.tokens();
      }
    }
  }
}
