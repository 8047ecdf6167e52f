export interface RateLimit {
  /** So many requests ... */
  readonly requests: number;
  /** ... in so many milliseconds. */
  readonly perMs: number;
}

/** Takes one request's turn: 0 when it may go on, else the whole seconds after which it may come again. */
export type TakeTurn = () => number;

/**
 * A bucket that holds `requests` turns and refills evenly; it never delays, and is kind to a client that paces itself.
 * `now`: milliseconds since the epoch.
 */
export function createRateLimit({ requests, perMs }: RateLimit, now: () => number): TakeTurn {
  const capacity = Math.max(1, Math.floor(requests));
  const refill = requests / perMs;
  let turns = capacity;
  let filledAt = now();
  return () => {
    const at = now();
    turns = Math.min(capacity, turns + Math.max(0, at - filledAt) * refill);
    filledAt = at;
    if (turns < 1) return Math.max(1, Math.ceil((1 - turns) / refill / 1000));
    turns -= 1;
    return 0;
  };
}
