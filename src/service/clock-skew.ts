// A JWT is valid only between two times, so it fails if this machine's clock is wrong.
import { type HeaderFields, parseHttpDate } from '../http/head.ts';
import { roughDuration } from '../text.ts';

const MAX_SKEW_MS = 30_000;
/** A response takes time. No more of it is counted, or every slow one would look like a fast clock. */
const MAX_COUNTED_DELAY_MS = 1000;
/**
 * With a JWT, which is valid from the second in which it was made: for a fast clock, that second is still in the future
 * at the service. `Date` has whole seconds and the response takes time, so up to 2 s are no proof of a fast clock.
 */
const MAX_AHEAD_WITH_TOKEN_MS = MAX_COUNTED_DELAY_MS + 999;

/**
 * By how many milliseconds this machine's clock is ahead of a response's `Date` (RFC 9110, section 6.6.1), which was
 * made at some moment from `sentAt` to `receivedAt`. A cached response was made `Age` earlier (RFC 9111, section 5.1).
 */
export function measureClockAhead({ date, age }: HeaderFields, sentAt: number, receivedAt: number): number | undefined {
  const madeAt = parseHttpDate(date);
  if (madeAt === undefined) return undefined;
  const ageMs = /^\d{1,9}$/.test(String(age)) ? Number(age) * 1000 : 0;
  const serviceTime = madeAt + ageMs;
  // If even the arrival was before that time, this clock is certainly behind. Otherwise, it is ahead or right.
  if (receivedAt < serviceTime) return receivedAt - serviceTime;
  // An age has whole seconds, as a date has.
  const latestServiceTime = serviceTime + (ageMs > 0 ? 1000 : 0);
  return Math.max(0, Math.min(receivedAt, sentAt + MAX_COUNTED_DELAY_MS) - latestServiceTime);
}

export function describeClockSkew(aheadMs: number | undefined, sendsToken: boolean): string | undefined {
  if (aheadMs === undefined) return undefined;
  const maxSkewMs = sendsToken && aheadMs > 0 ? MAX_AHEAD_WITH_TOKEN_MS : MAX_SKEW_MS;
  if (Math.abs(aheadMs) <= maxSkewMs) return undefined;
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return `this machine's clock is ${roughDuration(aheadMs / 1000)} ${direction} the service's: set it right, because JWTs depend on it`;
}
