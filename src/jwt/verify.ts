// Verifies a token: its encoding, its header, whether a key fits, the signature, and the dates in its claims.
import type { JsonObject } from '../json.ts';
import type { Algorithm } from './algorithms.ts';
import { type CheckTime, findClaimFaults } from './claims.ts';
import { findKeyFault } from './key-fit.ts';
import { hintAboutSecret } from './key-forms.ts';
import type { JwtKey } from './keys.ts';
import { type Refusal, readJsonObject, readToken, refuse } from './token.ts';

type Verification = { readonly valid: true; readonly header: JsonObject; readonly claims: JsonObject } | Refusal;

/** With the time at which the token must be valid. */
export interface VerifyOptions extends CheckTime {
  /** The allowed algorithms, from `ALGORITHMS`. Default, also if the list is empty: those that fit the key. */
  readonly algorithms?: readonly Algorithm[];
}

/**
 * Runs all checks until one fails, in the order format, header, key, signature, claims. The signature is valid if one
 * of the keys made it, whatever the `kid` of the header.
 */
export async function verifyToken(
  token: string,
  keys: readonly JwtKey[],
  { algorithms = [], ...time }: VerifyOptions,
): Promise<Verification> {
  const decoded = readToken(token);
  if ('failedCheck' in decoded) return decoded;
  const { header, algorithm, payload } = decoded;
  // `includes` compares objects by identity: those in `algorithms` and that of `readToken` are all from `ALGORITHMS`.
  if (algorithms.length > 0 && !algorithms.includes(algorithm)) {
    const allowed = algorithms.map(({ name }) => name).join(', ');
    return refuse('header', `alg is ${algorithm.name}, and only ${allowed} may be used`);
  }
  const faults = keys.map((key) => findKeyFault(key, algorithm, 'verify'));
  const fitting = keys.filter((_, index) => faults[index] === undefined);
  if (fitting.length === 0) return refuse('key', faults.join('; '));
  if (!(await isSignedByAny(token, fitting, algorithm))) {
    // The fitting keys are all secrets or all public keys. If they are secrets, the hint is about the first of them.
    const secret = fitting.find(({ kind }) => kind === 'secret');
    const hint = secret && hintAboutSecret(secret.keyObject.export() as Buffer, secret.path);
    return refuse('signature', 'the signature does not match: another key made it, or the token was changed', hint);
  }
  // If the payload is not a JSON object, this is a string that says why, such as `is not JSON`.
  const claims = readJsonObject(payload);
  if (typeof claims === 'string') return refuse('claims', `the payload ${claims}`);
  const [fault] = findClaimFaults(claims, time);
  return fault === undefined ? { valid: true, header, claims } : refuse('claims', fault);
}

/** Returns whether one of the keys made the signature. Throws every error except that of a wrong signature. */
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
