import { expect, test } from 'vitest';
import { breaksBehind, isSurplus } from '../../src/http/exchange/surplus.ts';

test.each<[string, boolean]>([
  ['', false],
  ['\n', false],
  ['\r\n', false],
  ['\r', true],
  ['\n\n', true],
  ['\r\n\r\n', true],
  ['\n\r', true],
  [' ', true],
  ['\0', true],
  ['x', true],
])('%j behind a body is surplus: %j', (rest, expected) => {
  expect(isSurplus(rest)).toBe(expected);
});

test.each<[string, string, string]>([
  ['hello', 'hello', ''],
  ['hello\r\n', 'hello', '\r\n'],
  ['hello\n', 'hello\n', ''],
  ['\r\nhello\r\n\r\n\r\n\r\n', 'hello\r\n', '\r\n\r'],
])('a length ended: in %j behind %j', (read, data, expected) => {
  // As a piece of a larger buffer, as a slot is.
  const slot = Buffer.from(`....${read}....`);
  const part = slot.subarray(4, 4 + read.length);
  const start = read.indexOf(data);
  expect(breaksBehind(part, part.subarray(start, start + data.length))).toBe(expected);
});

test.each<[string, string]>([
  ['0\r\n\r\n', ''],
  ['0\r\n\r\n\n', '\n'],
  ['0\r\n\r\n\r\n', '\r\n'],
  // More than can be fair: as many as decide.
  ['0\r\n\r\n\r\n\r\n', '\n\r\n\r\n\r\n'],
  ['0\r\n\r\n\r', '\r'],
  ['X: y\r\n\r\n\n\n', '\n\n'],
  // The read began within the empty line: nobody knows where.
  ['\r\n', ''],
  ['\n\r\n\r\n', ''],
])('an empty line ended: in %j', (read, expected) => {
  expect(breaksBehind(Buffer.from(read), undefined)).toBe(expected);
});
