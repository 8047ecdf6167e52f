// Compares this machine's clock with the service's. A JWT is valid only between two times, and a Retry-After may be a
// date, so both go wrong if this machine's clock is wrong.
import { parseHttpDate } from '../http/head.ts';
import { roughDuration } from '../text.ts';

/** A smaller difference is treated as none. */
const MAX_SKEW_MS = 30_000;
/**
 * The limit for a clock that is ahead while a JWT is sent. A token is valid from the second in which it was made, so
 * the service rejects a token from a fast clock.
 */
const MAX_LEAD_WITH_TOKEN_MS = 1_999;
/** A `Date` header has whole seconds. */
const DATE_STEP_MS = 1000;

/**
 * Returns by how many milliseconds this machine's clock is ahead of a response's `Date` (RFC 9110, section 6.6.1), or
 * undefined without a date. It is negative for a clock that is behind. The service may have made the date at any moment
 * between `sentAt` and `receivedAt`, both on this machine's clock, so the result is the smallest possible difference.
 */
export function measureClockLead(date: unknown, sentAt: number, receivedAt: number): number | undefined {
  const serviceDate = typeof date === 'string' ? parseHttpDate(date) : undefined;
  if (serviceDate === undefined) return undefined;
  if (receivedAt < serviceDate) return receivedAt - serviceDate;
  return Math.max(0, Math.min(receivedAt, sentAt + DATE_STEP_MS) - serviceDate);
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
