/** A length as it is written: `#` stands for the number, which is the body's own length and `off` more. */
export interface WrittenSize {
  readonly form: string;
  readonly off: number;
}

/** A chunk: how its size is written (in hexadecimal for `#`), what it holds, what ends it. */
export interface RawChunk {
  readonly size: WrittenSize;
  readonly data: string;
  readonly end: string;
}

/** What frames a body: lines of Content-Length and Transfer-Encoding, and chunks where it is sent in chunks. */
export interface RawFraming {
  readonly lengths: readonly WrittenSize[];
  readonly codings: readonly string[];
  readonly chunks?: readonly RawChunk[];
  /** From the last chunk to the answer's end. */
  readonly last?: string;
}

/** How a connection ends: at once, or when the other side has had its time to end it; `cut` over TLS without the alert that closes it. */
export type Ending = 'FIN' | 'RST' | 'late FIN' | 'cut';

/** One answer, as data; texts are latin1, a character a byte. `{self}` is the path that was asked for. */
export interface RawAnswer {
  readonly start: string;
  /** Without line ends, the framing's own lines not among them. */
  readonly fields: readonly string[];
  readonly framing: RawFraming;
  /** What a body without chunks holds. */
  readonly body: string;
  readonly lineEnd: string;
  /** Heads of interim answers before it. */
  readonly interim: readonly string[];
  readonly behind: string;
  /** So many bytes of the end are never sent. */
  readonly cut: number;
  /** Where it is split into segments, in thousandths of its length. */
  readonly splits: readonly number[];
  readonly ending: Ending;
}

/** The answers to a file's requests, one after the other. */
export type Exchange = readonly RawAnswer[];

/** All that an answer would be without its cut. */
export function wholeText(answer: RawAnswer, self: string): string {
  const { framing, lineEnd } = answer;
  const lines = [
    answer.start,
    ...answer.fields,
    ...framing.lengths.map((size) => `Content-Length: ${written(size, answer.body.length, 10)}`),
    ...framing.codings.map((coding) => `Transfer-Encoding: ${coding}`),
    '',
    '',
  ];
  const text = `${answer.interim.join('')}${lines.join(lineEnd)}${framedBody(answer)}`;
  return text.replaceAll('{self}', self) + answer.behind;
}

/** The bytes of an answer, in the segments in which they are sent. */
export function segments(answer: RawAnswer, self: string): Buffer[] {
  const text = wholeText(answer, self);
  const bytes = Buffer.from(text, 'latin1').subarray(0, Math.max(0, text.length - answer.cut));
  const inner = answer.splits.map((part) => Math.floor((bytes.length * part) / 1000)).sort((a, b) => a - b);
  const places = [0, ...inner, bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

function framedBody({ framing, body }: RawAnswer): string {
  if (framing.chunks === undefined) return body;
  const chunks = framing.chunks.map(({ size, data, end }) => `${written(size, data.length, 16)}\r\n${data}${end}`);
  return chunks.join('') + (framing.last ?? '');
}

function written({ form, off }: WrittenSize, size: number, radix: number): string {
  return form.replaceAll('#', (size + off).toString(radix));
}
