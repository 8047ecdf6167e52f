import { span } from '../text.ts';

const TOLERATED_MS = 30_000;

/** How far the local clock is ahead of an answer's `Date`, in milliseconds; undefined without a date. `now`: milliseconds since the epoch. */
export function clockAhead(date: string | readonly string[] | undefined, now: number): number | undefined {
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(theirs) ? undefined : now - theirs;
}

/** What to say of a clock that is more than 30 s off: by how much and in which direction; undefined when it is not. */
export function clockSkew(aheadMs: number | undefined): string | undefined {
  if (aheadMs === undefined || Math.abs(aheadMs) <= TOLERATED_MS) return undefined;
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return `this clock is ${span(aheadMs / 1000)} ${direction} the service's: set it right, JWTs are checked against the time`;
}
