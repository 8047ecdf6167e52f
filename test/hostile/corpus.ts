import type { Exchange, RawAnswer } from './raw-answer.ts';

const SOUND: RawAnswer = {
  start: 'HTTP/1.1 200 OK',
  fields: [],
  framing: { lengths: [{ form: '#', off: 0 }], codings: [] },
  body: 'hello',
  lineEnd: '\r\n',
  interim: [],
  behind: '',
  cut: 0,
  splits: [],
  ending: 'FIN',
};
const UNTIL_CLOSE = { lengths: [], codings: [] };
const chunked = (last: string) => ({
  lengths: [],
  codings: ['chunked'],
  chunks: [{ size: { form: '#', off: 0 }, data: 'hello', end: '\r\n' }],
  last,
});
const one = (odd: Partial<RawAnswer>): Exchange => [{ ...SOUND, ...odd }];

/** Over TLS, and what comes of comparing: its end proves nothing of a body without a length. */
export const OVER_TLS: readonly (readonly [kind: string, exchange: Exchange])[] = [
  ['stricter', one({ framing: UNTIL_CLOSE })],
  ['stricter', one({ framing: UNTIL_CLOSE, ending: 'cut' })],
  ['both refuse', one({ framing: UNTIL_CLOSE, ending: 'RST' })],
  ['same', one({ ending: 'cut' })],
  ['both refuse', one({ cut: 2 })],
  ['same', one({ body: '', behind: '\r\n\r\n' })],
];

/** What the search has found: what became of it then, and what is to become of it here. */
export const CORPUS: readonly (readonly [was: string, now: 'taken' | 'refused', exchange: Exchange])[] = [
  ['sound', 'taken', one({})],
  // Two sound heads, once their texts are joined; an interim answer that was not asked for.
  ['taken', 'refused', one({ interim: ['HTTP/1.1 100 Continue\r\n'], start: '\r\nHTTP/1.1 200 OK' })],
  ['taken', 'refused', one({ interim: ['\r\n'] })],
  ['taken', 'refused', one({ interim: ['HTTP/1.1 100 Continue\r\n\r\n\r\n'] })],
  ['taken', 'refused', one({ start: 'HTTP/1.1 200 O\0K' })],
  ['exit 1', 'refused', one({ start: 'HTTP/1.1 101 Switch' })],
  ['exit 1', 'refused', one({ start: 'HTTP/1.1 101 Switch', fields: ['Upgrade: h2c'], framing: chunked('0\r\n\r\n') })],
  ['other bytes than curl’s', 'refused', one({ fields: ['X: y\r\n '], framing: UNTIL_CLOSE })],
  ['other bytes than curl’s', 'refused', one({ fields: ['X: y\r\n '], framing: UNTIL_CLOSE, splits: [968, 23] })],
  ['refused', 'taken', one({ fields: ['Content-Encoding: identity', 'Content-Encoding: identity'] })],
  ['followed five times', 'refused', one({ start: 'HTTP/1.1 307 Moved', fields: ['Location:'] })],
  [
    'curl refuses',
    'taken',
    [
      {
        ...SOUND,
        start: 'HTTP/1.1 302 Found',
        fields: ['Location: {self}', 'Connection: close'],
        framing: { lengths: [], codings: ['chunked'] },
        body: '',
      },
      SOUND,
    ],
  ],
  ['curl refuses', 'taken', one({ framing: chunked(`${'0'.repeat(19)}\r\n\r\n`) })],
];
