// A service with the filings of a test. It answers correctly unless `instead` handles the request.
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Fields, head } from './answers.ts';
import { type SeenRequest, scripted } from './scripted.ts';

/** Filings by accession number, files by name. */
export type Filings = Readonly<Record<string, Readonly<Record<string, string | Buffer>>>>;

/** A request. Without a name it asks for the listing. */
export interface Asked {
  readonly accession: string;
  readonly name: string | undefined;
  /** Number of earlier requests for the same file or listing. */
  readonly before: number;
  readonly request: SeenRequest;
}

/** Answers a request itself and returns true, or leaves it to the archive. */
export type Instead = (socket: Socket, asked: Asked) => boolean | undefined;

export interface ArchiveOptions {
  readonly instead?: Instead;
  /** True if listings contain sizes. */
  readonly sizes?: boolean;
}

export type Archive = Awaited<ReturnType<typeof startArchive>>;

/** Starts a service with these filings. It stops at the end of the test. */
export async function startArchive(filings: Filings, { instead, sizes = true }: ArchiveOptions = {}) {
  const asked: string[] = [];
  const times = new Map<string, number>();
  let sent = 0;
  const reply = (socket: Socket, status: number, body: Buffer | string, fields: Fields = {}) => {
    const bytes = Buffer.from(body);
    sent += bytes.length;
    socket.write(Buffer.concat([Buffer.from(head(status, { ...fields, 'Content-Length': bytes.length })), bytes]));
  };
  const server = await scripted((socket, request) => {
    const { searchParams } = new URL(request.path, 'http://service');
    const accession = searchParams.get('accession_no') ?? '';
    const name = searchParams.get('file_name') ?? undefined;
    const key = name === undefined ? accession : `${accession}/${name}`;
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    asked.push(key);
    if (instead?.(socket, { accession, name, before, request })) return;
    const files = filings[accession] ?? {};
    if (name === undefined) return reply(socket, 200, listing(accession, files, sizes));
    const body = files[name];
    if (body === undefined) return reply(socket, 404, '{"title":"Not Found"}');
    reply(socket, 200, body, { ETag: `"${digest(body)}"` });
  });
  const env = { FILINGS_BASE_URL: server.url, FILINGS_API_KEY: 'a-key' };
  return {
    ...server,
    /** The requests in order, as `ACCESSION` or `ACCESSION/NAME`. */
    asked: () => asked,
    /** Number of body bytes sent. */
    sent: () => sent,
    env,
  };
}

function listing(accession: string, files: Filings[string], sizes: boolean): string {
  const entries = Object.entries(files).map(([file_name, body]) => ({
    accession_no: accession,
    file_name,
    ...(sizes && { size: Buffer.byteLength(body) }),
  }));
  return JSON.stringify({ total: entries.length, files: entries });
}

function digest(body: string | Buffer): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 16);
}

/** The accession number with a sequence number. */
export function accession(n: number): string {
  return `0001234567-24-${String(n).padStart(6, '0')}`;
}
