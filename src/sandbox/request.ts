import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Secrets } from '../secrets.ts';
import type { KeyWay } from '../service/credentials.ts';
import { printable } from '../terminal/printable.ts';

// Parses a request to the sandbox: path, parameters, and keys in all positions. Also words the request for the log,
// without secrets.

export interface PresentedKey {
  readonly way: KeyWay;
  readonly value: Buffer;
  /** The user name of Basic authentication. */
  readonly user?: Buffer;
}

export interface ParsedRequest {
  readonly method: string;
  /** The decoded path without a key segment. Undefined if its percent-encoding is invalid. */
  readonly resource: string | undefined;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly keys: readonly PresentedKey[];
  readonly tokens: readonly string[];
  readonly traceId: string;
}

const KEY_SEGMENT = 'APIKEY-';
const MAX_VALUE_LENGTH = 300;

/** Reads the path, the query and all credentials of a request. */
export function parseRequest(
  { method = '', url = '', headers, headersDistinct }: IncomingMessage,
  traceId: string,
): ParsedRequest {
  const [path = '', ...rest] = url.split('?');
  const segments = decodeSegments(path);
  while (segments?.at(-1) === '') segments.pop();
  const query = new URLSearchParams(rest.join('?'));
  const keys: PresentedKey[] = [];
  const tokens: string[] = [];
  for (const value of headersDistinct.authorization ?? []) {
    const [, scheme, credentials = ''] = /^(basic|bearer) +(.*)$/i.exec(value) ?? [];
    if (scheme === undefined) keys.push({ way: 'authorization', value: headerBytes(value) });
    else if (scheme.toLowerCase() === 'basic') keys.push(basicKey(credentials));
    else tokens.push(credentials);
  }
  for (const value of headersDistinct['x-service-key'] ?? []) keys.push({ way: 'header', value: headerBytes(value) });
  for (const value of query.getAll('apikey')) keys.push({ way: 'query', value: Buffer.from(value) });
  if (segments?.at(-1)?.startsWith(KEY_SEGMENT)) {
    keys.push({ way: 'path', value: Buffer.from(segments.pop()?.slice(KEY_SEGMENT.length) ?? '') });
  }
  // A decoded slash must not split a segment.
  const resource = segments && `/${segments.map((segment) => segment.replaceAll('/', '%2F')).join('/')}`;
  return { method, resource, query, headers, keys, tokens, traceId };
}

function decodeSegments(path: string): string[] | undefined {
  try {
    return path.replace(/^\//, '').split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** Returns the bytes of a header value, which Node decodes as Latin-1. */
function headerBytes(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}

/** Reads a user name and a key (RFC 7617). Without a colon the key is empty. */
function basicKey(base64: string): PresentedKey {
  const pair = Buffer.from(base64, 'base64');
  const colon = pair.indexOf(':');
  if (colon < 0) return { way: 'basic', value: Buffer.alloc(0), user: pair };
  return { way: 'basic', value: pair.subarray(colon + 1), user: pair.subarray(0, colon) };
}

/**
 * Returns the parts of a request that are safe to log: the path without a key segment, the two documented parameters,
 * and the ways in which keys were passed.
 */
export function logFields({ method, resource, query, keys, tokens }: ParsedRequest, secrets: Secrets): string[] {
  const parameters = ['accession_no', 'file_name'].flatMap((name) =>
    query.getAll(name).map((value) => `${name}=${sanitize(value, secrets)}`),
  );
  const ways = keys.map((key) => key.way).join('+') || 'none';
  return [
    method,
    sanitize(resource ?? '(a malformed target)', secrets),
    ...parameters,
    `key=${ways}`,
    ...(tokens.length > 0 ? ['jwt'] : []),
  ];
}

/** Returns printable text without secrets. It is redacted before it is shortened, because half a secret is one, too. */
export function sanitize(text: string, secrets: Secrets): string {
  return printable(secrets.redact(text), MAX_VALUE_LENGTH);
}
