import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { choice, count, DURATION, RATE, SIZE, SWITCH, TIME } from '../../src/spec/kind.ts';
import { readAs } from '../../src/spec/option.ts';

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1.5s', 1_500],
    ['0s', 0],
  ])('%s is %d ms', (text, milliseconds) => {
    expect(DURATION.parse(text)).toBe(milliseconds);
  });

  test.each([
    '',
    '5',
    's',
    '5 s',
    ' 5s',
    '5s ',
    '-5s',
    '+5s',
    '5S',
    '5sec',
    '1h30m',
    '1e3s',
    '0x5s',
    '.5s',
    '5.s',
    '５s',
  ])('%j is none', (text) => expect(DURATION.parse(text)).toBeUndefined());

  // The largest time that a Date can hold, in each unit.
  test.each([
    ['s', 1000],
    ['m', 60_000],
    ['h', 3_600_000],
    ['d', 86_400_000],
  ])('is never more %s than a Date can hold', (unit, milliseconds) => {
    const most = 8.64e15 / milliseconds;
    expect(DURATION.parse(`${most}${unit}`)).toBe(8.64e15);
    expect(DURATION.parse(`${most}.1${unit}`)).toBeUndefined();
    expect(DURATION.parse(`${most + 1}${unit}`)).toBeUndefined();
  });

  test('is whole, whatever the fraction', () => {
    const fraction = fc.nat(999_999_999).map((digits) => String(digits).padStart(9, '0'));
    fc.assert(
      fc.property(fc.nat(9_999), fraction, fc.constantFrom('ms', 's', 'm', 'h', 'd'), (number, digits, unit) => {
        const [whole, exact] = [DURATION.parse(`${number}${unit}`), DURATION.parse(`${number}.${digits}${unit}`)];
        const next = DURATION.parse(`${number + 1}${unit}`);
        expect(exact).toSatisfy(Number.isSafeInteger);
        expect(exact).toBeGreaterThanOrEqual(whole as number);
        expect(exact).toBeLessThanOrEqual(next as number);
      }),
    );
  });
});

test.each([
  ['0', 0],
  ['12', 12],
  ['007', 7],
  ['', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['1e3', undefined],
  ['0x10', undefined],
  [' 1', undefined],
  ['9007199254740993', undefined],
])('count %j is %s', (text, number) => expect(count(0, Number.MAX_SAFE_INTEGER, 1).parse(text)).toBe(number));

test.each([
  ['10/s', 10],
  ['90/m', 1.5],
  ['0.5/s', 0.5],
  ['0/s', undefined],
  ['10', undefined],
  ['10/h', undefined],
  ['-1/s', undefined],
  ['/s', undefined],
])('rate %j is %s a second', (text, rate) => expect(RATE.parse(text)).toBe(rate));

test.each([
  ['500000', 500_000],
  ['200k', 200_000],
  ['200kB', 200_000],
  ['1.5MB', 1_500_000],
  ['1 GB', 1e9],
  ['1GiB', 2 ** 30],
  ['1gib', 2 ** 30],
  ['12B', 12],
  ['', undefined],
  ['MB', undefined],
  ['-1', undefined],
  ['1XB', undefined],
  ['99999PB', undefined],
])('size %j is %s bytes', (text, bytes) => expect(SIZE.parse(text)).toBe(bytes));

test.each([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
  ['yes', undefined],
  ['TRUE', undefined],
  ['', undefined],
])('switch %j is %s', (text, on) => expect(SWITCH.parse(text)).toBe(on));

test.each([
  ['0', 0],
  ['1700000000', 1_700_000_000_000],
  ['2025-01-31T12:00:00Z', Date.UTC(2025, 0, 31, 12)],
  ['2025-01-31t12:00:00.25z', Date.UTC(2025, 0, 31, 12, 0, 0, 250)],
  ['2025-01-31T12:00:00+02:00', Date.UTC(2025, 0, 31, 10)],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2025-02-29T00:00:00Z', undefined],
  ['2025-13-01T00:00:00Z', undefined],
  ['2025-01-01T24:00:00Z', undefined],
  ['2025-01-01T00:60:00Z', undefined],
  ['2025-01-01T00:00:00', undefined],
  ['2025-01-01', undefined],
  ['1.5', undefined],
  ['-5', undefined],
  ['now', undefined],
  ['9999999999999', undefined],
])('time %j is %s', (text, time) => expect(TIME.parse(text)).toBe(time));

describe('errors', () => {
  test('name the flag, what is wrong, and an example', () => {
    expect(() => readAs(DURATION, '10', '--deadline')).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: "--deadline: must be a duration, such as 500ms, 30s, 5m, 2h or 1d, not '10'",
      }),
    );
  });

  test('carry the code of their source', () => {
    const source = { name: '/c.json: jobs', code: 'config' as const };
    expect(() => readAs(count(0, 99, 4), '', source)).toThrow(
      expect.objectContaining({
        code: 'config',
        message: '/c.json: jobs: must be a whole number from 0 to 99, such as 4, and is empty',
      }),
    );
  });

  test('name the choices', () => {
    expect(() => readAs(choice('auto', 'always', 'never'), 'on', 'FILINGS_COLOR')).toThrow(
      "FILINGS_COLOR: must be auto, always or never, not 'on'",
    );
  });

  test('shorten what they show', () => {
    expect(() => readAs(count(0, 99, 4), 'x'.repeat(500), '--jobs')).toThrow(/^.{0,120}$/);
  });
});
