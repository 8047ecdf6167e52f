import { laxDate } from '../date.ts';

/** The first wait; doubled for each further one. Milliseconds. */
const FIRST_WAIT_MS = 1000;
const LONGEST_BACKOFF_MS = 60_000;
/** A century: whatever is asked for, the time it leads to must be a date. */
const LONGEST_ASKED_MS = 100 * 365 * 86_400_000;
/** A try that brought this much starts the count anew: the service works, the line is bad. */
export const FRESH_START_BYTES = 1 << 20;

/** Statuses worth another try; every other one is final (interface page, "A retry"). */
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);

export function isRetriedStatus(status: number): boolean {
  return RETRIED.has(status);
}

/** What is known when a try has failed. */
export interface FailedTry {
  /** Tries that failed since the count last began anew, this one included. */
  readonly failures: number;
  /** Tries allowed after the first. */
  readonly retries: number;
  readonly retryable: boolean;
  /** What the service asked for, in milliseconds from now. */
  readonly retryAfterMs: number | undefined;
  readonly maxRetryAfterMs: number;
  /** Uniform in [0, 1). */
  readonly random: number;
}

export type Verdict =
  | { readonly kind: 'again'; readonly waitMs: number }
  | { readonly kind: 'final' }
  /** The service asks for a longer wait than we would wait. */
  | { readonly kind: 'too-long'; readonly waitMs: number };

/** Whether a failed try is followed by another, and after how long a wait. */
export function judge(failed: FailedTry): Verdict {
  if (!failed.retryable) return { kind: 'final' };
  const asked = failed.retryAfterMs;
  if (asked !== undefined && asked > failed.maxRetryAfterMs) return { kind: 'too-long', waitMs: asked };
  if (failed.failures > failed.retries) return { kind: 'final' };
  return { kind: 'again', waitMs: asked ?? backoff(failed) };
}

/** Exponential, with up to half as much again at random, so that many clients don't come back together. */
function backoff({ failures, random }: FailedTry): number {
  const base = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_BACKOFF_MS);
  return Math.round(base * (1 + random / 2));
}

/**
 * Reads Retry-After (RFC 9110 section 10.2.3): seconds or a date, as milliseconds
 * from `now`. Nonsense and negative seconds are as absent; a date gone by is 0.
 */
export function retryAfterMs(value: string | string[] | undefined, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, LONGEST_ASKED_MS);
  // An HTTP date begins with a day's name; Date.parse alone would take "-5" for a year.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/i.test(text)) return undefined;
  const date = laxDate(text);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), LONGEST_ASKED_MS);
}
