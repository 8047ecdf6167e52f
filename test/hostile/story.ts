import fc from 'fast-check';
import { head } from '../servers/answers.ts';
import type { Ending } from './raw-answer.ts';

/** Bytes of a representation of the file; `A` and `B` differ everywhere, and may differ in length. */
export type Which = 'A' | 'B';

/** How both representations are told apart, never wrongly: a service that lies about this can't be seen through. */
export interface Service {
  readonly sizes: Readonly<Record<Which, number>>;
  readonly validator: 'etag' | 'weak' | 'modified' | 'modified just now' | 'none';
}

/** One answer: whose bytes, from where beside what was asked for, how much of them, and how it ends. */
export interface Part {
  readonly of: Which;
  readonly status: 200 | 206 | 416;
  readonly shift: number;
  readonly framing: 'length' | 'chunked' | 'until-close';
  /** In thousandths of the body. */
  readonly sent: number;
  readonly ending: Ending;
}

export interface Story {
  readonly service: Service;
  readonly parts: readonly Part[];
  /** Tries of each run after its first. */
  readonly retries: number;
}

/** Parts of files this large stay for the next run. */
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

/** The first answer is the whole, cut somewhere, so that there is something to go on with. */
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

/** Only a reset cuts what the end of the connection ends. */
const endingOf = ({ framing, ending }: Part): Ending => (framing === 'until-close' ? 'RST' : ending);

export function representation({ sizes }: Service, which: Which): Buffer {
  return (which === 'A' ? A : B).subarray(0, sizes[which]);
}

function numbered(which: Which): Buffer {
  const words = Array.from({ length: LARGEST / 10 }, (_, index) => `${which}${`${index}`.padStart(8, '.')} `);
  return Buffer.from(words.join(''));
}

/** What a part is on the wire, for a request from `start`, or for the whole. */
export function partBytes(service: Service, part: Part, start: number | undefined): Buffer {
  const { status, framing, ending, sent } = part;
  const file = representation(service, part.of);
  const from = status === 200 ? 0 : Math.max(0, (start ?? 0) + part.shift);
  const whole = status === 416 ? Buffer.alloc(0) : file.subarray(from);
  // Without a length an end is taken for the body's: cut by a reset alone, or where a range tells the total.
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
  // The last chunk is missing where not all of it is sent.
  const end = isChunked && body.length === whole.length ? '0\r\n\r\n' : '';
  return Buffer.concat([head(status, fields), ...chunk, end].map((piece) => Buffer.from(piece)));
}

/** What a service that has come to rest answers: A, or of A what was asked for, if it is A that is held. */
export function soundBytes(service: Service, start: number | undefined, ifRange: string | undefined): Buffer {
  const part: Part = { of: 'A', status: 200, shift: 0, framing: 'length', sent: 1000, ending: 'FIN' };
  const held = validators(service, 'A');
  if (start === undefined || ifRange !== (held.ETag ?? held['Last-Modified']))
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
