import type { Socket } from 'node:net';
import { rangeStart, sendFile } from '../../servers/answers.ts';
import { type Asked, accession, startArchive } from '../../servers/archive.ts';

/** Larger than a file that is downloaded again instead of resumed. */
const LARGE_BYTES = 1_400_000;
/** Number of sent bytes of a large file that is cut. */
const SENT_BYTES = 1_200_000;
const PIECE_BYTES = 100_000;
const PIECE_MS = 5;

const NAMES = ['f0.htm', 'f1.htm'];
const NUMBERS = [accession(0), accession(1), accession(2)];

/** The files of a filing. The first filing has a large one. */
export const namesOf = (number: string) => (number === NUMBERS[0] ? ['large.htm', ...NAMES] : NAMES);

const bodies = new Map<string, Buffer>();

/** A file of one version of the filings. No two positions of the same or of different files have the same bytes. */
export function bodyOf(number: string, name: string, version: number): Buffer {
  const start = `${number}/${name} v${version} `;
  let body = bodies.get(start);
  if (body) return body;
  const isLarge = name.startsWith('large');
  const size = isLarge ? LARGE_BYTES + version : 700 + ((number.charCodeAt(19) + name.charCodeAt(1)) % 9) * 611;
  const lines: string[] = [];
  for (let bytes = 0; bytes < size; bytes += lines.at(-1)?.length ?? 0) lines.push(`${start}${bytes}\n`);
  body = Buffer.from(lines.join('')).subarray(0, size);
  bodies.set(start, body);
  return body;
}

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
    const isLarge = name.startsWith('large');
    const etag = `"${number}-${name}-v${mood.version}"`;
    if (isLarge && rangeStart(request) !== undefined && request.headers['if-range'] === etag) resumed += 1;
    sendFile(isLarge ? slowed(socket, mood.cuts) : socket, request, bodyOf(number, name, mood.version), etag);
    return true;
  };
  const listed = NUMBERS.map((number) => [number, Object.fromEntries(namesOf(number).map((name) => [name, '']))]);
  const { env } = await startArchive(Object.fromEntries(listed), { instead, sizes: false });
  return { env, mood, numbers: NUMBERS, resumed: () => resumed };
}

/**
 * A socket that sends in pieces, so that a power cut falls into a download. With `cuts`, it closes in the middle of the
 * file.
 */
function slowed(socket: Socket, cuts: boolean): Socket {
  const write = (text: Buffer | string) => {
    const bytes = Buffer.from(text);
    const end = cuts ? Math.min(bytes.length, SENT_BYTES) : bytes.length;
    const send = (from: number) => {
      if (socket.destroyed) return;
      const to = Math.min(from + PIECE_BYTES, end);
      socket.write(bytes.subarray(from, to));
      if (to < end) setTimeout(send, PIECE_MS, to);
      else if (end < bytes.length) socket.end();
    };
    send(0);
    return true;
  };
  return { write } as unknown as Socket;
}
