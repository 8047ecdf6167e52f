// A story is a service with two versions of a file and a sequence of cut or wrong responses.
import fc from 'fast-check';
import { head } from '../servers/answers.ts';
import type { Ending } from './raw-answer.ts';

/** A version of the file. `A` and `B` differ in every word and may differ in length. */
export type Which = 'A' | 'B';

/**
 * The validators that tell both versions apart. They are never wrong, because a client cannot detect a wrong validator.
 */
export interface Service {
  readonly sizes: Readonly<Record<Which, number>>;
  readonly validator: 'etag' | 'weak' | 'modified' | 'modified just now' | 'none';
}

/** A response: its version, its offset from the requested start, the part of the body that is sent, and its end. */
export interface Part {
  readonly of: Which;
  readonly status: 200 | 206 | 416;
  readonly shift: number;
  readonly framing: 'length' | 'chunked' | 'until-close';
  /** The sent part of the body, in thousandths. */
  readonly sent: number;
  readonly ending: Ending;
}

export interface Story {
  readonly service: Service;
  readonly parts: readonly Part[];
  /** Retries of each run. */
  readonly retries: number;
}

/** A part of a file of this size is kept for the next run. */
const LARGEST = 1_500_000;
const A = numbered('A');
const B = numbered('B');

const PART: fc.Arbitrary<Part> = fc.record({
  of: fc.constantFrom<Which>('A', 'A', 'A', 'B'),
  status: fc.constantFrom(200, 206, 206, 206, 416),
  shift: fc.constantFrom(0, 0, 0, 0, 0, 0, -1, 1, 100, -100),
  framing: fc.constantFrom('length', 'chunked', 'until-close'),
  sent: fc.oneof({ weight: 1, arbitrary: fc.constant(1000) }, { weight: 3, arbitrary: fc.nat({ max: 1000 }) }),
  ending: fc.constantFrom<Ending>('FIN', 'RST', 'late FIN'),
});

/** The first response is a cut 200, so that a later request can resume it. */
export const STORY: fc.Arbitrary<Story> = fc.record({
  service: fc.record({
    sizes: fc.constantFrom(
      { A: 5000, B: 5000 },
      { A: 5000, B: 4000 },
      { A: 5000, B: 6000 },
      { A: LARGEST, B: LARGEST },
    ),
    validator: fc.constantFrom('etag', 'etag', 'etag', 'modified', 'modified', 'weak', 'modified just now', 'none'),
  }),
  parts: fc
    .tuple(
      PART.map((part): Part => ({ ...part, status: 200, sent: Math.min(part.sent, 999), ending: endingOf(part) })),
      fc.array(PART, { minLength: 1, maxLength: 3 }),
    )
    .map(([first, more]) => [first, ...more]),
  retries: fc.constantFrom(3, 3, 0),
});

/** A body without a length can be cut only by a reset. */
const endingOf = ({ framing, ending }: Part): Ending => (framing === 'until-close' ? 'RST' : ending);

export function representation({ sizes }: Service, which: Which): Buffer {
  return (which === 'A' ? A : B).subarray(0, sizes[which]);
}

function numbered(which: Which): Buffer {
  const words = Array.from({ length: LARGEST / 10 }, (_, index) => `${which}${`${index}`.padStart(8, '.')} `);
  return Buffer.from(words.join(''));
}

/** The bytes of a response to a request from `start`, or for the whole file. */
export function partBytes(service: Service, part: Part, start: number | undefined): Buffer {
  const { status, framing, ending, sent } = part;
  const file = representation(service, part.of);
  const from = status === 200 ? 0 : Math.max(0, (start ?? 0) + part.shift);
  const whole = status === 416 ? Buffer.alloc(0) : file.subarray(from);
  // Without a length, the end of the connection is the end of the body. A cut shows only by a reset, or if a range has
  // the total.
  const honest = framing === 'until-close' && status === 200 && ending !== 'RST';
  const body = honest ? whole : whole.subarray(0, Math.ceil((whole.length * sent) / 1000));
  const isChunked = framing === 'chunked' && status !== 416;
  const fields = {
    ...validators(service, part.of),
    ...(status === 206 && { 'Content-Range': `bytes ${from}-${file.length - 1}/${file.length}` }),
    ...(status === 416 && { 'Content-Range': `bytes */${file.length}` }),
    ...(isChunked && { 'Transfer-Encoding': 'chunked' }),
    ...((framing === 'length' || status === 416) && { 'Content-Length': whole.length }),
    Connection: 'close',
  };
  const chunk = isChunked && body.length > 0 ? [`${body.length.toString(16)}\r\n`, body, '\r\n'] : [body];
  // A cut body has no last chunk.
  const end = isChunked && body.length === whole.length ? '0\r\n\r\n' : '';
  return Buffer.concat([head(status, fields), ...chunk, end].map((piece) => Buffer.from(piece)));
}

/** The correct response: version A, or the rest of A if If-Range has the validator of A. */
export function soundBytes(service: Service, start: number | undefined, ifRange: string | undefined): Buffer {
  const part: Part = { of: 'A', status: 200, shift: 0, framing: 'length', sent: 1000, ending: 'FIN' };
  const validator = validators(service, 'A');
  if (start === undefined || ifRange !== (validator.ETag ?? validator['Last-Modified']))
    return partBytes(service, part, undefined);
  return partBytes(service, { ...part, status: start < service.sizes.A ? 206 : 416 }, start);
}

function validators({ validator }: Service, of: Which): Record<string, string> {
  const date = 'Tue, 02 Jan 2024 00:00:00 GMT';
  if (validator === 'none') return {};
  if (validator === 'etag') return { ETag: `"${of}"` };
  if (validator === 'weak') return { ETag: 'W/"same"', 'Last-Modified': 'Mon, 01 Jan 2024 00:00:00 GMT', Date: date };
  if (validator === 'modified just now') return { 'Last-Modified': date, Date: date };
  return { 'Last-Modified': `Mon, 01 Jan 2024 00:00:0${of === 'A' ? 1 : 2} GMT`, Date: date };
}
