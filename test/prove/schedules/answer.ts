import { bytesOf, etagOf, type Filed } from './archive.ts';
import type { FilePlan, Plan } from './plan.ts';

/** An answer as it should be. */
export interface Answer {
  readonly status: number;
  readonly fields: readonly string[];
  readonly body: Buffer;
  readonly framing: FilePlan['framing'];
}

const JSON_TYPE = 'Content-Type: application/json';

export function listing(accession: string, files: readonly Filed[], { listedSizes }: Plan): Answer {
  const rows = files
    .filter((file) => file.accession === accession)
    .map(({ name, size }) => ({ accession_no: accession, file_name: name, ...(listedSizes && { size }) }));
  return { status: 200, fields: [JSON_TYPE], body: Buffer.from(JSON.stringify(rows)), framing: 'length' };
}

export function failure(status: number, ...fields: string[]): Answer {
  return {
    status,
    fields: [JSON_TYPE, ...fields],
    body: Buffer.from(`{"title":"by the schedule"}`),
    framing: 'length',
  };
}

/** `unconditional`: whatever If-Range says; `wrong`: from another byte on, and so many bytes as were asked for. */
export type Ranges = 'kept' | 'ignored' | 'wrong' | 'unconditional';

/** A file, or what is asked for of it. */
export function fileAnswer(file: Filed, fields: ReadonlyMap<string, string>, ranges: Ranges): Answer {
  const whole = bytesOf(file, file.version);
  const etag = etagOf(file);
  const own = etag === undefined ? [] : [`ETag: ${etag}`];
  const from = Number(/^bytes=(\d+)-/.exec(fields.get('range') ?? '')?.[1] ?? Number.NaN);
  const isSame = ranges === 'unconditional' || fields.get('if-range') === etag;
  const applies = !Number.isNaN(from) && ranges !== 'ignored' && isSame;
  if (!applies) return { status: 200, fields: own, body: whole, framing: framingOf(file) };
  if (from >= whole.length) return { ...failure(416, `Content-Range: bytes */${whole.length}`, ...own) };
  const start = ranges === 'wrong' ? Math.max(0, from - 1) : from;
  const range = `Content-Range: bytes ${start}-${whole.length - 1}/${whole.length}`;
  const body = whole.subarray(start, start + whole.length - from);
  return { status: 206, fields: [...own, range], body, framing: file.framing };
}

/** An empty answer without a length is no file. */
function framingOf({ framing, size }: Filed): FilePlan['framing'] {
  return size === 0 ? 'length' : framing;
}

/** As it goes over the wire; `now` in milliseconds since the epoch. */
export function wireBytes({ status, fields, body, framing }: Answer, now: number): Buffer {
  const framed = {
    length: [`Content-Length: ${body.length}`],
    chunked: ['Transfer-Encoding: chunked'],
    'until-close': ['Connection: close'],
  }[framing];
  const head = [
    `HTTP/1.1 ${status} By-The-Schedule`,
    `Date: ${new Date(now).toUTCString()}`,
    ...fields,
    ...framed,
    '',
    '',
  ].join('\r\n');
  return Buffer.concat([Buffer.from(head), framing === 'chunked' ? chunked(body) : body]);
}

function chunked(body: Buffer): Buffer {
  const half = body.length >> 1;
  const parts = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0);
  const framed = parts.flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]);
  return Buffer.concat([...framed, Buffer.from('0\r\n\r\n')]);
}
