// A response as data, from which each byte that the server sends follows.
/** A length as text. `#` in `form` is the number, which is the length of the body plus `off`. */
export interface WrittenSize {
  readonly form: string;
  readonly off: number;
}

/** A chunk: its size, which is hexadecimal for `#`, its data and its end. */
export interface RawChunk {
  readonly size: WrittenSize;
  readonly data: string;
  readonly end: string;
}

/** The framing of a body: values of Content-Length and Transfer-Encoding, and chunks if the body is sent in chunks. */
export interface RawFraming {
  readonly lengths: readonly WrittenSize[];
  readonly codings: readonly string[];
  readonly chunks?: readonly RawChunk[];
  /** The text from the last chunk to the end of the response. */
  readonly last?: string;
}

/**
 * The end of a connection: at once, or after the other side had time to close it. `cut` closes TLS without its closing
 * alert.
 */
export type Ending = 'FIN' | 'RST' | 'late FIN' | 'cut';

/** A response. Texts are latin1, one character per byte. `{self}` is the requested path. */
export interface RawAnswer {
  readonly start: string;
  /** Lines without their ends, except the lines of the framing. */
  readonly fields: readonly string[];
  readonly framing: RawFraming;
  /** The body, if it is not sent in chunks. */
  readonly body: string;
  readonly lineEnd: string;
  /** Heads of interim responses before this one. */
  readonly interim: readonly string[];
  readonly behind: string;
  /** Number of bytes at the end that are not sent. */
  readonly cut: number;
  /** Positions at which the bytes are split into segments, in thousandths of their length. */
  readonly splits: readonly number[];
  readonly ending: Ending;
}

/** The responses to the requests for a file, in order. */
export type Exchange = readonly RawAnswer[];

/** The complete text of a response, without its cut. */
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

/** The bytes of a response, split into the segments that are sent. */
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
