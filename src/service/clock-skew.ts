import { httpDate } from '../http/head.ts';
import { span } from '../text.ts';

const TOLERATED_MS = 30_000;
/** A clock that is fast makes tokens of the future: one is valid from the second in which it was made. */
const TOLERATED_WITH_TOKEN_MS = 1_999;
/** A date counts whole seconds, and is of any moment between question and answer. */
const DATE_STEP_MS = 1000;

/**
 * By an answer's `Date` (RFC 9110 section 6.6.1), in milliseconds; the local clock says when it was asked and answered.
 * What the way took is not counted.
 */
export function clockAhead(date: unknown, sent: number, received: number): number | undefined {
  const theirs = typeof date === 'string' ? httpDate(date) : undefined;
  if (theirs === undefined) return undefined;
  if (received < theirs) return received - theirs;
  return Math.max(0, Math.min(received, sent + DATE_STEP_MS) - theirs);
}

/** A local clock that is right to the half minute is taken as it is. */
export function serviceTime(now: number, aheadMs: number | undefined): number {
  return aheadMs !== undefined && Math.abs(aheadMs) > TOLERATED_MS ? now - aheadMs : now;
}

/** Undefined for a clock that is right: within 30 s, and where a token is sent, less than 2 s fast. */
export function clockSkew(aheadMs: number | undefined, withToken: boolean): string | undefined {
  if (aheadMs === undefined) return undefined;
  const tolerated = withToken && aheadMs > 0 ? TOLERATED_WITH_TOKEN_MS : TOLERATED_MS;
  if (Math.abs(aheadMs) <= tolerated) return undefined;
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return `this clock is ${span(aheadMs / 1000, Math.round)} ${direction} the service's: set it right, JWTs depend on it`;
}
