import { FilingsError } from '../errors.ts';

/** The signature families of the contract, part 5: RSASSA-PKCS1-v1_5, RSASSA-PSS, ECDSA, HMAC. */
export type Family = 'RS' | 'PS' | 'ES' | 'HS';

/** A JWS algorithm (RFC 7518 section 3) that the service takes. */
export interface Algorithm {
  readonly name: string;
  readonly family: Family;
  /** As node:crypto names it. */
  readonly hash: string;
  /** The hash's length: the shortest HMAC secret (RFC 7518 section 3.2) and the salt of PSS (section 3.5), in bytes. */
  readonly hashBytes: number;
  /** ECDSA: the one curve that goes with it (section 3.4), as JOSE and as OpenSSL name it. */
  readonly curve?: { readonly jose: string; readonly openssl: string };
}

const CURVES = {
  256: { jose: 'P-256', openssl: 'prime256v1' },
  384: { jose: 'P-384', openssl: 'secp384r1' },
  512: { jose: 'P-521', openssl: 'secp521r1' },
} as const;

/** The 12 algorithms, in the order of preference where a key fits several. */
export const ALGORITHMS: readonly Algorithm[] = (['RS', 'PS', 'ES', 'HS'] as const).flatMap((family) =>
  ([256, 384, 512] as const).map((bits) => ({
    name: `${family}${bits}`,
    family,
    hash: `sha${bits}`,
    hashBytes: bits / 8,
    ...(family === 'ES' && { curve: CURVES[bits] }),
  })),
);

export const ALGORITHM_NAMES: readonly string[] = ALGORITHMS.map(({ name }) => name);

/** The algorithm of that exact name (names are case-sensitive, RFC 7515 section 4.1.1), or undefined. */
export function findAlgorithm(name: string): Algorithm | undefined {
  return ALGORITHMS.find((algorithm) => algorithm.name === name);
}

/** The algorithm of a name; `source` says where it is from, `code` whose fault a wrong one is. Throws that. */
export function requireAlgorithm(name: string, source: string, code: 'usage' | 'config' = 'usage'): Algorithm {
  const algorithm = findAlgorithm(name);
  if (algorithm !== undefined) return algorithm;
  throw new FilingsError(code, `${source} ${name}: ${NOT_TAKEN}`, { hint: `it takes ${ALGORITHM_NAMES.join(', ')}` });
}

/** Why any other name is none, as the end of a sentence. */
export const NOT_TAKEN = 'the service does not take that algorithm';
