import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { head, rangeStart, sendFile } from '../../servers/answers.ts';
import { type Asked, accession, startArchive } from '../../servers/archive.ts';

/** Larger than a file that is downloaded again instead of resumed. */
const LARGE_BYTES = 1_400_000;
/** Number of sent bytes of a large file that is cut. */
export const SENT_BYTES = 1_200_000;
const [PIECE_BYTES, PIECE_MS] = [100_000, 5];

export const NUMBERS = [accession(0), accession(1), accession(2)];
const NAMES = ['f0.htm', 'f1.htm'];

/** The files of a filing. The first filing has a large one. */
export const namesOf = (number: string) => (number === NUMBERS[0] ? ['large.htm', ...NAMES] : NAMES);

const bodies = new Map<string, Buffer>();

/** A version of a file, `NUMBER/NAME`. No two positions of the same or of different files have the same bytes. */
export function bodyOf(file: string, version: number): Buffer {
  const start = `${file} v${version} `;
  const known = bodies.get(start);
  if (known) return known;
  const size = isLarge(file) ? LARGE_BYTES + version : 700 + 611 * ((file.charCodeAt(19) + file.charCodeAt(22)) % 9);
  const lines: string[] = [];
  for (let bytes = 0; bytes < size; bytes += lines.at(-1)?.length ?? 0) lines.push(`${start}${bytes}\n`);
  const body = Buffer.from(lines.join('')).subarray(0, size);
  bodies.set(start, body);
  return body;
}

const isLarge = (file: string) => file.endsWith('large.htm');

/** The state of the service. */
export interface Mood {
  version: number;
  /** True if bodies of large files end in the middle. */
  cuts: boolean;
}

/** Starts a service with some filings that supports ranges. */
export async function startFilings() {
  const mood: Mood = { version: 1, cuts: false };
  let resumed = 0;
  const instead = (socket: Socket, { accession: number, name, request }: Asked) => {
    if (name === undefined) return false;
    const body = bodyOf(`${number}/${name}`, mood.version);
    const etag = `"${number}-${name}-v${mood.version}"`;
    if (isLarge(name) && rangeStart(request) === undefined) {
      socket.write(head(200, { 'Content-Length': body.length, ETag: etag }));
      void sendSlowly(socket, mood.cuts ? body.subarray(0, SENT_BYTES) : body, mood.cuts);
    } else {
      if (request.headers['if-range'] === etag) resumed += 1;
      sendFile(socket, request, body, etag);
    }
    return true;
  };
  const listed = NUMBERS.map((number) => [number, Object.fromEntries(namesOf(number).map((name) => [name, '']))]);
  const { env } = await startArchive(Object.fromEntries(listed), { instead, sizes: false });
  return { env, mood, resumed: () => resumed };
}

/** Sends bytes in pieces, so that a power cut falls into a download. */
async function sendSlowly(socket: Socket, bytes: Buffer, closes: boolean): Promise<void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    socket.write(bytes.subarray(at, at + PIECE_BYTES));
    await sleep(PIECE_MS);
  }
  if (closes) socket.end();
}
