import type { KeyWay } from '../service/credentials.ts';
import type { Target } from './target.ts';

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

/** Header values by lower-case names, each occurrence apart (`IncomingMessage.headersDistinct`). */
export type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** Gathers every key and token of a request, whatever carries it. */
export function readCredentials(target: Target, headers: DistinctHeaders): PresentedCredentials {
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
