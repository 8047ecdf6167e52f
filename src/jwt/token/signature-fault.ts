import { constants, createHmac, timingSafeEqual, verify } from 'node:crypto';
import { quoted } from '../../text.ts';
import type { JwtKey } from '../key/keys.ts';
import type { Fault, StrictToken } from './strict-token.ts';

/** Of a key's ID in a message. */
const LONGEST_ID = 80;

/** What is likely wrong with a signature that no key confirmed. */
export function signatureFault(token: StrictToken, key: JwtKey): Fault {
  const { signature, algorithm } = token;
  const { name, family } = algorithm;
  const expected = algorithm.signatureBytes ?? Math.ceil((key.bits ?? 0) / 8);
  if (signature.length === 0) return { reason: 'the signature is empty: it was stripped' };
  if (signature.length !== expected) {
    const der = family === 'ES' && signature[0] === 0x30 ? ': it is in DER, where JWS wants r and s side by side' : '';
    const who =
      family === 'RS' || family === 'PS' ? `a signature by this key has ${expected}` : `${name} makes ${expected}`;
    return { reason: `the signature has ${signature.length} bytes, and ${who}${der}` };
  }
  if (family === 'PS' && fitsWithAnotherSalt(token, key)) {
    return { reason: `its salt is not ${algorithm.hashBytes} bytes long, as ${name} wants (RFC 7518 section 3.5)` };
  }
  if (family === 'HS' && fitsWithoutLineBreak(token, key)) {
    return {
      reason: 'the signature fits the secret without the line break at its end',
      hint: 'write the secret file without one: a secret is taken byte by byte',
    };
  }
  return {
    reason: `the signature does not fit: another ${family === 'HS' ? 'secret' : 'key'} made it, or the token was changed`,
    ...kidHint(token, key),
  };
}

function fitsWithAnotherSalt({ signature, signingInput, algorithm }: StrictToken, { keyObject }: JwtKey): boolean {
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const key = { key: keyObject, padding, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  return verify(algorithm.hash, Buffer.from(signingInput), key, signature);
}

function fitsWithoutLineBreak({ signature, signingInput, algorithm }: StrictToken, { keyObject }: JwtKey): boolean {
  const secret = keyObject.export();
  const trimmed = Buffer.from(secret.toString('latin1').replace(/\r?\n$/, ''), 'latin1');
  if (trimmed.length === secret.length) return false;
  return timingSafeEqual(createHmac(algorithm.hash, trimmed).update(signingInput).digest(), signature);
}

function kidHint({ header }: StrictToken, { kid }: JwtKey): { hint?: string } {
  if (kid === undefined || typeof header.kid !== 'string' || header.kid === kid) return {};
  return {
    hint: `the token names the key ${quoted(header.kid, LONGEST_ID)}, and this one is ${quoted(kid, LONGEST_ID)}`,
  };
}
