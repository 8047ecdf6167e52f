// Answers requests as the service would (docs/service.md), with the files at DIRECTORY/ACCESSION/FILE. Where
// docs/service.md leaves a gap, such as the form of a listing, the sandbox does what is common.
import { createHash, timingSafeEqual } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { extname, join } from 'node:path';
import { unescape as decodePercent } from 'node:querystring';
import { pipeline } from 'node:stream/promises';
import { isDirectoryEntryName } from '../disk/file-name.ts';
import { errnoOf, FilingsError } from '../errors.ts';
import type { JwtKey } from '../jwt/keys.ts';
import { isLoopback } from '../loopback.ts';
import { asAccession } from '../service/accession.ts';
import type { KeyPlacement } from '../service/credentials.ts';
import { parseRange } from './range.ts';

export interface ServiceOptions {
  /** An absolute path. */
  readonly directory: string;
  readonly platform: string;
  readonly host: string;
  /** The only key that is accepted. */
  readonly apiKey: string;
  /** If there are any, each request needs a JWT and the API key (docs/service.md, section 5). */
  readonly jwtKeys: readonly JwtKey[];
  /** If set, listings are sent in pages of at most this many records. */
  readonly pageSize?: number | undefined;
  /** In milliseconds since the epoch. */
  readonly now: () => number;
}

/** server.ts also logs the message, which must therefore not contain a secret. */
export class ErrorAnswer extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What is wrong with each parameter of the query, for a 400. */
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
/** The user of Basic authentication. Its password is the key (docs/service.md, section 5). */
const BASIC_USER = 'service';
const CHALLENGES = { key: 'Basic realm="filings", charset="UTF-8"', token: 'Bearer realm="filings"' };
/** These system errors are treated as "there is no such file". */
const MISSING_ERRORS = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];
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

/** Throws a {@link ErrorAnswer}, or another error if a file cannot be sent. */
export async function answer(request: IncomingMessage, response: ServerResponse, options: ServiceOptions) {
  requireHost(request, options.host);
  const parsed = parseRequest(request);
  await requireCredentials(parsed, options);
  if (request.method !== 'GET') throw new ErrorAnswer(405, 'only GET is allowed', { Allow: 'GET' });
  if (parsed.resource === '/v1/filings') return sendListing(parsed.query, response, options);
  if (parsed.resource === '/v1/download') return sendFile(parsed.query, request, response, options);
  throw new ErrorAnswer(404, 'no such resource');
}

/** docs/service.md, section 2. `traceId` is also in the log. */
export function sendErrorAnswer(
  response: ServerResponse,
  { status, message, headers, errors }: ErrorAnswer,
  traceId: string,
) {
  const title = errors ? 'One or more validation errors occurred.' : STATUS_CODES[status];
  const body = { type: 'about:blank', title, status, detail: message, errors, traceId };
  sendJson(response, status, body, { 'Content-Type': 'application/problem+json', ...headers });
}

function sendJson(response: ServerResponse, status: number, value: unknown, headers: Readonly<Record<string, string>>) {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'Content-Length': body.length, ...headers }).end(body);
}

/**
 * A server on loopback refuses a Host that is no loopback name. Otherwise a web page could make its own name resolve to
 * this machine, and read the files (DNS rebinding). 421 is the status for a request to the wrong host (RFC 9110,
 * section 15.5.20).
 */
function requireHost({ headers: { host = '' } }: IncomingMessage, ownHost: string): void {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(host)?.[1] ?? '';
  if (!isLoopback(ownHost) || isLoopback(name)) return;
  throw new ErrorAnswer(421, 'Host must be a loopback name, such as localhost or 127.0.0.1');
}

/**
 * Finds keys and tokens in all places of docs/service.md, section 5. `resource` is the path without a key. The
 * parameter `apikey` stays in `query`.
 */
