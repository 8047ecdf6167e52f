import type { Kind } from '../spec/kind.ts';

/** RSASSA-PKCS1-v1_5, RSASSA-PSS, ECDSA and HMAC: the families that the service accepts (service.md, section 6). */
export type Family = 'RS' | 'PS' | 'ES' | 'HS';

/** A signature algorithm (RFC 7518, section 3). */
export interface Algorithm {
  readonly name: string;
  readonly family: Family;
  /** The shortest HMAC secret (RFC 7518 section 3.2) and the salt of PSS (section 3.5). */
  readonly hashBytes: number;
  /** The curve of an ECDSA algorithm (section 3.4). */
  readonly curve?: string;
}

const CURVES = { 256: 'P-256', 384: 'P-384', 512: 'P-521' } as const;

/** All algorithms, in the order of preference for a key that fits several. */
export const ALGORITHMS: readonly Algorithm[] = (['RS', 'PS', 'ES', 'HS'] as const).flatMap((family) =>
  ([256, 384, 512] as const).map((bits) => ({
    name: `${family}${bits}`,
    family,
    hashBytes: bits / 8,
    ...(family === 'ES' && { curve: CURVES[bits] }),
  })),
);

const NAMES = ALGORITHMS.map(({ name }) => name);

/** The name of an algorithm as a value of an option. Names are case-sensitive (RFC 7515, section 4.1.1). */
export const ALGORITHM: Kind<Algorithm> = {
  parse: (text) => ALGORITHMS.find(({ name }) => name === text),
  expected: `an algorithm that the service accepts (${NAMES.join(', ')})`,
  suggests: NAMES,
};
