// Arbitrary responses and exchanges for the comparison with curl.
import fc from 'fast-check';
import { CROSS, FRAMING, mostly, TEXT } from './arbitrary-framing.ts';
import { LONG, ODD_FIELDS, SOUND_FIELDS, STARTS } from './odd-heads.ts';
import type { Ending, Exchange, RawAnswer } from './raw-answer.ts';

const FIELDS = fc.oneof(
  CROSS,
  { weight: 9, arbitrary: fc.array(fc.constantFrom(...SOUND_FIELDS), { maxLength: 3 }) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...ODD_FIELDS)) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...SOUND_FIELDS, ...ODD_FIELDS), { maxLength: 4 }) },
);

const INTERIM = mostly([] as string[], [
  ['HTTP/1.1 100 Continue\r\n\r\n'],
  ['HTTP/1.1 102 Processing\r\nX: y\r\n\r\n'],
  ['HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n'],
  ['HTTP/1.1 103 Early\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['HTTP/1.1 199 Odd\r\nContent-Encoding: gzip\r\n\r\n'],
  ['HTTP/1.0 100 Continue\r\n\r\n'],
  ['HTTP/1.1 100\r\n\r\n'],
  ['HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n'],
  ['HTTP/1.1 100 Continue\r\n\r\n\r\n'],
  ['HTTP/1.1 100 Continue\n\n'],
  ['HTTP/1.1 100 Continue\r\n'],
  ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
  ['HTTP/1.1 100 Continue\r\nX: y\r\n z\r\n\r\n'],
  [`HTTP/1.1 103 Early\r\nX: ${LONG}\r\n\r\n`],
  Array.from({ length: 60 }, () => 'HTTP/1.1 102 Wait\r\n\r\n'),
  ['\r\n'],
  ['\n\r\n\n'],
]);
const TRAILING = mostly(
  '',
  [
    ...['\r\n', '\n', '\r', '\r\n\r\n', 'x', 'junk', ' ', '\x00', '0\r\n\r\n', '\r\nx', 'y'.repeat(5000)],
    ...['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno', 'HTTP/1.1 500 Oh\r\n\r\n', '\r\nHTTP/1.1 200 OK\r\n\r\n'],
  ],
  10,
);
const CUT = fc.oneof(
  CROSS,
  { weight: 16, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 40 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 80_000 }) },
);
const SPLITS = fc.oneof(
  CROSS,
  { weight: 6, arbitrary: fc.constant([]) },
  { weight: 2, arbitrary: fc.array(fc.nat({ max: 1000 }), { minLength: 1, maxLength: 3 }) },
);

/** A response with at most one or two faults, because a near miss tests more than noise. */
const ANSWER: fc.Arbitrary<RawAnswer> = fc.record({
  start: mostly('HTTP/1.1 200 OK', STARTS, 2),
  fields: FIELDS,
  framing: FRAMING,
  body: TEXT,
  lineEnd: mostly('\r\n', ['\n', '\r', '\r\r\n', '\n\r'], 60),
  interim: INTERIM,
  behind: TRAILING,
  cut: CUT,
  splits: SPLITS,
  ending: fc.oneof(
    CROSS,
    { weight: 6, arbitrary: fc.constant<Ending>('FIN') },
    { weight: 4, arbitrary: fc.constantFrom<Ending>('RST', 'late FIN', 'cut', 'cut') },
  ),
});

/** One response, or a redirect and the response to its target. */
export const EXCHANGE: fc.Arbitrary<Exchange> = fc.oneof(
  CROSS,
  { weight: 5, arbitrary: fc.tuple(ANSWER) },
  { weight: 1, arbitrary: fc.tuple(ANSWER.map(redirecting), ANSWER) },
);

/** A redirect over a connection of its own, so that no byte of it precedes the next response. */
function redirecting(answer: RawAnswer): RawAnswer {
  const fields = [...answer.fields, 'Location: {self}', 'Connection: close'];
  return { ...answer, start: 'HTTP/1.1 302 Found', fields, behind: '', cut: 0, ending: 'FIN' };
}