function parseRequest({ url = '', headersDistinct }: IncomingMessage) {
  // Only the first `?` begins the query.
  const [path = '', ...rest] = url.split('?');
  const query = new URLSearchParams(rest.join('?'));
  const segments = path.replace(/\/$/, '').split('/').slice(1);
  const keys: (readonly [placement: KeyPlacement, key: Buffer])[] = [];
  const tokens: string[] = [];
  for (const key of query.getAll('apikey')) keys.push(['query', Buffer.from(key)]);
  for (const key of headersDistinct['x-service-key'] ?? []) keys.push(['header', headerBytes(key)]);
  for (const value of headersDistinct.authorization ?? []) {
    const [, scheme, credentials = ''] = /^(basic|bearer) +(.*)$/i.exec(value) ?? [];
    // A value without a scheme is the key itself.
    if (scheme === undefined) keys.push(['authorization', headerBytes(value)]);
    else if (scheme.toLowerCase() === 'bearer') tokens.push(credentials);
    else keys.push(['basic', Buffer.from(credentials, 'base64')]);
  }
  if (segments.at(-1)?.startsWith(KEY_SEGMENT)) {
    // Unlike decodeURIComponent, this does not throw if the percent-encoding is invalid.
    keys.push(['path', Buffer.from(decodePercent(segments.pop()?.slice(KEY_SEGMENT.length) ?? ''))]);
  }
  return { resource: `/${segments.join('/')}`, query, keys, tokens };
}

/** Node decodes header values as Latin-1. */
const headerBytes = (value: string) => Buffer.from(value, 'latin1');

