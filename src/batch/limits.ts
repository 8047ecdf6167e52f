// `--max-bytes`, `--max-requests` and `--stop-after` bound what a run starts, and `--limit-rate` its bandwidth. No
// limit ends a download in progress, so that every run makes progress.
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

/** The requests and downloads of a run so far. */
export interface Usage {
  readonly bytes: number;
  readonly requests: number;
  /** Milliseconds. */
  readonly ms: number;
  /** Downloads and listings that have started and not ended. */
  readonly inProgress: number;
  /** Downloads that have succeeded. */
  readonly complete: number;
}

/**
 * Whether a download or a listing may start. `alone`: only while nothing else is in progress. `wait`: decide again when
 * something in progress has ended. `end`: nothing starts any more.
 */
export type Start = 'start' | 'alone' | 'wait' | 'end';

/**
 * Returns whether something may start. A limit ends a run only after one download is complete, or at twice the limit.
 * Otherwise a file that always fails could use up the budget of every run.
 */
export function decideStart(usage: Usage, limits: LimitOptions): Start {
  const { maxRequests = Infinity } = limits;
  const { inProgress, complete, requests } = usage;
  if (describeReachedLimit(usage, limits, 2) !== undefined) return 'end';
  if (describeReachedLimit(usage, limits, 1) !== undefined) {
    if (complete > 0) return 'end';
    return inProgress > 0 ? 'wait' : 'alone';
  }
  // Each download in progress counts as one more request, because its first request may not be sent yet.
  return requests + inProgress >= maxRequests ? 'wait' : 'start';
}

/** Returns a text for the first limit whose value was reached `times` times, or undefined. */
function describeReachedLimit({ bytes, requests, ms }: Usage, limits: LimitOptions, times: number): string | undefined {
  const { maxBytes = Infinity, maxRequests = Infinity, stopAfter = Infinity } = limits;
  if (ms >= times * stopAfter) return `time limit (${stopAfter / 1000} s)`;
  if (requests >= times * maxRequests) return `request limit (${grouped(maxRequests)})`;
  return bytes >= times * maxBytes ? `download limit (${grouped(maxBytes)} bytes)` : undefined;
}

/** Counts what `--max-bytes`, `--max-requests` and `--stop-after` bound. It never ends a download in progress. */
export class Limits implements Meter {
  bytes = 0;
  requests = 0;
  /** Whether the next run with the same options would fetch a file of this run again. */
  isRepeated = false;
  readonly #options: LimitOptions;
  readonly #monotonic: () => number;
  readonly #startedAt: number;
  readonly #planned = { bytes: 0, requests: 0 };
  #inProgress = 0;
  #complete = 0;

  constructor(options: LimitOptions, monotonic: () => number) {
    this.#options = options;
    this.#monotonic = monotonic;
    this.#startedAt = monotonic();
  }

  decideStart(): Start {
    return decideStart(this.#usage, this.#options);
  }

  /** Counts a download or a listing. Call the returned function at its end, with whether a download succeeded. */
  start(): (isComplete: boolean) => void {
    this.#inProgress += 1;
    return (isComplete) => {
      this.#inProgress -= 1;
      if (isComplete) this.#complete += 1;
    };
  }

  /** Counts a download that a dry run does not make. */
  countPlanned(bytes: number): void {
    this.#planned.bytes += bytes;
    this.#planned.requests += 1;
    this.#complete += 1;
  }

  /** The error of a run that a limit ends. */
  get error(): FilingsError {
    const limit = describeReachedLimit(this.#usage, this.#options, 1) ?? 'limit';
    const isInVain = this.#complete === 0 || this.isRepeated;
    const hint = isInVain ? 'raise the limit, so that the next run gets further' : 'run again to continue';
    return new FilingsError('limit', `${limit} reached`, { hint, stopsRun: true });
  }

  get #usage(): Usage {
    const { bytes, requests } = this.#planned;
    return {
      bytes: this.bytes + bytes,
      requests: this.requests + requests,
      ms: this.#monotonic() - this.#startedAt,
      inProgress: this.#inProgress,
      complete: this.#complete,
    };
  }
}

/** After a pause, bytes for this time pass without a delay. */
const BURST_SECONDS = 0.25;

/** Limits the bandwidth of all jobs together: each job waits until the bytes that it has received were due. */
export class Throttle {
  readonly #bytesPerMs: number;
  readonly #clock: Pick<World, 'monotonic' | 'sleep'>;
  /** The time until which the bandwidth is used up. */
  #usedUntil = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number, clock: Pick<World, 'monotonic' | 'sleep'>) {
    this.#bytesPerMs = bytesPerSecond / 1000;
    this.#clock = clock;
  }

  /** Waits until `bytes` more bytes were due. Throws the signal's reason. */
  async delay(bytes: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const start = Math.max(this.#usedUntil, now - BURST_SECONDS * 1000);
    this.#usedUntil = start + bytes / this.#bytesPerMs;
    await this.#clock.sleep(this.#usedUntil - now, signal);
  }
}
