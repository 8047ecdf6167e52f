// Compares the local clock with the service's, because JWTs and waits until a date depend on the clock.
import { httpDate } from '../http/head.ts';
import { span } from '../text.ts';

const MAX_SKEW_MS = 30_000;
/** A fast clock makes tokens that are not valid yet, because a token is valid from the second in which it was made. */
const MAX_AHEAD_WITH_TOKEN_MS = 1_999;
/** A `Date` field has whole seconds. */
const DATE_STEP_MS = 1000;

/**
 * Returns by how much the local clock is ahead of a response's `Date` (RFC 9110, section 6.6.1), in milliseconds, or
 * undefined without a date. The service may have set the date at any moment between `sentAt` and `receivedAt`, which
 * are times of the local clock, so the smallest possible difference counts.
 */
export function clockAhead(date: unknown, sentAt: number, receivedAt: number): number | undefined {
  const serviceDate = typeof date === 'string' ? httpDate(date) : undefined;
  if (serviceDate === undefined) return undefined;
  if (receivedAt < serviceDate) return receivedAt - serviceDate;
  return Math.max(0, Math.min(receivedAt, sentAt + DATE_STEP_MS) - serviceDate);
}

/**
 * Returns the time of the service, in milliseconds since the epoch. Smaller differences than 30 s are not corrected.
 */
export function serviceTime(now: number, aheadMs: number | undefined): number {
  return aheadMs !== undefined && Math.abs(aheadMs) > MAX_SKEW_MS ? now - aheadMs : now;
}

/**
 * Describes a wrong local clock. Returns undefined up to 30 s, but with a token only if the clock is less than 2 s
 * fast.
 */
export function clockSkew(aheadMs: number | undefined, withToken: boolean): string | undefined {
  if (aheadMs === undefined) return undefined;
  const maxSkewMs = withToken && aheadMs > 0 ? MAX_AHEAD_WITH_TOKEN_MS : MAX_SKEW_MS;
  if (Math.abs(aheadMs) <= maxSkewMs) return undefined;
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return `this clock is ${span(aheadMs / 1000, Math.round)} ${direction} the service's: set it right, because JWTs depend on it`;
}
