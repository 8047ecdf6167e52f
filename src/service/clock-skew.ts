const TOLERATED_MS = 30_000;
const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
] as const;

/** How far the local clock is ahead of an answer's `Date`, in milliseconds; undefined without a date. `now`: milliseconds since the epoch. */
export function clockAhead(date: string | readonly string[] | undefined, now: number): number | undefined {
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(theirs) ? undefined : now - theirs;
}

/** What to say of a clock that is more than 30 s off: by how much and in which direction; undefined when it is not. */
export function clockSkew(aheadMs: number | undefined): string | undefined {
  if (aheadMs === undefined || Math.abs(aheadMs) <= TOLERATED_MS) return undefined;
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  return `this clock is ${words(Math.abs(aheadMs))} ${direction} the service's: set it right, JWTs are checked against the time`;
}

/** At least two of a unit, so that nothing telling is rounded away. */
function words(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms >= 2 * size) ?? [1000, 's'];
  return `${Math.round(ms / size)} ${unit}`;
}
