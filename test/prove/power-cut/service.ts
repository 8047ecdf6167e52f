import type { Socket } from 'node:net';
import { rangeStart, sendFile } from '../../servers/answers.ts';
import { type Asked, accession, startArchive } from '../../servers/archive.ts';

/** Larger than what is fetched anew rather than resumed. */
const LARGE_BYTES = 1_400_000;

const bodies = new Map<string, Buffer>();

/** A file of one version of the filings: no two places of any two are alike. */
export function bodyOf(number: string, name: string, version: number): Buffer {
  const start = `${number}/${name} v${version} `;
  const body = bodies.get(start) ?? madeOf(start, sizeOf(number, name, version));
  bodies.set(start, body);
  return body;
}

function madeOf(start: string, size: number): Buffer {
  const lines: string[] = [];
  for (let bytes = 0; bytes < size; bytes += lines.at(-1)?.length ?? 0) lines.push(`${start}${bytes}\n`);
  return Buffer.from(lines.join('')).subarray(0, size);
}

function sizeOf(number: string, name: string, version: number): number {
  if (name.startsWith('large')) return LARGE_BYTES + version;
  return 700 + ((number.charCodeAt(19) + name.charCodeAt(1)) % 9) * 611;
}

/** How the service is at the moment. */
export interface Mood {
  version: number;
  /** Bodies of large files end in their middle. */
  cuts: boolean;
  /** Large files come piece by piece, so that a power cut finds them under way. Milliseconds a piece. */
  pieceMs: number;
}

/** A service of some filings, the first of which have a large file; it honours ranges. */
export async function startFilings(filings: number, files: number, large: number) {
  const mood: Mood = { version: 1, cuts: false, pieceMs: 0 };
  const names = (at: number) => [
    ...(at < large ? ['large.htm'] : []),
    ...Array.from({ length: files }, (_, n) => `f${n}.htm`),
  ];
  const numbers = Array.from({ length: filings }, (_, at) => accession(at));
  const listed = Object.fromEntries(
    numbers.map((number, at) => [number, Object.fromEntries(names(at).map((name) => [name, bodyOf(number, name, 1)]))]),
  );
  let resumed = 0;
  const instead = (socket: Socket, { accession: number, name, request }: Asked) => {
    if (name === undefined) return false;
    const body = bodyOf(number, name, mood.version);
    const etag = `"${number}-${name}-v${mood.version}"`;
    const isLarge = name.startsWith('large');
    if (isLarge && rangeStart(request) !== undefined && request.headers['if-range'] === etag) resumed += 1;
    if (isLarge && mood.cuts) sendFile(cutAt(socket, 800_000), request, body, etag);
    else if (isLarge && mood.pieceMs > 0) sendFile(inPieces(socket, mood), request, body, etag);
    else sendFile(socket, request, body, etag);
    return true;
  };
  const archive = await startArchive(listed, { instead, sizes: false });
  return {
    env: archive.env,
    mood,
    numbers,
    namesOf: (number: string) => names(numbers.indexOf(number)),
    resumed: () => resumed,
  };
}

/** A socket that ends behind so many bytes of a body. */
function cutAt(socket: Socket, bytes: number): Socket {
  return writingOf((chunk) => (chunk.length < bytes ? socket.write(chunk) : socket.end(chunk.subarray(0, bytes))));
}

const PIECE = 100_000;

function inPieces(socket: Socket, mood: Mood): Socket {
  return writingOf((chunk) => {
    const send = (from: number) => {
      if (socket.destroyed) return;
      const isLast = from + PIECE >= chunk.length;
      socket.write(chunk.subarray(from, from + PIECE));
      if (!isLast) setTimeout(send, mood.pieceMs, from + PIECE);
    };
    send(0);
  });
}

function writingOf(take: (chunk: Buffer) => unknown): Socket {
  const write = (chunk: Buffer | string) => {
    take(Buffer.from(chunk));
    return true;
  };
  return { write } as unknown as Socket;
}
