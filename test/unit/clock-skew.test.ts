import { expect, test } from 'vitest';
import { clockAhead, clockSkew } from '../../src/service/clock-skew.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const at = (offsetMs: number) => new Date(NOW + offsetMs).toUTCString();

test.each<[string, string | string[] | undefined, string | undefined]>([
  ['the same time', at(0), undefined],
  ['30 s is tolerated', at(-30_000), undefined],
  ['31 s ahead', at(-31_000), '31 s ahead of'],
  ['31 s behind', at(31_000), '31 s behind'],
  ['minutes', at(-600_000), '10 min ahead of'],
  ['hours', at(3 * 3_600_000), '3 h behind'],
  ['days', at(-72 * 3_600_000), '3 d ahead of'],
  ['no date', undefined, undefined],
  ['nonsense', 'yesterday', undefined],
  ['two dates', [at(0), at(1)], undefined],
])('%s', (_, date, told) => {
  const skew = clockSkew(clockAhead(date, NOW));
  if (told === undefined) expect(skew).toBeUndefined();
  else expect(skew).toContain(`this clock is ${told} the service's`);
});
