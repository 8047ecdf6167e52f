// Verifies a token. Takes the token and the keys; gives the claims, or the first check that fails.
import type { JsonObject } from '../json.ts';
import type { Algorithm } from './algorithms.ts';
import { type Clock, claimFaults } from './claims.ts';
import { keyFault } from './key-fit.ts';
import { secretHint } from './key-forms.ts';
import type { JwtKey } from './keys.ts';
import { type Refusal, readJsonObject, readToken, refuse } from './token.ts';

type Verification = { readonly valid: true; readonly header: JsonObject; readonly claims: JsonObject } | Refusal;

export interface VerifyOptions extends Clock {
  /** The allowed algorithms. Default: those that fit the key. */
  readonly algorithms?: readonly Algorithm[];
}

/** Verifies a token by all checks in the order of `Check`. It is valid if one of the keys confirms the signature. */
export async function verifyToken(
  token: string,
  keys: readonly JwtKey[],
  { algorithms = [], ...clock }: VerifyOptions,
): Promise<Verification> {
  const read = readToken(token);
  if ('failedCheck' in read) return read;
  const { header, algorithm, payload } = read;
  if (algorithms.length > 0 && !algorithms.includes(algorithm)) {
    const allowed = algorithms.map(({ name }) => name).join(', ');
    return refuse('header', `alg is ${algorithm.name}, and only ${allowed} may be used`);
  }
  const faults = keys.map((key) => keyFault(key, algorithm, 'verify'));
  const fitting = keys.filter((_, index) => faults[index] === undefined);
  if (fitting.length === 0) return refuse('key', faults.join('; '));
  if (!(await anyConfirms(token, fitting, algorithm))) {
    const secret = fitting.find(({ kind }) => kind === 'secret');
    const hint = secret && secretHint(secret.keyObject.export() as Buffer, secret.path);
    return refuse('signature', 'the signature does not fit: another key made it, or the token was changed', hint);
  }
  const claims = readJsonObject(payload);
  if (typeof claims === 'string') return refuse('claims', `the payload ${claims}`);
  const [fault] = claimFaults(claims, clock);
  return fault === undefined ? { valid: true, header, claims } : refuse('claims', fault);
}

async function anyConfirms(token: string, keys: readonly JwtKey[], { name }: Algorithm): Promise<boolean> {
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
