import type { IncomingMessage } from 'node:http';
import type { KeyWay } from '../service/credentials.ts';

export interface PresentedKey {
  readonly way: KeyWay;
  readonly value: Buffer;
  /** With Basic: the user name. */
  readonly user?: Buffer;
}

/** What a request asks for, and what it brings to be let in; nothing of it is checked yet. */
export interface Asked {
  /** The decoded path without a key segment: what routing sees. */
  readonly resource: string;
  readonly query: URLSearchParams;
  readonly keys: readonly PresentedKey[];
  readonly tokens: readonly string[];
}

const KEY_SEGMENT = 'APIKEY-';

/** Takes a request apart, every key and token of it, whatever carries it; undefined when its percent-encoding is broken. */
export function readAsked({ url = '', headersDistinct: headers }: IncomingMessage): Asked | undefined {
  const [path = '', ...rest] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  const segments = decodeSegments(path);
  if (segments === undefined) return undefined;
  // A slash at the end means the same as none.
  while (segments.at(-1) === '') segments.pop();
  const query = new URLSearchParams(rest.join('?'));
  const keys: PresentedKey[] = [];
  const tokens: string[] = [];
  for (const value of headers.authorization ?? []) {
    const [, scheme, given = ''] = /^(basic|bearer) +(.*)$/i.exec(value) ?? [];
    if (scheme === undefined) keys.push({ way: 'authorization', value: headerBytes(value) });
    else if (scheme.toLowerCase() === 'basic') keys.push(basicKey(given));
    else tokens.push(given);
  }
  for (const value of headers['x-service-key'] ?? []) keys.push({ way: 'header', value: headerBytes(value) });
  for (const value of query.getAll('apikey')) keys.push({ way: 'query', value: Buffer.from(value) });
  if (segments.at(-1)?.startsWith(KEY_SEGMENT)) {
    keys.push({ way: 'path', value: Buffer.from(segments.pop()?.slice(KEY_SEGMENT.length) ?? '') });
  }
  // A decoded slash must not make two segments of one.
  return { resource: `/${segments.map((segment) => segment.replaceAll('/', '%2F')).join('/')}`, query, keys, tokens };
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

/** RFC 7617: base64 of `user:password`; without a colon there is no key. */
function basicKey(base64: string): PresentedKey {
  const pair = Buffer.from(base64, 'base64');
  const colon = pair.indexOf(':');
  if (colon < 0) return { way: 'basic', value: Buffer.alloc(0), user: pair };
  return { way: 'basic', value: pair.subarray(colon + 1), user: pair.subarray(0, colon) };
}
