/**
 * The time that a date of HTTP means (RFC 9110 section 5.6.7), in milliseconds since the epoch; undefined for anything
 * else, since Date.parse takes "-1" for a year. Without a zone it is UTC, not the machine's own.
 */
export function httpDate(text: string): number | undefined {
  const date = text.trim();
  if (!/^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(date)) return undefined;
  const time = Date.parse(/ ([a-z]{1,5}|[+-]\d\d:?\d\d)$/i.test(date) ? date : `${date} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
