import { expect, test } from 'vitest';
import { httpDate } from '../../src/http/head.ts';
import { clockAhead, clockSkew, serviceTime } from '../../src/service/clock-skew.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const at = (offsetMs: number) => new Date(NOW + offsetMs).toUTCString();

test.each<[date: unknown, withToken: boolean, skewText: string | undefined]>([
  [at(-30_000), false, undefined],
  [at(-31_000), false, '31 s ahead of'],
  [at(31_000), false, '31 s behind'],
  [at(3 * 3_600_000), false, '3 h behind'],
  [undefined, false, undefined],
  [[at(-99_000), at(-99_000)], false, undefined],
  [at(-1000), true, undefined],
  [at(-2000), true, '2 s ahead of'],
])('the date %j with withToken = %j gives the clock skew %j', (date, withToken, skewText) => {
  const skew = clockSkew(clockAhead(date, NOW, NOW), withToken);
  if (skewText === undefined) expect(skew).toBeUndefined();
  else expect(skew).toContain(`this clock is ${skewText} the service's`);
});

test.each<[string, sent: number, date: number, received: number, ahead: number]>([
  ['a date at the time of the request', NOW, 0, NOW + 9000, 1000],
  ['a date at the time of the response', NOW, 9000, NOW + 9000, 0],
  ['a clock that is 5 s fast and a slow response', NOW + 5000, 0, NOW + 14_000, 6000],
  ['a clock that is 60 s slow and a slow response', NOW, 65_000, NOW + 5000, -60_000],
])('the time that a response travels does not count as clock skew: %s', (_, sent, date, received, ahead) => {
  expect(clockAhead(at(date), sent, received)).toBe(ahead);
});

test.each([
  [' Sun, 06 Nov 1994 08:49:37 GMT ', '1994-11-06T08:49:37Z'],
  ['Monday, 06-Nov-30 08:49:37 GMT', '2030-11-06T08:49:37Z'],
  ['Monday, 06-Nov-77 08:49:37 GMT', '1977-11-06T08:49:37Z'],
  ['-1', undefined],
  ['Sun, 00 Nov 1994 08:49:37 GMT', undefined],
])('parses the HTTP date %j as %s', (text, time) => {
  expect(httpDate(text)).toBe(time && Date.parse(time));
});

test.each([
  [undefined, 0],
  [30_000, 0],
  [-30_000, 0],
  [30_001, -30_001],
  [-3_600_000, 3_600_000],
])('a clock that is %s ms ahead shifts the service’s time by %s ms', (ahead, offset) => {
  expect(serviceTime(NOW, ahead)).toBe(NOW + offset);
});
