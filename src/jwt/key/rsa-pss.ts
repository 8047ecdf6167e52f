import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** What an RSA-PSS key (`id-RSASSA-PSS`, RFC 8017 appendix C) restricts itself to. */
export interface PssLimits {
  readonly hash: string;
  readonly mgf1Hash: string;
  /** The shortest salt, in bytes. */
  readonly saltLength: number;
}

/** The restrictions of an RSA-PSS key; undefined when it has none. */
export function pssLimits(key: KeyObject): PssLimits | undefined {
  const { hashAlgorithm, mgf1HashAlgorithm, saltLength } = key.asymmetricKeyDetails ?? {};
  if (hashAlgorithm === undefined) return undefined;
  return { hash: hashAlgorithm, mgf1Hash: mgf1HashAlgorithm ?? hashAlgorithm, saltLength: saltLength ?? 0 };
}

/**
 * The same numbers as an ordinary RSA key: jose does not take keys of the RSA-PSS type, whose
 * SPKI and PKCS#8 wrap the PKCS#1 key that it does take.
 */
export function asRsaKey(key: KeyObject): KeyObject {
  if (key.type === 'private') {
    const [, , inner] = children(key.export({ format: 'der', type: 'pkcs8' }));
    return createPrivateKey({ key: inner as Buffer, format: 'der', type: 'pkcs1' });
  }
  const [, bits] = children(key.export({ format: 'der', type: 'spki' }));
  // A BIT STRING begins with the count of its unused bits.
  return createPublicKey({ key: (bits as Buffer).subarray(1), format: 'der', type: 'pkcs1' });
}

/** The contents of the elements of a DER sequence that OpenSSL wrote. */
function children(sequence: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let rest = content(sequence).body;
  while (rest.length > 0) {
    const { body, end } = content(rest);
    found.push(body);
    rest = rest.subarray(end);
  }
  return found;
}

function content(element: Buffer): { body: Buffer; end: number } {
  const first = element.readUInt8(1);
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const start = 2 + lengthBytes;
  const end = start + (lengthBytes === 0 ? first : element.readUIntBE(2, lengthBytes));
  return { body: element.subarray(start, end), end };
}
