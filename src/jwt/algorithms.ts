// The list is closed, because a program that accepts whatever algorithm a token names would accept `none` (RFC 8725,
// section 2.1).
import type { Kind } from '../spec/kind.ts';

/** RSASSA-PKCS1-v1_5, RSASSA-PSS, ECDSA and HMAC (docs/service.md, section 6). */
export type Family = 'RS' | 'PS' | 'ES' | 'HS';

/** RFC 7518, section 3. */
export interface Algorithm {
  readonly name: string;
  readonly family: Family;
  /** The length of the hash. An HMAC secret is at least as long (RFC 7518, section 3.2), a PSS salt as long (3.5). */
  readonly hashBytes: number;
  /** The curve of an ECDSA algorithm (RFC 7518, section 3.4). */
  readonly curve?: string;
}

/** The names in a JWK (RFC 7518, section 6.2.1.1), by those of OpenSSL. Not a typo: ES512 uses a curve of 521 bits. */
export const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};

/** Without `--alg`, a key that fits several of them is used with the first. */
export const ALGORITHMS: readonly Algorithm[] = (['RS', 'PS', 'ES', 'HS'] as const).flatMap((family) =>
  [256, 384, 512].map((bits, index) => ({
    name: `${family}${bits}`,
    family,
    hashBytes: bits / 8,
    ...(family === 'ES' && { curve: Object.values(CURVES)[index] as string }),
  })),
);

const NAMES = ALGORITHMS.map(({ name }) => name);

/** Names are case-sensitive (RFC 7515, section 4.1.1). */
export const ALGORITHM: Kind<Algorithm> = {
  parse: (text) => ALGORITHMS.find(({ name }) => name === text),
  expected: `an algorithm that the service accepts (${NAMES.join(', ')})`,
  examples: NAMES,
};
