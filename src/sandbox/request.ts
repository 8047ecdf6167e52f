import type { KeyWay } from '../service/credentials.ts';

/** A request target, taken apart (RFC 9112 section 3.2). */
export interface Target {
  /** The decoded path without a key segment: what routing sees. */
  readonly resource: string;
  /** The key of the path's last segment, where that is `APIKEY-<key>` (contract part 5). */
  readonly pathKey: string | undefined;
  readonly query: URLSearchParams;
}

export interface PresentedKey {
  readonly way: KeyWay;
  readonly value: Buffer;
  /** With Basic: the user name. */
  readonly user?: Buffer;
}

/** What a request brings to be let in; nothing of it is checked yet. */
export interface PresentedCredentials {
  readonly keys: readonly PresentedKey[];
  readonly tokens: readonly string[];
}

const KEY_SEGMENT = 'APIKEY-';

/** Takes a request target apart; undefined when its percent-encoding is broken. */
export function parseTarget(url: string): Target | undefined {
  const [path = '', ...rest] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  const segments = decodeSegments(path);
  if (segments === undefined) return undefined;
  // A slash at the end means the same as none.
  while (segments.at(-1) === '') segments.pop();
  const last = segments.at(-1);
  const pathKey = last?.startsWith(KEY_SEGMENT) ? last.slice(KEY_SEGMENT.length) : undefined;
  if (pathKey !== undefined) segments.pop();
  // A decoded slash must not make two segments of one.
  const resource = `/${segments.map((segment) => segment.replaceAll('/', '%2F')).join('/')}`;
  return { resource, pathKey, query: new URLSearchParams(rest.join('?')) };
}

function decodeSegments(path: string): string[] | undefined {
  try {
    return path.replace(/^\//, '').split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** Gathers every key and token of a request, whatever carries it; headers as `IncomingMessage.headersDistinct` has them. */
export function readCredentials(target: Target, headers: NodeJS.Dict<string[]>): PresentedCredentials {
  const keys: PresentedKey[] = [];
  const tokens: string[] = [];
  for (const value of headers.authorization ?? []) {
    const [, scheme, rest = ''] = /^(basic|bearer) +(.*)$/i.exec(value) ?? [];
    if (scheme === undefined) keys.push({ way: 'authorization', value: headerBytes(value) });
    else if (scheme.toLowerCase() === 'basic') keys.push(basicKey(rest));
    else tokens.push(rest);
  }
  for (const value of headers['x-service-key'] ?? []) keys.push({ way: 'header', value: headerBytes(value) });
  for (const value of target.query.getAll('apikey')) keys.push({ way: 'query', value: Buffer.from(value) });
  if (target.pathKey !== undefined) keys.push({ way: 'path', value: Buffer.from(target.pathKey) });
  return { keys, tokens };
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
