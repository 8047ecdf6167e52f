import type { KeyObject } from 'node:crypto';

/** OpenSSL verifies with no larger ones, and signing with them takes minutes. Bits. */
export const LONGEST_RSA_BITS = 16_384;
/** With a modulus beyond this OpenSSL takes no public exponent beyond that. Bits. */
const LONG_RSA_BITS = 3072;
const LONGEST_EXPONENT_BITS = 64;

/** The numbers of an RSA key (RFC 8017 section 3), as far as it has them. */
export interface RsaNumbers {
  readonly n: bigint;
  readonly e: bigint;
  readonly parts?: { readonly d: bigint; readonly p: bigint; readonly q: bigint } & CrtParts;
}

interface CrtParts {
  readonly dp: bigint;
  readonly dq: bigint;
  readonly qi: bigint;
}

/** The numbers of a key of the type `rsa`. */
export function rsaNumbers(key: KeyObject): RsaNumbers {
  const jwk = key.export({ format: 'jwk' });
  const number = (name: string) => BigInt(`0x0${Buffer.from(String(jwk[name] ?? ''), 'base64url').toString('hex')}`);
  const [n, e] = [number('n'), number('e')];
  if (key.type === 'public') return { n, e };
  const [d, p, q, dp, dq, qi] = ['d', 'p', 'q', 'dp', 'dq', 'qi'].map(number) as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  return { n, e, parts: { d, p, q, dp, dq, qi } };
}

/**
 * Why nobody should trust a signature by a key, as the end of a sentence: with e = 1 a message is its own
 * signature, an even exponent or modulus is no RSA. Undefined for a sound one.
 */
export function rsaWeakness({ n, e }: RsaNumbers): string | undefined {
  if (bits(n) > LONGEST_RSA_BITS) return `its modulus is longer than ${LONGEST_RSA_BITS} bits`;
  if (n % 2n === 0n) return 'its modulus is even';
  if (e < 3n) return `its public exponent is ${e}, with which anybody could sign`;
  if (e % 2n === 0n) return 'its public exponent is even';
  if (e >= n || (bits(n) > LONG_RSA_BITS && bits(e) > LONGEST_EXPONENT_BITS)) return 'its public exponent is too large';
  return undefined;
}

/** Whether the private parts are those of this modulus and exponent, each of them: some software uses one, some another. */
export function belongTogether({ n, e, parts }: RsaNumbers): boolean {
  if (parts === undefined) return true;
  const { d, p, q, dp, dq, qi } = parts;
  if (p <= 1n || q <= 1n || p * q !== n || d <= 1n || d >= n) return false;
  const [pLess, qLess] = [p - 1n, q - 1n];
  if ((e * d) % pLess !== 1n || (e * d) % qLess !== 1n) return false;
  return dp === d % pLess && dq === d % qLess && qi < p && (qi * q) % p === 1n;
}

function bits(number: bigint): number {
  return number.toString(2).length;
}
