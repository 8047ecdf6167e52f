const TOLERATED_MS = 30_000;

/**
 * What to say when the service's `Date` is more than 30 s away from the local clock:
 * by how much and in which direction. `now` in milliseconds since the epoch.
 */
export function clockSkew(date: string | readonly string[] | undefined, now: number): string | undefined {
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  const ahead = now - theirs;
  if (Number.isNaN(ahead) || Math.abs(ahead) <= TOLERATED_MS) return undefined;
  const seconds = Math.round(Math.abs(ahead) / 1000);
  return `this clock is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} the service's: set it right, since JWTs are checked against the time`;
}
