import { describe, expect, test } from 'vitest';
import { HeadFault, HeadGate } from '../../src/http/exchange/head-gate.ts';

const CONTINUE = 'HTTP/1.1 100 Continue\r\nX-Why: not\r\n\r\n';
const EARLY = 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n';
const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** What the parser sees of an answer that comes in pieces of a size. */
function seen(text: string, size: number): string {
  const gate = new HeadGate();
  gate.expectAnswer();
  const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
  return pieces.map((piece) => gate.pass(Buffer.from(piece, 'latin1')).toString('latin1')).join('');
}

test.each<[string, string, string]>([
  ['a final answer alone', FINAL, FINAL],
  ['one 100 before it', CONTINUE + FINAL, FINAL],
  ['two of them', CONTINUE + CONTINUE + FINAL, FINAL],
  ['another interim answer', EARLY + FINAL, FINAL],
  ['a body that looks like one', `${FINAL}${CONTINUE}`, `${FINAL}${CONTINUE}`],
  ['nothing but the beginning of one', CONTINUE.slice(0, -2), ''],
  ['a head that is not whole', FINAL.slice(0, -4), ''],
  [
    'blanks behind values, the body’s own left alone',
    'HTTP/1.0 200 OK \r\nA: b \t\r\nTransfer-Encoding: chunked\t\r\nC:\r\n\r\nbody \r\n\r\n',
    'HTTP/1.0 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\nC:\r\n\r\nbody \r\n\r\n',
  ],
  ['bytes beyond ASCII', 'HTTP/1.1 200 \xe4\r\nA: \xff \r\n\r\n\x80', 'HTTP/1.1 200 \xe4\r\nA: \xff\r\n\r\n\x80'],
])('%s, however it is cut', (_, text, expected) => {
  for (let size = 1; size <= text.length; size += 1) expect(seen(text, size)).toBe(expected);
});

test('line breaks are passed over behind the body of the answer before, and nowhere else', () => {
  const gate = new HeadGate();
  for (const before of ['', '\r\n', '\r\n\n']) {
    gate.expectAnswer();
    for (const byte of before + EARLY) expect(gate.pass(Buffer.from(byte))).toHaveLength(0);
    expect(gate.pass(Buffer.from(FINAL)).toString()).toBe(FINAL);
  }
  gate.expectAnswer();
  expect(gate.pass(Buffer.from(EARLY))).toHaveLength(0);
  expect(() => gate.pass(Buffer.from('\n'))).toThrow(/does not begin as HTTP/);
});

test('nothing is held back when no answer is due', () => {
  expect(new HeadGate().pass(Buffer.from(CONTINUE)).toString()).toBe(CONTINUE);
});

const ok = (fields: string) => `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${fields}\r\n\r\nok`;

describe('a head that is not sound, behind a length too, is told in words of its own', () => {
  test.each<[string, RegExp]>([
    [`\r\n${FINAL}`, /does not begin as HTTP/],
    [`\n${EARLY}${FINAL}`, /does not begin as HTTP/],
    [`${EARLY}\r\n${FINAL}`, /does not begin as HTTP/],
    ['HTTP/1.1 200 O\0K\r\nContent-Length: 2\r\n\r\n', /control character in its status line/],
    ['HTTP/1.1 200 OK\x1b\r\n\r\n', /control character in its status line/],
    ['SSH-2.0-OpenSSH_9.6\r\n', /does not begin as HTTP/],
    ['<html>', /does not begin as HTTP/],
    [`junk${FINAL}`, /does not begin as HTTP/],
    [` ${FINAL}`, /does not begin as HTTP/],
    ['http/1.1 200 OK\r\n\r\n', /does not begin as HTTP/],
    ['RTSP/1.0 200 OK\r\n\r\n', /does not begin as HTTP/],
    ['ICY 200 OK\r\n\r\n', /does not begin as HTTP/],
    ['HTTP/2.0 200 OK\r\n\r\n', /version/],
    ['HTTP/2 200\r\n\r\n', /version/],
    ['HTTP/0.9 200 OK\r\n\r\n', /version/],
    ['HTTP/1.2 200 OK\r\n\r\n', /version/],
    [`${EARLY}HTTP/3.0 200 OK\r\n\r\n`, /version/],
    ['HTTP/1.1 101 X\r\n\r\n', /switches to another protocol/],
    [`${EARLY}HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n`, /switches to another protocol/],
    ['HTTP/1.1 099 OK\r\n\r\n', /status/],
    ['HTTP/1.1 OK\r\n\r\n', /status/],
    ['HTTP/1.1 2000 OK\r\n\r\n', /status/],
    ['HTTP/1.1  200 OK\r\n\r\n', /status/],
    [ok('A: b\r\n folded'), /folded/],
    [ok('A: b\r\n\tfolded'), /folded/],
    [ok('A: b\r\n '), /folded/],
    ['HTTP/1.0 200 OK\r\n\t\r\n\r\nbody', /folded/],
    [ok('A: b\x0b'), /control character/],
    [ok('A: b\nC: d'), /bare line feed/],
    ['HTTP/1.1 200 OK\nContent-Length: 2\n\nok', /bare line feed/],
    ['HTTP/1.1 200 OK\r\nA: b\n\r\n', /bare line feed/],
    [ok('A: b\rC: d'), /bare carriage return/],
    [ok('Nonsense'), /colon/],
    [ok('A b: c'), /name/],
    [ok(': c'), /name/],
    [ok('A : c'), /name/],
    [ok('A: b\0c'), /control character/],
    [ok('A: b\x7f'), /control character/],
    [ok('Content-Length: 3'), /two lengths that differ/],
    [ok('content-length:2'), /length twice/],
    [ok('Transfer-Encoding: chunked'), /both a length and a transfer coding/],
    ['HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\n', /length that is not a number/],
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\xa0\r\n\r\n', /length that is not a number/],
    ['HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n', /length that is not a number/],
    [`HTTP/1.1 200 OK\r\nA: ${'b'.repeat(20_000)}`, /16 KiB/],
    [`HTTP/1.1 200 OK\r\nA: ${'b'.repeat(20_000)}\r\n\r\n`, /16 KiB/],
  ])('%.60j', (text, words) => {
    for (const size of [text.length, text.length > 1000 ? 777 : 1, 7]) {
      expect(() => seen(text, size)).toThrow(HeadFault);
      expect(() => seen(text, size)).toThrow(words);
    }
  });
});
