// A JWT is valid only between two times, so it fails if this machine's clock is wrong.
import { type HeaderFields, parseHttpDate } from '../http/head.ts';
import { roughDuration } from '../text.ts';

const MAX_SKEW_MS = 30_000;
const MAX_DELAY_IN_LEAD_MS = 1000;
/**
 * The limit if requests have a JWT, which is valid from the second in which it was made: for a fast clock, that second
 * is still in the future at the service. `measureClockLead` may return this much even if both clocks agree, because the
 * date has whole seconds.
 */
const MAX_LEAD_WITH_TOKEN_MS = MAX_DELAY_IN_LEAD_MS + 999;

/**
 * By how many milliseconds this machine's clock is ahead of a response's `Date` (RFC 9110, section 6.6.1). The service
 * made the date at some moment from `sentAt` to `receivedAt`, which are on this machine's clock. At most 1 s of that
 * time is counted, because otherwise every slow response would look like a fast clock. A response from a cache was made
 * `Age` earlier (RFC 9111, section 5.1).
 */
export function measureClockLead({ date, age }: HeaderFields, sentAt: number, receivedAt: number): number | undefined {
  const madeAt = parseHttpDate(date);
  if (madeAt === undefined) return undefined;
  const ageMs = /^\d{1,9}$/.test(String(age)) ? Number(age) * 1000 : 0;
  const serviceTime = madeAt + ageMs;
  // If even the arrival was before that time, this clock is certainly behind. Otherwise, it is ahead or right.
  if (receivedAt < serviceTime) return receivedAt - serviceTime;
  // An age has whole seconds, as a date has.
  const latestServiceTime = serviceTime + (ageMs > 0 ? 1000 : 0);
  return Math.max(0, Math.min(receivedAt, sentAt + MAX_DELAY_IN_LEAD_MS) - latestServiceTime);
}

export function describeClockSkew(leadMs: number | undefined, sendsToken: boolean): string | undefined {
  if (leadMs === undefined) return undefined;
  const maxSkewMs = sendsToken && leadMs > 0 ? MAX_LEAD_WITH_TOKEN_MS : MAX_SKEW_MS;
  if (Math.abs(leadMs) <= maxSkewMs) return undefined;
  const direction = leadMs > 0 ? 'ahead of' : 'behind';
  return `this machine's clock is ${roughDuration(leadMs / 1000)} ${direction} the service's: set it right, because JWTs depend on it`;
}
