import type { Target } from './target.ts';

/** The ways to pass the key (contract part 5). */
export type KeyCarrier = 'authorization' | 'basic' | 'header' | 'query' | 'path';

export interface PresentedKey {
  readonly carrier: KeyCarrier;
  readonly value: Buffer;
  /** With Basic: the user name. */
  readonly user?: Buffer;
}

/** What a request brings to be let in; nothing of it is checked yet. */
export interface Credentials {
  readonly keys: readonly PresentedKey[];
  readonly tokens: readonly string[];
}

/** Header values by lower-case names, each occurrence apart (`IncomingMessage.headersDistinct`). */
export type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** Gathers every key and token of a request, whatever carries it. */
export function readCredentials(target: Target, headers: DistinctHeaders): Credentials {
  const keys: PresentedKey[] = [];
  const tokens: string[] = [];
  for (const value of headers.authorization ?? []) {
    const [, scheme, rest = ''] = /^(basic|bearer) +(.*)$/i.exec(value) ?? [];
    if (scheme === undefined) keys.push({ carrier: 'authorization', value: headerBytes(value) });
    else if (scheme.toLowerCase() === 'basic') keys.push(basicKey(rest));
    else tokens.push(rest);
  }
  for (const value of headers['x-service-key'] ?? []) keys.push({ carrier: 'header', value: headerBytes(value) });
  for (const value of target.query.getAll('apikey')) keys.push({ carrier: 'query', value: Buffer.from(value) });
  if (target.pathKey !== undefined) keys.push({ carrier: 'path', value: Buffer.from(target.pathKey) });
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
  if (colon < 0) return { carrier: 'basic', value: Buffer.alloc(0), user: pair };
  return { carrier: 'basic', value: pair.subarray(colon + 1), user: pair.subarray(0, colon) };
}
