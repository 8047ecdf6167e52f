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

/** One answer: whose bytes, from where, what its range says, and how it ends. */
export interface Part {
  readonly of: Which;
  readonly status: 200 | 206 | 416;
  /** Where it begins, beside what was asked for; what its Content-Range says beside the truth: start, last, total. */
  readonly shift: number;
  readonly lies: readonly [number, number, number];
  readonly totalKnown: boolean;
  readonly framing: 'length' | 'chunked' | 'until-close';
  /** What its length says beside the truth; of a 206 alone, whose range says it, too. */
  readonly lengthLie: number;
  /** The validator is left out. */
  readonly bare: boolean;
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

const SHIFT = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 1, 100, -100) },
);
const WHICH = fc.constantFrom<Which>('A', 'A', 'A', 'B');
const PART: fc.Arbitrary<Part> = fc
  .record({
    of: WHICH,
    status: fc.constantFrom(200, 206, 206, 206, 416),
    shift: SHIFT,
    lies: fc.tuple(SHIFT, SHIFT, SHIFT),
    totalKnown: fc.oneof({ weight: 8, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    framing: fc.constantFrom('length', 'chunked', 'until-close'),
    lengthLie: SHIFT,
    bare: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    sent: fc.oneof({ weight: 1, arbitrary: fc.constant(1000) }, { weight: 3, arbitrary: fc.nat({ max: 1000 }) }),
    ending: fc.constantFrom<Ending>('FIN', 'RST', 'late FIN'),
  })
  .map(seeable);

/** The first answer is the whole, cut somewhere, so that there is something to go on with. */
export const STORY: fc.Arbitrary<Story> = fc.record({
  service: fc.record({
    sizes: fc.oneof(
      fc.constant({ A: 5000, B: 5000 }),
      fc.constant({ A: 5000, B: 4000 }),
      fc.constant({ A: 5000, B: 6000 }),
      fc.constant({ A: LARGEST, B: LARGEST }),
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

/** Without the lies that nobody can see through: other bytes, or fewer, than a range says that contradicts nothing. */
function seeable(part: Part): Part {
  const [start, last, total] = part.lies;
  const honestStart = part.shift + start === 0 ? 0 : start;
  return { ...part, lies: [honestStart, last, total === last || part.status === 416 ? 0 : total] };
}

export function representation({ sizes }: Service, which: Which): Buffer {
  return (which === 'A' ? A : B).subarray(0, sizes[which]);
}

function numbered(which: Which): Buffer {
  const words = Array.from({ length: LARGEST / 10 }, (_, index) => `${which}${`${index}`.padStart(8, '.')} `);
  return Buffer.from(words.join(''));
}

/** What a part is on the wire, for a request from `start`, or for the whole. */
export function partBytes(service: Service, part: Part, start: number | undefined): Buffer {
  const file = representation(service, part.of);
  const from = part.status === 200 ? 0 : Math.max(0, (start ?? 0) + part.shift);
  const whole = part.status === 416 ? Buffer.alloc(0) : file.subarray(from);
  const length = whole.length + (part.status === 206 ? part.lengthLie : 0);
  const fields = {
    ...validators(service, part),
    ...rangeOf(part, from, file.length),
    ...framingOf(part, Math.max(0, length)),
  };
  // Without a length an end is taken for the body's: cut by a reset alone, or where a range tells the total.
  const honest = part.framing === 'until-close' && part.status === 200 && part.ending !== 'RST';
  const body = framed(
    part,
    honest ? whole : whole.subarray(0, Math.ceil((whole.length * part.sent) / 1000)),
    whole.length,
  );
  return Buffer.concat([Buffer.from(head(part.status, { ...fields, Connection: 'close' })), body]);
}

/** What a service that has come to rest answers: A, or of A what was asked for, if it is A that is held. */
export function soundBytes(service: Service, start: number | undefined, ifRange: string | undefined): Buffer {
  const sound = { of: 'A', shift: 0, lies: [0, 0, 0], totalKnown: true, framing: 'length', lengthLie: 0 } as const;
  const part: Part = { ...sound, status: 200, bare: false, sent: 1000, ending: 'FIN' };
  const held = validators(service, part);
  if (start === undefined || ifRange !== (held.ETag ?? held['Last-Modified']))
    return partBytes(service, part, undefined);
  return partBytes(service, { ...part, status: start < service.sizes.A ? 206 : 416 }, start);
}

function validators({ validator }: Service, { of, bare }: Part): Record<string, string> {
  const date = 'Tue, 02 Jan 2024 00:00:00 GMT';
  if (bare || validator === 'none') return {};
  if (validator === 'etag') return { ETag: `"${of}"` };
  if (validator === 'weak') return { ETag: 'W/"same"', 'Last-Modified': 'Mon, 01 Jan 2024 00:00:00 GMT', Date: date };
  if (validator === 'modified just now') return { 'Last-Modified': date, Date: date };
  return { 'Last-Modified': `Mon, 01 Jan 2024 00:00:0${of === 'A' ? 1 : 2} GMT`, Date: date };
}

function rangeOf({ status, lies, totalKnown }: Part, from: number, size: number): Record<string, string> {
  const [start, last, total] = [from + lies[0], size - 1 + lies[1], totalKnown ? size + lies[2] : '*'];
  if (status === 206) return { 'Content-Range': `bytes ${start}-${last}/${total}` };
  return status === 416 ? { 'Content-Range': `bytes */${total}` } : {};
}

function framingOf({ framing, status }: Part, length: number): Record<string, string | number> {
  if (framing === 'length' || status === 416) return { 'Content-Length': length };
  return framing === 'chunked' ? { 'Transfer-Encoding': 'chunked' } : {};
}

/** A chunk of what is sent, whose last chunk is missing where not all of it is. */
function framed({ framing, status }: Part, body: Buffer, whole: number): Buffer {
  if (framing !== 'chunked' || status === 416) return body;
  const end = body.length === whole ? '0\r\n\r\n' : '';
  const chunk = body.length === 0 ? [] : [`${body.length.toString(16)}\r\n`, body, '\r\n'];
  return Buffer.concat([...chunk, end].map((piece) => Buffer.from(piece)));
}
