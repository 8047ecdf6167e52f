/** The last second of the year 9999: no later one can be written as RFC 3339. */
export const LATEST_SECOND = 253_402_300_799;

/** Seconds since the epoch as RFC 3339 in UTC; undefined for what is no such time. */
export function utc(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= LATEST_SECOND)) return undefined;
  return new Date(seconds * 1000).toISOString().replace(/\.000Z$/, 'Z');
}
