import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Secrets } from '../secrets.ts';
import type { KeyWay } from '../service/credentials.ts';
import { printable } from '../terminal/printable.ts';

export interface PresentedKey {
  readonly way: KeyWay;
  readonly value: Buffer;
  /** With Basic. */
  readonly user?: Buffer;
}

export interface Asked {
  readonly method: string;
  /** Decoded, without a key segment; undefined when its percent-encoding is broken. */
  readonly resource: string | undefined;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly keys: readonly PresentedKey[];
  readonly tokens: readonly string[];
  readonly traceId: string;
}

const KEY_SEGMENT = 'APIKEY-';
const LONGEST_VALUE = 300;

export function readAsked(
  { method = '', url = '', headers, headersDistinct }: IncomingMessage,
  traceId: string,
): Asked {
  const [path = '', ...rest] = url.split('?');
  const segments = decodeSegments(path);
  while (segments?.at(-1) === '') segments.pop();
  const query = new URLSearchParams(rest.join('?'));
  const keys: PresentedKey[] = [];
  const tokens: string[] = [];
  for (const value of headersDistinct.authorization ?? []) {
    const [, scheme, given = ''] = /^(basic|bearer) +(.*)$/i.exec(value) ?? [];
    if (scheme === undefined) keys.push({ way: 'authorization', value: headerBytes(value) });
    else if (scheme.toLowerCase() === 'basic') keys.push(basicKey(given));
    else tokens.push(given);
  }
  for (const value of headersDistinct['x-service-key'] ?? []) keys.push({ way: 'header', value: headerBytes(value) });
  for (const value of query.getAll('apikey')) keys.push({ way: 'query', value: Buffer.from(value) });
  if (segments?.at(-1)?.startsWith(KEY_SEGMENT)) {
    keys.push({ way: 'path', value: Buffer.from(segments.pop()?.slice(KEY_SEGMENT.length) ?? '') });
  }
  // A decoded slash must not make two segments of one.
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

/** Node reads header values as Latin-1. */
function headerBytes(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}

/** RFC 7617; without a colon there is no key. */
function basicKey(base64: string): PresentedKey {
  const pair = Buffer.from(base64, 'base64');
  const colon = pair.indexOf(':');
  if (colon < 0) return { way: 'basic', value: Buffer.alloc(0), user: pair };
  return { way: 'basic', value: pair.subarray(colon + 1), user: pair.subarray(0, colon) };
}

/**
 * For a log line, only what is known to be harmless: the path without a key segment, the two parameters of the
 * contract, and by which way a key came.
 */
export function shownRequest({ method, resource, query, keys, tokens }: Asked, secrets: Secrets): string[] {
  const parameters = ['accession_no', 'file_name'].flatMap((name) =>
    query.getAll(name).map((value) => `${name}=${shown(value, secrets)}`),
  );
  const ways = keys.map((key) => key.way).join('+') || 'none';
  return [
    method,
    shown(resource ?? '(a malformed target)', secrets),
    ...parameters,
    `key=${ways}`,
    ...(tokens.length > 0 ? ['jwt'] : []),
  ];
}

/** Redacted before it is cut: half a secret is one too. */
export function shown(text: string, secrets: Secrets): string {
  return printable(secrets.redact(text), LONGEST_VALUE);
}
