import { FilingsError } from '../../errors.ts';
import { grouped } from '../../text.ts';

/** The limits that a user sets for a run; what is undefined has none. */
export interface Limits {
  /** Body bytes received, listings and repeats included. */
  readonly maxBytes?: number | undefined;
  /** Every request counts: listings, tries and redirects too. */
  readonly maxRequests?: number | undefined;
  /** Milliseconds after which no new file begins. */
  readonly stopAfterMs?: number | undefined;
}

/** A share of `--max-bytes` that is kept for one body, so that those in flight end well. */
export interface Share {
  /** So many more bytes are due; undefined when nobody knows. Throws `limit` when they would go over. */
  expect(bytes: number | undefined): void;
  /** So many came. Throws `limit` when they go over. */
  came(bytes: number): void;
  /** No more will come: what was kept and not used is free for others. */
  release(): void;
}

/**
 * What a run has used of its limits. The byte and request limits are hard: what would go over is refused or broken
 * off. All three are also asked before a file begins (`reached`), so that what begins can end.
 */
export class Allowance {
  readonly #limits: Limits;
  readonly #started: number;
  readonly #now: () => number;
  #bytes = 0;
  #requests = 0;
  #kept = 0;

  /** `now`: milliseconds of a clock that never steps. */
  constructor(limits: Limits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
    this.#started = now();
  }

  get bytes(): number {
    return this.#bytes;
  }

  get requests(): number {
    return this.#requests;
  }

  /** How many requests may still go out. */
  get requestsLeft(): number {
    return (this.#limits.maxRequests ?? Number.POSITIVE_INFINITY) - this.#requests;
  }

  /** A request is about to go out. Throws `limit` when there is none left. */
  request(): void {
    const { maxRequests } = this.#limits;
    if (maxRequests !== undefined && this.#requests >= maxRequests) throw this.#requestsUsed(maxRequests);
    this.#requests += 1;
  }

  /** So many bytes came that no share was kept for: a listing, an error. Throws `limit` when they go over. */
  came(bytes: number): void {
    const share = this.share();
    share.came(bytes);
  }

  /** What keeps a new file from beginning, if anything does. `size`: its size as the listing says it, in bytes. */
  reached(size = 0): FilingsError | undefined {
    const { maxBytes, maxRequests, stopAfterMs } = this.#limits;
    if (stopAfterMs !== undefined && this.#now() - this.#started >= stopAfterMs) {
      return limitReached(`--stop-after: its ${stopAfterMs / 1000} s are over`);
    }
    if (maxRequests !== undefined && this.#requests >= maxRequests) return this.#requestsUsed(maxRequests);
    if (maxBytes === undefined) return undefined;
    if (this.#bytes + this.#kept >= maxBytes || this.#bytes + this.#kept + size > maxBytes)
      return overBytes(maxBytes, size);
    return undefined;
  }

  /** Begins a share for one body; `size` as the listing says it. */
  share(size?: number): Share {
    let mine = 0;
    const keep = (bytes: number) => {
      this.#kept += bytes - mine;
      mine = bytes;
    };
    const { maxBytes = Number.POSITIVE_INFINITY } = this.#limits;
    keep(size ?? 0);
    return {
      expect: (bytes) => {
        const due = bytes ?? mine;
        if (this.#bytes + this.#kept - mine + due > maxBytes) throw overBytes(maxBytes, due);
        keep(due);
      },
      came: (bytes) => {
        // What was kept for this body is its own, also when another went over meanwhile.
        const kept = bytes <= mine ? 0 : this.#kept - mine;
        this.#bytes += bytes;
        keep(Math.max(0, mine - bytes));
        if (this.#bytes + kept > maxBytes) throw overBytes(maxBytes, 0);
      },
      release: () => keep(0),
    };
  }

  #requestsUsed(maxRequests: number): FilingsError {
    return limitReached(`--max-requests: all ${grouped(maxRequests)} are used`);
  }
}

/** A file that is larger than the whole limit will never fit: said, since every run would end at it. */
function overBytes(maxBytes: number, size: number): FilingsError {
  const alone = size > maxBytes ? `: one file alone has ${grouped(size)} bytes` : '';
  return limitReached(`--max-bytes: the next file would go over ${grouped(maxBytes)} bytes${alone}`);
}

function limitReached(message: string): FilingsError {
  return new FilingsError('limit', message, {
    hint: 'run it again when there is a new budget: it goes on',
    stopsRun: true,
  });
}
