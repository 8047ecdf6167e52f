import { expect, test } from 'vitest';
import { httpDate } from '../../src/http/head.ts';
import { clockAhead, clockSkew, serviceTime } from '../../src/service/clock-skew.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const AT_ONCE = { sent: NOW, received: NOW };
const at = (offsetMs: number) => new Date(NOW + offsetMs).toUTCString();

test.each<[string, string | string[] | undefined, withToken: boolean, told: string | undefined]>([
  ['the same time', at(0), false, undefined],
  ['30 s is tolerated', at(-30_000), false, undefined],
  ['31 s ahead', at(-31_000), false, '31 s ahead of'],
  ['31 s behind', at(31_000), false, '31 s behind'],
  ['minutes', at(-600_000), false, '10 min ahead of'],
  ['hours', at(3 * 3_600_000), false, '3 h behind'],
  ['days', at(-72 * 3_600_000), false, '3 d ahead of'],
  ['no date', undefined, false, undefined],
  ['nonsense', 'yesterday', false, undefined],
  ['two dates', [at(0), at(1)], false, undefined],
  ['1 s ahead with a token', at(-1000), true, undefined],
  ['2 s ahead with a token', at(-2000), true, '2 s ahead of'],
  ['29 s ahead with a token', at(-29_000), true, '29 s ahead of'],
  ['29 s behind with a token', at(29_000), true, undefined],
  ['31 s behind with a token', at(31_000), true, '31 s behind'],
  ['a year', '-1', true, undefined],
  ['a number', '5', true, undefined],
  ['an ISO date', '2020-01-02T03:04:05Z', true, undefined],
])('%s', (_, date, withToken, told) => {
  const skew = clockSkew(clockAhead(date, AT_ONCE), withToken);
  if (told === undefined) expect(skew).toBeUndefined();
  else expect(skew).toContain(`this clock is ${told} the service's`);
});

test.each<[string, sent: number, date: number, received: number, ahead: number]>([
  ['dated when it was asked', NOW, 0, NOW + 9000, 1000],
  ['dated when it was answered', NOW, 9000, NOW + 9000, 0],
  ['within a second', NOW, 0, NOW + 900, 900],
  ['fast by 5 s, on a long way', NOW + 5000, 0, NOW + 14_000, 6000],
  ['slow by 60 s, on a long way', NOW, 65_000, NOW + 5000, -60_000],
])('the way of an answer is no skew: %s', (_, sent, date, received, ahead) => {
  expect(clockAhead(at(date), { sent, received })).toBe(ahead);
});

test.each([
  ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37Z'],
  ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37Z'],
  ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37Z'],
  ['Wed Nov 16 08:49:37 1994', '1994-11-16T08:49:37Z'],
  [' Sun, 06 Nov 1994 08:49:37 GMT ', '1994-11-06T08:49:37Z'],
  ['Monday, 06-Nov-30 08:49:37 GMT', '2030-11-06T08:49:37Z'],
  ['Monday, 06-Nov-77 08:49:37 GMT', '1977-11-06T08:49:37Z'],
  ['Thu, 29 Feb 2024 00:00:00 GMT', '2024-02-29T00:00:00Z'],
])('%j is a date', (text, time) => {
  expect(httpDate(text)).toBe(Date.parse(time));
});

test.each([
  '',
  '-1',
  '0',
  '1767322000',
  '2026-01-02T03:04:05Z',
  '06 Nov 1994 08:49:37 GMT',
  'Sun, 00 Nov 1994 08:49:37 GMT',
  'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
])('%j is none', (text) => {
  expect(httpDate(text)).toBeUndefined();
});

test.each([
  [undefined, 0],
  [1_000, 0],
  [30_000, 0],
  [-30_000, 0],
  [30_001, -30_001],
  [3_600_000, -3_600_000],
  [-3_600_000, 3_600_000],
])('the service’s time where this clock is %s ms ahead: %s ms from here', (ahead, offset) => {
  expect(serviceTime(NOW, ahead)).toBe(NOW + offset);
});
