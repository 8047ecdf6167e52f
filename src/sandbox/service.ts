// Answers requests as docs/service.md describes the service, from a directory laid out as DIRECTORY/ACCESSION/FILE.
import { createHash, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { extname, join, sep } from 'node:path';
import { unescape as percentDecoded } from 'node:querystring';
import { pipeline } from 'node:stream/promises';
import { isOneFile } from '../disk/file-name.ts';
import { errnoOf } from '../errors.ts';
import type { JwtKey } from '../jwt/keys.ts';
import { isLoopback } from '../loopback.ts';
import { asAccession } from '../service/accession.ts';
import type { KeyPlacement } from '../service/credentials.ts';
import { readRange } from './range.ts';

export interface ServiceOptions {
  /** An absolute path. */
  readonly directory: string;
  readonly platform: string;
  readonly host: string;
  readonly apiKey: string;
  /** If there are any, both key and token are required, otherwise the key alone (service.md, section 5). */
  readonly jwtKeys: readonly JwtKey[];
  /** Splits listings into pages of this number of records. */
  readonly pageSize?: number | undefined;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
}

/** An error object of the service (service.md, section 2). Its detail holds no secret. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: Errors | undefined;

  constructor(status: number, detail: string, headers: Readonly<Record<string, string>> = {}, errors?: Errors) {
    super(detail);
    this.status = status;
    this.headers = headers;
    this.errors = errors;
  }
}

type Errors = Readonly<Record<string, readonly string[]>>;

const KEY_SEGMENT = 'APIKEY-';
/** The fixed user name of Basic authentication (service.md, section 5). */
const BASIC_USER = 'service';
const CHALLENGES = { key: 'Basic realm="filings", charset="UTF-8"', token: 'Bearer realm="filings"' };
const MISSING = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.htm': 'text/html',
  '.html': 'text/html',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
  '.xml': 'application/xml',
  '.xsd': 'application/xml',
  '.zip': 'application/zip',
};

/** Answers a request. Throws a refusal, or the error of a file that cannot be read. */
export async function answer(request: IncomingMessage, response: ServerResponse, options: ServiceOptions) {
  requireHost(request, options.host);
  const parsed = parseRequest(request);
  await requireCredentials(parsed, options);
  if (request.method !== 'GET') throw new Refusal(405, 'only GET is allowed', { Allow: 'GET' });
  if (parsed.resource === '/v1/filings') return sendListing(parsed.query, response, options);
  if (parsed.resource === '/v1/download') return sendFile(parsed.query, request, response, options);
  throw new Refusal(404, 'there is no such resource');
}

/** Writes an error object (RFC 9457). */
export function sendRefusal(response: ServerResponse, { status, message, headers, errors }: Refusal, traceId: string) {
  const title = errors ? 'One or more validation errors occurred.' : STATUS_CODES[status];
  const body = { type: 'about:blank', title, status, detail: message, errors, traceId };
  sendJson(response, status, body, { 'Content-Type': 'application/problem+json', ...headers });
}

function sendJson(response: ServerResponse, status: number, value: unknown, headers: Readonly<Record<string, string>>) {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'Content-Length': body.length, ...headers }).end(body);
}

/** On loopback refuses other names, because a web page can make its own name resolve to this machine. */
function requireHost({ headers: { host = '' } }: IncomingMessage, listening: string): void {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host)?.[1] ?? '';
  if (!isLoopback(listening) || isLoopback(name)) return;
  throw new Refusal(421, 'Host must be a loopback name, such as localhost or 127.0.0.1');
}

/** Returns the path without a key segment, the query, and what the request has as keys and tokens. */
function parseRequest({ url = '', headersDistinct }: IncomingMessage) {
  const [path = '', ...rest] = url.split('?');
  const query = new URLSearchParams(rest.join('?'));
  const segments = path.replace(/\/$/, '').split('/').slice(1);
  const keys: (readonly [placement: KeyPlacement, key: Buffer])[] = [];
  const tokens: string[] = [];
  for (const key of query.getAll('apikey')) keys.push(['query', Buffer.from(key)]);
  for (const key of headersDistinct['x-service-key'] ?? []) keys.push(['header', headerBytes(key)]);
  for (const value of headersDistinct.authorization ?? []) {
    const [, scheme, credentials = ''] = /^(basic|bearer) +(.*)$/i.exec(value) ?? [];
    if (scheme === undefined) keys.push(['authorization', headerBytes(value)]);
    else if (scheme.toLowerCase() === 'bearer') tokens.push(credentials);
    else keys.push(['basic', Buffer.from(credentials, 'base64')]);
  }
  if (segments.at(-1)?.startsWith(KEY_SEGMENT)) {
    keys.push(['path', Buffer.from(percentDecoded(segments.pop()?.slice(KEY_SEGMENT.length) ?? ''))]);
  }
  return { resource: `/${segments.join('/')}`, query, keys, tokens };
}

/** Returns the bytes of a header value, which Node decodes as Latin-1. */
const headerBytes = (value: string) => Buffer.from(value, 'latin1');

