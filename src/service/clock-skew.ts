const TOLERATED_MS = 30_000;
const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
] as const;

/**
 * What to say when the service's `Date` is more than 30 s away from the local clock:
 * by how much and in which direction. `now` in milliseconds since the epoch.
 */
export function clockSkew(date: string | readonly string[] | undefined, now: number): string | undefined {
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  const ahead = now - theirs;
  if (Number.isNaN(ahead) || Math.abs(ahead) <= TOLERATED_MS) return undefined;
  const direction = ahead > 0 ? 'ahead of' : 'behind';
  return `this clock is ${words(Math.abs(ahead))} ${direction} the service's: set it right, JWTs are checked against the time`;
}

/** At least two of a unit, so that nothing telling is rounded away. */
function words(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms >= 2 * size) ?? [1000, 's'];
  return `${Math.round(ms / size)} ${unit}`;
}