/** Every key in the request must be right, and the JWT if `jwtKeys` require one. */
async function requireCredentials(
  { keys, tokens }: ReturnType<typeof parseRequest>,
  { apiKey, jwtKeys, now }: ServiceOptions,
) {
  const wantsToken = jwtKeys.length > 0;
  const unauthorized = (detail: string, challenge = wantsToken ? CHALLENGES.token : CHALLENGES.key) =>
    new ErrorAnswer(401, detail, { 'WWW-Authenticate': challenge });
  if (keys.length === 0) throw unauthorized('no API key was given');
  for (const [placement, key] of keys) {
    const expected = Buffer.from(placement === 'basic' ? `${BASIC_USER}:${apiKey}` : apiKey);
    // Hashed first, because timingSafeEqual needs equal lengths, and comparing them would reveal the length of the key.
    if (!timingSafeEqual(sha256(key), sha256(expected))) throw unauthorized('the API key is invalid');
  }
  if (!wantsToken) return;
  // The JWT is sent in `Authorization`, so even a right key is refused there (docs/service.md, section 5).
  if (keys.some(([placement]) => placement === 'authorization' || placement === 'basic')) {
    throw unauthorized('Authorization must have a JWT: send the key in X-Service-Key, in apikey or in the path');
  }
  const [token] = tokens;
  if (token === undefined || tokens.length > 1)
    throw unauthorized('a JWT is required: send exactly one in Authorization, after Bearer');
  const { verifyToken } = await import('../jwt/verify.ts');
  await verifyToken(token, jwtKeys, { atSeconds: Math.floor(now() / 1000) }).catch((error) => {
    if (!(error instanceof FilingsError)) throw error;
    // RFC 6750, section 3.1.
    throw unauthorized(`the JWT is invalid: ${error.reason}`, `${CHALLENGES.token}, error="invalid_token"`);
  });
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

/** Returns the end of a sentence: `must be a file name`. */
type FindFault = (value: string) => string | undefined;

/** Throws a 400 that lists the parameters that are missing or invalid. */
function requireParameters(query: URLSearchParams, checks: Readonly<Record<string, FindFault>>): void {
  const errors = Object.entries(checks).flatMap(([name, check]) => {
    const value = query.get(name) ?? '';
    const fault = value === '' ? 'is required' : check(value);
    return fault === undefined ? [] : [[name, [`The field ${name} ${fault}.`]]];
  });
  if (errors.length > 0) throw new ErrorAnswer(400, 'the query is invalid', {}, Object.fromEntries(errors));
}

/** Requires the form with hyphens, which also keeps `/` and `..` out of the path to the file. */
function checkAccession(value: string): string | undefined {
  return asAccession(value) === value ? undefined : 'must be 10 digits, a hyphen, 2 digits, a hyphen and 6 digits';
}

function checkPage(value: string): string | undefined {
  return /^[1-9]\d{0,8}$/.test(value) ? undefined : 'must be a positive whole number';
}

async function sendListing(
  query: URLSearchParams,
  response: ServerResponse,
  { directory, platform, pageSize }: ServiceOptions,
) {
  const pageParameter = query.has('page_number') ? { page_number: checkPage } : {};
  requireParameters(query, { accession_no: checkAccession, ...pageParameter });
  const accession = query.get('accession_no') ?? '';
  // A filing that does not exist has an empty listing.
  const names = (await unlessMissing(readdir(join(directory, accession)))) ?? [];
  const files = names
    .filter((name) => isServable(name, platform))
    .map(async (name) => {
      const stats = await unlessMissing(stat(join(directory, accession, name)));
      const type = MEDIA_TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream';
      return stats?.isFile() ? [{ accession_no: accession, file_name: name, size: stats.size, type }] : [];
    });
  const records = (await Promise.all(files)).flat().sort((a, b) => (a.file_name < b.file_name ? -1 : 1));
  const total = records.length;
  const size = pageSize ?? total;
  const page = Number(query.get('page_number') ?? 1);
  // Undefined on the last page, so JSON.stringify leaves it out. A URL in a response must not repeat the API key.
  query.delete('apikey');
  query.set('page_number', `${page + 1}`);
  const next = page * size < total ? `/v1/filings?${query}` : undefined;
  const pageRecords = records.slice((page - 1) * size, page * size);
  sendJson(response, 200, { total, files: pageRecords, next }, { 'Content-Type': 'application/json' });
}

async function sendFile(
  query: URLSearchParams,
  { headers }: IncomingMessage,
  response: ServerResponse,
  { directory, platform }: ServiceOptions,
) {
  const checkName = (value: string) => (isServable(value, platform) ? undefined : 'must be a file name');
  requireParameters(query, { accession_no: checkAccession, file_name: checkName });
  const [accession, name] = [query.get('accession_no') ?? '', query.get('file_name') ?? ''];
  // Without O_NONBLOCK, opening a FIFO would wait until it has a writer. On Windows the flag is undefined and adds 0.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const file = await unlessMissing(open(join(directory, accession, name), flags));
  if (!file) throw new ErrorAnswer(404, 'the filing has no file of that name');
  try {
    const stats = await file.stat({ bigint: true });
    // server.ts responds with 500 to an error that is no ErrorAnswer.
    if (!stats.isFile()) throw new Error('it is not a regular file');
    const size = Number(stats.size);
    // A strong ETag must change whenever the bytes do. Any write changes ctime, which no program can set back, and a
    // file that replaces another has another inode.
    const ETag = `"${[stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].map((number) => number.toString(36)).join('-')}"`;
    const common = { 'Accept-Ranges': 'bytes', ETag };
    // Without If-Range, a range always applies. A range for another version is ignored (RFC 9110, section 13.1.5).
    const range = parseRange((headers['if-range'] ?? ETag) === ETag ? headers.range : undefined, size);
    if (range === 'unsatisfiable') {
      throw new ErrorAnswer(416, `the file has ${size} bytes`, { ...common, 'Content-Range': `bytes */${size}` });
    }
    // For an empty file, `last` is -1, which gives a length of 0 below.
    const { first, last } = range ?? { first: 0, last: size - 1 };
    response.writeHead(range ? 206 : 200, {
      ...common,
      'Content-Type': MEDIA_TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream',
      'Content-Length': last - first + 1,
      ...(range && { 'Content-Range': `bytes ${first}-${last}/${size}` }),
    });
    // A read stream does not accept -1 as its end.
    if (last < first) response.end();
    else {
      const bytes = file.createReadStream({ start: first, end: last, autoClose: false });
      // `pipeline` must not end the response: if the file became shorter, the error below makes server.ts close the
      // connection, and the client sees that the body is truncated.
      await pipeline(bytes, response, { end: false });
      if (bytes.bytesRead <= last - first) throw new Error('the file became shorter while it was being sent');
      response.end();
    }
  } finally {
    await file.close();
  }
}

/**
 * Unfinished downloads are hidden files. A backslash would lead to another directory on Windows, so it is refused on
 * every system.
 */
function isServable(name: string, platform: string): boolean {
  return isDirectoryEntryName(name, platform) && !name.includes('\\') && !name.startsWith('.');
}

async function unlessMissing<T>(result: Promise<T>): Promise<T | undefined> {
  return result.catch((error) => {
    if (MISSING_ERRORS.includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  });
}
