import { expect, test } from 'vitest';
import { describeClockSkew, measureClockAhead } from '../../src/service/clock-skew.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const at = (offsetMs: number) => new Date(NOW + offsetMs).toUTCString();

test.each<{ date: string | string[]; age?: string; withToken: boolean; skew: string | undefined }>([
  { date: at(-30_000), withToken: false, skew: undefined },
  { date: at(-31_000), withToken: false, skew: '31 s ahead of' },
  { date: at(31_000), withToken: true, skew: '31 s behind' },
  { date: at(3 * 3_600_000), withToken: false, skew: '3 h behind' },
  { date: [at(-99_000), at(-99_000)], withToken: false, skew: undefined },
  { date: at(-1000), withToken: true, skew: undefined },
  { date: at(-2000), withToken: true, skew: '2 s ahead of' },
  { date: at(-3_600_000), age: '3600', withToken: true, skew: undefined },
  { date: at(-3_602_000), age: '3600', withToken: true, skew: undefined },
  { date: at(-3_603_000), age: '3600', withToken: true, skew: '2 s ahead of' },
  { date: at(-3_540_000), age: '3600', withToken: true, skew: '60 s behind' },
  { date: at(-3_600_000), age: '-3600', withToken: true, skew: '60 min ahead of' },
])('the date $date with the age $age gives the clock skew $skew (with a token: $withToken)', (row) => {
  const { date, age, withToken, skew } = row;
  const words = describeClockSkew(measureClockAhead({ date, age }, NOW, NOW), withToken);
  if (skew === undefined) expect(words).toBeUndefined();
  else expect(words).toContain(`this machine's clock is ${skew} the service's`);
});

test.each<{ what: string; sent: number; date: number; received: number; ahead: number }>([
  { what: 'a date at the time of the request', sent: NOW, date: 0, received: NOW + 9000, ahead: 1000 },
  { what: 'a date at the time of the response', sent: NOW, date: 9000, received: NOW + 9000, ahead: 0 },
  { what: 'a fast clock and a slow response', sent: NOW + 5000, date: 0, received: NOW + 14_000, ahead: 6000 },
  { what: 'a slow clock and a slow response', sent: NOW, date: 65_000, received: NOW + 5000, ahead: -60_000 },
])('the travelling time of a response is no clock skew: $what', ({ sent, date, received, ahead }) => {
  expect(measureClockAhead({ date: at(date) }, sent, received)).toBe(ahead);
});
