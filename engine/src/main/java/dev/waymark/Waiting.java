package dev.waymark;

import java.util.concurrent.TimeUnit;

/** Time as it passes for one who waits. */
interface Waiting {
  /** That of this machine. */
  Waiting SYSTEM =
      new Waiting() {
        @Override
        public long millis() {
          return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
        }

        @Override
        public boolean pause(long millis) {
          try {
            Thread.sleep(millis);
            return true;
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
          }
        }
      };

  /** Milliseconds since some moment; never goes back. */
  long millis();

  /** Lets time pass; false if the thread is interrupted, which it then still is. */
  boolean pause(long millis);
}