/** Throws 401. If keys are given in several places, each must be right. */
async function requireCredentials(
  { keys, tokens }: ReturnType<typeof parseRequest>,
  { apiKey, jwtKeys, now }: ServiceOptions,
) {
  const wantsToken = jwtKeys.length > 0;
  const refuse = (detail: string, challenge = wantsToken ? CHALLENGES.token : CHALLENGES.key) =>
    new Refusal(401, detail, { 'WWW-Authenticate': challenge });
  if (keys.length === 0) throw refuse('no API key was given');
  for (const [placement, key] of keys) {
    const right = Buffer.from(placement === 'basic' ? `${BASIC_USER}:${apiKey}` : apiKey);
    if (!timingSafeEqual(digest(key), digest(right))) throw refuse('the API key is not valid');
  }
  if (!wantsToken) return;
  if (keys.some(([placement]) => placement === 'authorization' || placement === 'basic')) {
    throw refuse('this key requires a JWT in the Authorization field, and itself in X-Service-Key, apikey or the path');
  }
  const [token] = tokens;
  if (token === undefined || tokens.length > 1)
    throw refuse('this key requires one JWT, as a bearer token in the Authorization field');
  const { verifyToken } = await import('../jwt/verify.ts');
  const verdict = await verifyToken(token, jwtKeys, { atSeconds: Math.floor(now() / 1000) });
  if (verdict.valid) return;
  throw refuse(`the JWT is not valid: ${verdict.reason}`, `${CHALLENGES.token}, error="invalid_token"`);
}

/** Returns a digest for comparison, so that the time of comparing reveals neither the key nor its length. */
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

type FaultOf = (value: string) => string | undefined;

/** Throws a refusal that names every parameter that is missing or wrong. */
function requireParameters(query: URLSearchParams, faults: Readonly<Record<string, FaultOf>>): void {
  const errors = Object.entries(faults).flatMap(([name, faultOf]) => {
    const value = query.get(name) ?? '';
    const fault = value === '' ? 'is required' : faultOf(value);
    return fault === undefined ? [] : [[name, [`The field ${name} ${fault}.`]]];
  });
  if (errors.length > 0) throw new Refusal(400, 'the query is not valid', {}, Object.fromEntries(errors));
}

function accessionFault(value: string): string | undefined {
  return asAccession(value) === value ? undefined : 'must be 10 digits, a dash, 2 digits, a dash, 6 digits';
}

function pageFault(value: string): string | undefined {
  return /^[1-9]\d{0,8}$/.test(value) ? undefined : 'must be a whole number from 1 on';
}

async function sendListing(
  query: URLSearchParams,
  response: ServerResponse,
  { directory, platform, pageSize }: ServiceOptions,
) {
  const pageParameter = query.has('page_number') ? { page_number: pageFault } : {};
  requireParameters(query, { accession_no: accessionFault, ...pageParameter });
  const accession = query.get('accession_no') ?? '';
  const names = (await unlessMissing(readdir(join(directory, accession)))) ?? [];
  const found = names
    .filter((name) => isName(name, platform))
    .map(async (name) => {
      const path = await pathInside(directory, accession, name);
      const stats = path === undefined ? undefined : await unlessMissing(stat(path));
      const type = MEDIA_TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream';
      return stats?.isFile() ? [{ accession_no: accession, file_name: name, size: stats.size, type }] : [];
    });
  const records = (await Promise.all(found)).flat().sort((a, b) => (a.file_name < b.file_name ? -1 : 1));
  const total = records.length;
  const size = pageSize ?? total;
  const page = Number(query.get('page_number') ?? 1);
  query.delete('apikey');
  query.set('page_number', `${page + 1}`);
  const next = page * size < total ? `/v1/filings?${query}` : undefined;
  const files = records.slice((page - 1) * size, page * size);
  sendJson(response, 200, { total, files, next }, { 'Content-Type': 'application/json' });
}

async function sendFile(
  query: URLSearchParams,
  { headers }: IncomingMessage,
  response: ServerResponse,
  { directory, platform }: ServiceOptions,
) {
  const nameFault = (value: string) => (isName(value, platform) ? undefined : 'must be the name of one file');
  requireParameters(query, { accession_no: accessionFault, file_name: nameFault });
  const [accession, name] = [query.get('accession_no') ?? '', query.get('file_name') ?? ''];
  // Without O_NONBLOCK, opening a FIFO waits for its writer.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const path = await pathInside(directory, accession, name);
  const file = path && (await unlessMissing(open(path, flags)));
  if (!file) throw new Refusal(404, 'the filing has no file of that name');
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new Error('it is not a regular file');
    const size = Number(stats.size);
    // A strong ETag: no program can set ctime, and a file that replaces another has another inode.
    const ETag = `"${[stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].map((part) => part.toString(36)).join('-')}"`;
    const common = { 'Accept-Ranges': 'bytes', ETag };
    const range = readRange((headers['if-range'] ?? ETag) === ETag ? headers.range : undefined, size);
    if (range === 'unsatisfiable') {
      throw new Refusal(416, `the file has ${size} bytes`, { ...common, 'Content-Range': `bytes */${size}` });
    }
    const { first, last } = range ?? { first: 0, last: size - 1 };
    response.writeHead(range ? 206 : 200, {
      ...common,
      'Content-Type': MEDIA_TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream',
      'Content-Length': last - first + 1,
      ...(range && { 'Content-Range': `bytes ${first}-${last}/${size}` }),
    });
    if (last < first) response.end();
    else {
      const bytes = file.createReadStream({ start: first, end: last, autoClose: false });
      await pipeline(bytes, response, { end: false });
      if (bytes.bytesRead <= last - first) throw new Error('the file became shorter while it was being sent');
      response.end();
    }
  } finally {
    await file.close();
  }
}

/** Returns whether a name can be that of a file. Hidden files, such as the parts of a download, are not served. */
function isName(name: string, platform: string): boolean {
  return isOneFile(name, platform) && !name.includes('\\') && !name.startsWith('.');
}

/** Returns the path of a file, or undefined if it is missing or a link leads out of the directory. */
async function pathInside(directory: string, accession: string, name: string): Promise<string | undefined> {
  const path = await unlessMissing(realpath(join(directory, accession, name)));
  return path?.startsWith(join(directory, sep)) ? path : undefined;
}

async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  return result.catch((error) => {
    if (MISSING.includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  });
}
