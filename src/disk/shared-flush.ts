// Lets many callers share flushes, or the writes of waiting lines (ARCHITECTURE.md, "Why it is like this").

/**
 * Each call of the returned function is covered by a flush that starts after the call, and all calls until that flush
 * starts wait for the same one. After a failure, every later call fails with the same error.
 */
export function createSharedFlush(flush: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  // Starts when the last flush has ended. If that one fails, this one never starts, and stays here.
  let waiting: Promise<void> | undefined;
  return () => {
    if (!waiting) {
      waiting = last.then(() => {
        waiting = undefined;
        return flush();
      });
      last = waiting;
    }
    return waiting;
  };
}
