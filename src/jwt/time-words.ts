/** The last second of the year 9999: no later one can be written as RFC 3339. */
export const LATEST_SECOND = 253_402_300_799;

const UNITS = [
  { name: 'd', seconds: 86_400 },
  { name: 'h', seconds: 3600 },
  { name: 'min', seconds: 60 },
] as const;

/** A span in the largest unit of which there are at least two, rounded down: `94 s`, `3 h`. */
export function span(seconds: number): string {
  const whole = Math.floor(Math.abs(seconds));
  const unit = UNITS.find((each) => whole >= 2 * each.seconds);
  return unit === undefined ? `${whole} s` : `${Math.floor(whole / unit.seconds)} ${unit.name}`;
}

/** Seconds since the epoch as RFC 3339 in UTC; undefined for what is no such time. */
export function utc(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= LATEST_SECOND)) return undefined;
  return new Date(seconds * 1000).toISOString().replace(/\.000Z$/, 'Z');
}
