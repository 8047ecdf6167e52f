import { expect, test } from 'vitest';
import { InterimFilter } from '../../src/http/interim.ts';

const CONTINUE = 'HTTP/1.1 100 Continue\r\nX-Why: not\r\n\r\n';
const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** What the parser sees of an answer that comes in pieces of a size. */
function seen(text: string, size: number): string {
  const filter = new InterimFilter();
  filter.expectAnswer();
  const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
  return pieces.map((piece) => filter.pass(Buffer.from(piece)).toString()).join('');
}

test.each<[string, string, string]>([
  ['a final answer alone', FINAL, FINAL],
  ['one 100 before it', CONTINUE + FINAL, FINAL],
  ['two of them', CONTINUE + CONTINUE + FINAL, FINAL],
  [
    'another interim answer is the parser’s',
    `HTTP/1.1 103 Early\r\n\r\n${FINAL}`,
    `HTTP/1.1 103 Early\r\n\r\n${FINAL}`,
  ],
  ['a body that looks like one', `${FINAL}${CONTINUE}`, `${FINAL}${CONTINUE}`],
  ['nothing but the beginning of one', CONTINUE.slice(0, -2), ''],
])('%s, however it is cut', (_, text, expected) => {
  for (let size = 1; size <= text.length; size += 1) expect(seen(text, size)).toBe(expected);
});

test('a head without an end is left to the parser', () => {
  const endless = `HTTP/1.1 100 Continue\r\nX: ${'x'.repeat(20_000)}`;
  expect(seen(endless, 5000)).toBe(endless);
});

test('nothing is held back when no answer is due', () => {
  expect(new InterimFilter().pass(Buffer.from(CONTINUE)).toString()).toBe(CONTINUE);
});
