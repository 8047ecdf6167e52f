import type { JsonObject } from '../../json.ts';
import { keyFault } from '../key/key-fit.ts';
import type { VerificationKey } from '../key/keys.ts';
import { type Clock, claimFaults } from './claims.ts';
import { signatureFault } from './signature-fault.ts';
import { readJsonObject } from './strict-json.ts';
import { type Refusal, readToken, refuse, type StrictToken } from './strict-token.ts';

export type Verification = { readonly valid: true; readonly header: JsonObject; readonly claims: JsonObject } | Refusal;

export interface VerifyOptions extends Clock {
  /** Names of the allowed algorithms; those that fit the key unless told. */
  readonly algorithms?: readonly string[];
}

/**
 * Checks a token as the contract's part 5 says, and strictly: `format`, `header`, `key`, `signature`, `claims`,
 * in that order. The first check that fails is named, with what is likely wrong. Any one of the keys may confirm it.
 */
export async function verifyToken(
  token: string,
  keys: readonly VerificationKey[],
  { algorithms, ...clock }: VerifyOptions,
): Promise<Verification> {
  const read = readToken(token);
  if ('failedCheck' in read) return read;
  const { name } = read.algorithm;
  if (algorithms !== undefined && !algorithms.includes(name)) {
    return refuse('header', `alg is ${name}, and only ${algorithms.join(', ')} may be used`);
  }
  const fitting = keys.filter((key) => keyFault(key, read.algorithm, 'verify') === undefined);
  const [likeliest] = fitting;
  if (likeliest === undefined) return refuseKeys(keys, read);
  if (!(await anyConfirms(fitting, read))) {
    const fault = signatureFault(read, likeliest);
    return refuse('signature', fault.reason, fault.hint);
  }
  return checkClaims(read, clock);
}

function refuseKeys([key]: readonly VerificationKey[], { algorithm }: StrictToken): Refusal {
  const fault = key === undefined ? undefined : keyFault(key, algorithm, 'verify');
  return refuse('key', fault?.reason ?? 'there is no key to check it with', fault?.hint);
}

async function anyConfirms(keys: readonly VerificationKey[], token: StrictToken): Promise<boolean> {
  const { compactVerify, errors } = await import('jose');
  const jws = `${token.signingInput}.${token.signature.toString('base64url')}`;
  for (const key of keys) {
    try {
      await compactVerify(jws, key.keyObject, { algorithms: [token.algorithm.name] });
      return true;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  return false;
}

function checkClaims({ header, payload }: StrictToken, clock: Clock): Verification {
  const claims = readJsonObject(payload);
  if (typeof claims === 'string') return refuse('claims', `the payload ${claims}`);
  const [fault] = claimFaults(claims, clock);
  return fault === undefined ? { valid: true, header, claims } : refuse('claims', fault.reason, fault.hint);
}
