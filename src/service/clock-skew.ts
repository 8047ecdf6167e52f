// Compares this machine's clock with the service's. A JWT is valid only between two times, and a Retry-After may be a
// date, so both go wrong if this machine's clock is wrong.
import { parseHttpDate } from '../http/head.ts';
import { roughDuration } from '../text.ts';

/** A smaller difference is treated as none. */
const MAX_SKEW_MS = 30_000;
/**
 * The limit for a clock that is ahead while a JWT is sent. The service rejects a JWT from a fast clock, because a JWT
 * is valid only from the second in which it was made. `measureClockLead` may return this much if both clocks agree.
 */
const MAX_LEAD_WITH_TOKEN_MS = 1_999;
/** How much of the time that a response took is part of its measured lead. */
const MAX_DELAY_IN_LEAD_MS = 1000;

/**
 * Returns by how many milliseconds this machine's clock is ahead of a response's `Date` (RFC 9110, section 6.6.1), or
 * undefined without a date. It is negative for a clock that is behind. `sentAt` and `receivedAt` are on this machine's
 * clock, and the service may have made the date at any moment between them.
 *
 * A lead comes out up to 2 s too high: by the fraction of a second that the date lacks, and by the time that the
 * response took, of which only the first second is included. Otherwise, every slow response would look like a fast
 * clock.
 */
export function measureClockLead(date: unknown, sentAt: number, receivedAt: number): number | undefined {
  const serviceDate = typeof date === 'string' ? parseHttpDate(date) : undefined;
  if (serviceDate === undefined) return undefined;
  if (receivedAt < serviceDate) return receivedAt - serviceDate;
  return Math.max(0, Math.min(receivedAt, sentAt + MAX_DELAY_IN_LEAD_MS) - serviceDate);
}

/** Returns the time on the service's clock, in milliseconds since the epoch. */
export function toServiceTime(now: number, leadMs: number | undefined): number {
  return leadMs !== undefined && Math.abs(leadMs) > MAX_SKEW_MS ? now - leadMs : now;
}

/** Returns what is wrong with this machine's clock, or undefined if the difference is small. */
export function describeClockSkew(leadMs: number | undefined, withToken: boolean): string | undefined {
  if (leadMs === undefined) return undefined;
  const maxSkewMs = withToken && leadMs > 0 ? MAX_LEAD_WITH_TOKEN_MS : MAX_SKEW_MS;
  if (Math.abs(leadMs) <= maxSkewMs) return undefined;
  const direction = leadMs > 0 ? 'ahead of' : 'behind';
  return `this machine's clock is ${roughDuration(leadMs / 1000, Math.round)} ${direction} the service's: set it right, because JWTs depend on it`;
}
