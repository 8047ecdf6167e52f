import { FilingsError } from '../errors.ts';
import type { Meter } from '../service/client.ts';
import { grouped } from '../text.ts';
import type { World } from '../world.ts';

interface LimitOptions {
  readonly maxBytes?: number | undefined;
  readonly maxRequests?: number | undefined;
  /** Milliseconds. */
  readonly stopAfter?: number | undefined;
}

/** What a run has done so far. */
export interface Usage {
  readonly bytes: number;
  readonly requests: number;
  /** Milliseconds. */
  readonly ms: number;
  /** Downloads and listings that have started and not ended. */
  readonly inProgress: number;
  /** Downloads that have ended well. */
  readonly complete: number;
}

/**
 * Whether a download or a listing may start. `alone`: it may, but nothing beside it. `wait`: this is decided when
 * something in progress has ended. `end`: nothing starts any more.
 */
export type Start = 'start' | 'alone' | 'wait' | 'end';

/**
 * A limit does not end a run before one download is complete, so that a file that always fails does not use up the
 * budget of all runs; but twice the limit does.
 */
export function mayStart(used: Usage, limits: LimitOptions): Start {
  const { maxRequests = Infinity } = limits;
  const { inProgress, complete, requests } = used;
  if (reachedLimit(used, limits, 2) !== undefined) return 'end';
  if (reachedLimit(used, limits, 1) !== undefined) {
    if (complete > 0) return 'end';
    return inProgress > 0 ? 'wait' : 'alone';
  }
  // Whatever is in progress counts as one request more, because its first one may still be about to be sent.
  return requests + inProgress >= maxRequests ? 'wait' : 'start';
}

/** Returns which limit was reached so many times over, in words for people. */
function reachedLimit({ bytes, requests, ms }: Usage, limits: LimitOptions, times: number): string | undefined {
  const { maxBytes = Infinity, maxRequests = Infinity, stopAfter = Infinity } = limits;
  if (ms >= times * stopAfter) return `time limit (${stopAfter / 1000} s)`;
  if (requests >= times * maxRequests) return `request limit (${grouped(maxRequests)})`;
  return bytes >= times * maxBytes ? `download limit (${grouped(maxBytes)} bytes)` : undefined;
}

/** Counts what `--max-bytes`, `--max-requests` and `--stop-after` bound. It never ends a download in progress. */
export class Limits implements Meter {
  bytes = 0;
  requests = 0;
  /** Something was started that the next run with the same options fetches again. */
  isRepeated = false;
  readonly #options: LimitOptions;
  readonly #monotonic: () => number;
  readonly #began: number;
  readonly #planned = { bytes: 0, requests: 0 };
  #inProgress = 0;
  #complete = 0;

  constructor(options: LimitOptions, monotonic: () => number) {
    this.#options = options;
    this.#monotonic = monotonic;
    this.#began = monotonic();
  }

  mayStart(): Start {
    return mayStart(this.#used, this.#options);
  }

  /** Call the returned function at the end, with whether it was a download that ended well. */
  start(): (isComplete: boolean) => void {
    this.#inProgress += 1;
    return (isComplete) => {
      this.#inProgress -= 1;
      if (isComplete) this.#complete += 1;
    };
  }

  /** Counts a download that a dry run does not make. */
  plan(bytes: number): void {
    this.#planned.bytes += bytes;
    this.#planned.requests += 1;
    this.#complete += 1;
  }

  /** The error of a run that a limit has ended. */
  get error(): FilingsError {
    const limit = reachedLimit(this.#used, this.#options, 1) ?? 'limit';
    const isInVain = this.#complete === 0 || this.isRepeated;
    const hint = isInVain ? 'raise the limit, so that the next run gets further' : 'run again to continue';
    return new FilingsError('limit', `${limit} reached`, { hint, stopsRun: true });
  }

  get #used(): Usage {
    const { bytes, requests } = this.#planned;
    return {
      bytes: this.bytes + bytes,
      requests: this.requests + requests,
      ms: this.#monotonic() - this.#began,
      inProgress: this.#inProgress,
      complete: this.#complete,
    };
  }
}

/** Goes at once after a pause. */
const BURST_SECONDS = 0.25;

/** Shared by all jobs: whoever has received bytes waits until they were due. */
export class Throttle {
  readonly #bytesPerMs: number;
  readonly #clock: Pick<World, 'monotonic' | 'sleep'>;
  /** Until then the bandwidth is used up. */
  #usedUntil = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number, clock: Pick<World, 'monotonic' | 'sleep'>) {
    this.#bytesPerMs = bytesPerSecond / 1000;
    this.#clock = clock;
  }

  async received(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const from = Math.max(this.#usedUntil, now - BURST_SECONDS * 1000);
    this.#usedUntil = from + bytes / this.#bytesPerMs;
    await this.#clock.sleep(this.#usedUntil - now, signal);
  }
}
