import { httpDate } from '../http/head.ts';
import { span } from '../text.ts';

const TOLERATED_MS = 30_000;
/** A token is valid from the second in which it was made: a clock that is fast makes tokens of the future. */
const TOLERATED_WITH_TOKEN_MS = 1_999;
/** A date counts whole seconds, and is of any moment between question and answer. */
const DATE_STEP_MS = 1000;

/** When a request was sent and when its answer came, by the local clock, in milliseconds since the epoch. */
export interface Exchanged {
  readonly sent: number;
  readonly received: number;
}

/**
 * How far the local clock is ahead of an answer's `Date` (RFC 9110 section 6.6.1), in milliseconds; undefined
 * without a date. What the answer's way may explain is not counted, where it took long.
 */
export function clockAhead(
  date: string | readonly string[] | undefined,
  { sent, received }: Exchanged,
): number | undefined {
  const theirs = typeof date === 'string' ? httpDate(date) : undefined;
  if (theirs === undefined) return undefined;
  if (received < theirs) return received - theirs;
  return Math.max(0, Math.min(received, sent + DATE_STEP_MS) - theirs);
}

/**
 * The time by the service's clock when the local one says `now`, in milliseconds since the epoch: what a date of the
 * service's is held against. A clock that is right to the half minute is taken as it is, since dates count whole seconds.
 */
export function serviceTime(now: number, aheadMs: number | undefined): number {
  return aheadMs !== undefined && Math.abs(aheadMs) > TOLERATED_MS ? now - aheadMs : now;
}

/**
 * What to say of a clock that is off, by how much and in which direction; undefined when it is right:
 * within 30 s, and where a token is sent, less than 2 s fast.
 */
export function clockSkew(aheadMs: number | undefined, withToken: boolean): string | undefined {
  if (aheadMs === undefined) return undefined;
  const tolerated = withToken && aheadMs > 0 ? TOLERATED_WITH_TOKEN_MS : TOLERATED_MS;
  if (Math.abs(aheadMs) <= tolerated) return undefined;
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return `this clock is ${span(aheadMs / 1000, Math.round)} ${direction} the service's: set it right, JWTs are checked against the time`;
}
