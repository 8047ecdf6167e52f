import { constants, createHmac, type KeyObject, sign } from 'node:crypto';
import type { FilingsError } from '../../src/errors.ts';
import { ALGORITHM, type Algorithm } from '../../src/jwt/algorithms.ts';
import { loadKey, restrictTo } from '../../src/jwt/keys.ts';
import { verifyToken as verifyOrThrow } from '../../src/jwt/verify.ts';

/** The time at which the tests check tokens, in seconds since the epoch. */
export const NOW = 1_800_000_000;
export const CLAIMS = { sub: 'alice', nbf: NOW, exp: NOW + 60 };

export function pem(key: KeyObject): Buffer {
  const type = key.type === 'private' ? 'pkcs8' : 'spki';
  return Buffer.from(key.export({ format: 'pem', type } as { format: 'pem'; type: 'spki' }));
}

export function jwk(key: KeyObject, more: object = {}): Buffer {
  return Buffer.from(JSON.stringify({ ...key.export({ format: 'jwk' }), ...more }));
}

/** Returns whether a token is valid, with its header and claims or the check that failed. */
export function verifyToken(...args: Parameters<typeof verifyOrThrow>) {
  return verifyOrThrow(...args).then(
    () => ({ valid: true, header: decodePart(args[0], 0), claims: decodePart(args[0], 1) }),
    ({ subcode: failedCheck, reason, hint }: FilingsError) => ({
      valid: false,
      failedCheck,
      reason,
      ...(hint && { hint }),
    }),
  );
}

function decodePart(token: string, index: number): object {
  return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());
}

/** Encodes text and bytes as they are, and anything else as JSON. */
export function part(content: string | Buffer | object): string {
  const bytes = typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content);
  return Buffer.from(bytes as string).toString('base64url');
}

/**
 * Returns a token with any header and payload, correctly signed by `alg` even if the header names another algorithm. It
 * uses only node:crypto, so that the forged tokens do not depend on jose.
 */
export function forge(
  alg: string,
  key: KeyObject | Buffer,
  {
    header = { alg },
    payload = CLAIMS,
  }: { header?: string | Buffer | object; payload?: string | Buffer | object } = {},
): string {
  const { family, hashBytes } = ALGORITHM.parse(alg) as Algorithm;
  const input = `${part(header)}.${part(payload)}`;
  const [data, hash] = [Buffer.from(input), `sha${hashBytes * 8}`];
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const more = { ES: { dsaEncoding: 'ieee-p1363' }, PS: { padding, saltLength: hashBytes }, RS: {}, HS: {} } as const;
  const signature =
    family === 'HS'
      ? createHmac(hash, key).update(data).digest()
      : sign(hash, data, { key: key as KeyObject, ...more[family] });
  return `${input}.${signature.toString('base64url')}`;
}

/** Returns the token with a changed signature. */
export function withSignature(token: string, change: (signature: Buffer) => Buffer | string): string {
  const at = token.lastIndexOf('.') + 1;
  const changed = change(Buffer.from(token.slice(at), 'base64url'));
  return token.slice(0, at) + (typeof changed === 'string' ? changed : changed.toString('base64url'));
}

export const loadSigningKey = (bytes: Buffer, what: string, passphrase?: string) =>
  restrictTo('sign', loadKey(bytes, what, undefined, passphrase));
export const loadVerificationKey = (bytes: Buffer, what: string, passphrase?: string) =>
  restrictTo('verify', loadKey(bytes, what, undefined, passphrase));
