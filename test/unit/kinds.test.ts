import { expect, test } from 'vitest';
import { BANDWIDTH, DURATION, integer, RATE, SIZE, SWITCH, TIME, TIMEOUT } from '../../src/spec/kind.ts';

const INTEGER = integer({ min: 0, max: 1e6, example: 4 });
const KINDS = { DURATION, TIMEOUT, RATE, SIZE, BANDWIDTH, TIME, SWITCH, INTEGER } as const;

test.each`
  kind           | texts
  ${'DURATION'}  | ${{ '500ms': 500, '30s': 30_000, '5m': 300_000, '2h': 7_200_000, '1d': 86_400_000, '1.5s': 1_500, '0s': 0 }}
  ${'DURATION'}  | ${{ '8640000000000s': 8.64e15, '1.0000009s': 1000 }}
  ${'TIMEOUT'}   | ${{ '1ms': 1 }}
  ${'RATE'}      | ${{ '10/s': 10, '90/m': 1.5, '0.5/s': 0.5 }}
  ${'SIZE'}      | ${{ '500000': 500_000, '200k': 200_000, '200kB': 200_000, '1.5MB': 1_500_000, '1 GB': 1e9, '12B': 12 }}
  ${'SIZE'}      | ${{ '1GiB': 2 ** 30, '1gib': 2 ** 30 }}
  ${'BANDWIDTH'} | ${{ '2MB/s': 2e6, '100kB': 100_000 }}
  ${'SWITCH'}    | ${{ '1': true, true: true, '0': false, false: false }}
  ${'INTEGER'}   | ${{ '0': 0, '12': 12, '007': 7 }}
  ${'TIME'}      | ${{ '0': 0, '1700000000': 1_700_000_000_000 }}
  ${'TIME'}      | ${{ '2025-01-31T12:00:00Z': Date.UTC(2025, 0, 31, 12), '2024-02-29T00:00:00Z': Date.UTC(2024, 1, 29) }}
  ${'TIME'}      | ${{ '2025-01-31t12:00:00.25z': Date.UTC(2025, 0, 31, 12, 0, 0, 250) }}
  ${'TIME'}      | ${{ '2025-01-31T12:00:00+02:00': Date.UTC(2025, 0, 31, 10) }}
`('$kind parses texts as values: $texts', ({ kind, texts }: { kind: keyof typeof KINDS; texts: object }) => {
  const parsed = Object.keys(texts).map((text) => [text, KINDS[kind].parse(text)]);
  expect(Object.fromEntries(parsed)).toEqual(texts);
});

const INVALID: Readonly<Record<keyof typeof KINDS, string>> = {
  DURATION: '|5|s|5 s| 5s|5s |-5s|5S|5sec|1h30m|1e3s|.5s|5.s|５s|8640000000000.1s',
  TIMEOUT: '0s|5',
  RATE: '0/s|10|10/h|-1/s|/s',
  SIZE: '|MB|-1|1XB|99999PB',
  BANDWIDTH: '0|0kB/s|2MB/m|/s',
  SWITCH: 'yes|TRUE|',
  INTEGER: '|-1|1.5|1e3|0x10| 1|1000001|9007199254740993',
  TIME:
    '2025-02-29T00:00:00Z|2025-13-01T00:00:00Z|2025-01-01T24:00:00Z|2025-01-01T00:60:00Z|' +
    '2025-01-01T00:00:00|2025-01-01|1.5|-5|now|9999999999999|',
};
test.each(Object.entries(INVALID))('%s parses none of %s', (kind, texts) => {
  for (const text of texts.split('|')) expect(KINDS[kind as keyof typeof KINDS].parse(text), text).toBeUndefined();
});
