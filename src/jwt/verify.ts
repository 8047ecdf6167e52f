import { constants, type KeyObject, verify } from 'node:crypto';
import type { Algorithm } from './algorithms.ts';
import { type CheckTime, findClaimFaults } from './claims.ts';
import { findKeyFault } from './key-fit.ts';
import type { JwtKey } from './keys.ts';
import { readPayload, readToken, tokenError } from './token.ts';

export interface VerifyOptions extends CheckTime {
  /** They must be objects of `ALGORITHMS`. If the list is empty, those that fit the key are allowed. */
  readonly algorithms?: readonly Algorithm[];
}

/**
 * Stops at the first check that fails. The signature is valid if one of the keys made it, whatever the `kid` of the
 * header.
 */
export async function verifyToken(
  token: string,
  keys: readonly JwtKey[],
  { algorithms = [], ...time }: VerifyOptions,
): Promise<void> {
  const { algorithm, payload } = readToken(token);
  if (algorithms.length > 0 && !algorithms.includes(algorithm)) {
    const allowed = algorithms.map(({ name }) => name).join(', ');
    throw tokenError('header', `alg is ${algorithm.name}, and only ${allowed} may be used`);
  }
  const faults = keys.map((key) => findKeyFault(key, algorithm, 'verify'));
  const fitting = keys.filter((_, index) => faults[index] === undefined);
  if (fitting.length === 0) throw tokenError('key', faults.join('; '), keys[0]?.form?.hint);
  if (!(await isSignedByAny(token, fitting, algorithm))) {
    // Portals often show a secret in base64, but the decoded bytes are the key.
    const hint = algorithm.family === 'HS' ? 'a secret that is shown in base64 must be decoded first' : undefined;
    const cause = findSignatureFault(token, fitting, algorithm) ?? 'another key made it, or the token was changed';
    throw tokenError('signature', `the signature does not match: ${cause}`, hint);
  }
  const [fault] = findClaimFaults(readPayload(payload), time);
  if (fault !== undefined) throw tokenError('claims', fault);
}

async function isSignedByAny(token: string, keys: readonly JwtKey[], { name }: Algorithm): Promise<boolean> {
  const { compactVerify, errors } = await import('jose');
  for (const { keyObject } of keys) {
    try {
      await compactVerify(token, keyObject, { algorithms: [name] });
      return true;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  return false;
}

/** What other libraries do differently (RFC 7518, sections 3.4 and 3.5). */
function findSignatureFault(token: string, keys: readonly JwtKey[], { family, hashBytes }: Algorithm) {
  const [, signed = '', encoded = ''] = /^(.*)\.(.*)$/s.exec(token) ?? [];
  const signature = Buffer.from(encoded, 'base64url');
  const isValid = (options: object) =>
    keys.some(({ keyObject: key }) =>
      verify(`sha${hashBytes * 8}`, Buffer.from(signed), { key, ...options } as { key: KeyObject }, signature),
    );
  if (family === 'ES' && isValid({ dsaEncoding: 'der' }))
    return 'it is in DER, and a JWT has R and S one after the other (IEEE P1363)';
  const anySalt = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  return family === 'PS' && isValid(anySalt)
    ? `its salt is not ${hashBytes} bytes long, as the algorithm requires`
    : undefined;
}
