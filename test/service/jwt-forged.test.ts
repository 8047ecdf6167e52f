import { constants, createSecretKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TokenCheck } from '../../src/errors.ts';
import { ALGORITHMS } from '../../src/jwt/algorithms.ts';
import { type JwtKey, loadSecret } from '../../src/jwt/keys.ts';
import type { VerifyOptions } from '../../src/jwt/verify.ts';
import { ecPair, rsaPair } from '../key-pairs.ts';
import { CLAIMS, forge, jwk, loadVerificationKey, NOW, part, pem, verifyToken, withSignature } from './jwt-forge.ts';

const [rsa, other] = [rsaPair('rsa'), rsaPair('other')];
const [pss, pss256, pss512] = [rsaPair('pss'), rsaPair('pss256'), rsaPair('pss512')];
const [p256, p384] = [ecPair('prime256v1'), ecPair('secp384r1')];
const secret = randomBytes(64);
/** An array that is nested too deeply. */
const DEEP = '['.repeat(200) + ']'.repeat(200);
const RSA = loadVerificationKey(pem(rsa.publicKey), 'rsa.pem');
const EC = loadVerificationKey(pem(p256.publicKey), 'ec.pem');
const SECRET = loadSecret(secret, 'secret');
const RSA_PEM = loadSecret(pem(rsa.publicKey), 'rsa.pem');

const good = forge('RS256', rsa.privateKey);
const goodEc = forge('ES256', p256.privateKey);
const goodHs = forge('HS256', secret);
const [head, body, tail] = good.split('.') as [string, string, string];
const rs = (header: string | Buffer | object, payload: string | Buffer | object = CLAIMS) =>
  forge('RS256', rsa.privateKey, { header, payload });
const claims = (payload: string | Buffer | object) => rs({ alg: 'RS256' }, payload);
const dates = (nbf: string, exp: string) => claims(`{"nbf":${nbf},"exp":${exp}}`);
const hs = (bytes: Buffer, alg = 'HS256') => forge(alg, bytes);
const loadJwk = (key: KeyObject, more: object = {}) => loadVerificationKey(jwk(key, more), 'key.jwk');
const rsaJwk = (more: object) => loadJwk(rsa.publicKey, more);
const octJwk = (bytes: Buffer, more: object = {}) => loadJwk(createSecretKey(bytes), more);
const load = ({ publicKey }: { publicKey: KeyObject }) => loadVerificationKey(pem(publicKey), 'key.pem');
const short = (length: number) => loadSecret(secret.subarray(0, length), 'secret');
const algorithms = (...names: string[]) => ALGORITHMS.filter(({ name }) => names.includes(name));
/** Returns a PS256 token with another salt length than the algorithm requires. */
const ps = (saltLength: number) => {
  const input = `${part({ alg: 'PS256' })}.${part(CLAIMS)}`;
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  return `${input}.${sign('sha256', Buffer.from(input), { key: rsa.privateKey, padding, saltLength }).toString('base64url')}`;
};
const derSignature = sign('sha256', Buffer.from(goodEc.slice(0, goodEc.lastIndexOf('.'))), p256.privateKey);
const withLineBreak = loadSecret(Buffer.concat([secret.subarray(0, 40), Buffer.from('\n')]), 'secret');
/** The order of P-256. */
const ORDER = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551';
/** Replaces the last character by one that decodes to the same bytes and has other unused bits. */
const nextCharacter = (text: string) => text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);
const oneByte = (at: number) => (bytes: Buffer) => Buffer.from(bytes.map((byte, i) => (i === at ? byte ^ 1 : byte)));

type Row = Partial<VerifyOptions> & { token: string; key?: JwtKey };
const verify = ({ token, key = RSA, ...options }: Row) => verifyToken(token, [key], { atSeconds: NOW, ...options });
/** Returns a test that expects the refusal of a token by a check. */
const refusedBy =
  (failedCheck: TokenCheck) =>
  async ({ reason = /does not match/, ...row }: Row & { reason?: RegExp }) =>
    expect(await verify(row)).toMatchObject({ valid: false, failedCheck, reason: expect.stringMatching(reason) });

test.each`
  what                              | token                                                                  | reason
  ${'an empty token'}               | ${''}                                                                  | ${/empty/}
  ${'one part'}                     | ${head}                                                                | ${/three parts, this has 1/}
  ${'a line break inside'}          | ${`${head}.${body.slice(0, 9)}\r\n${body.slice(9)}.${tail}`}           | ${/claims part is not canonical/}
  ${'unused bits in the header'}    | ${`${nextCharacter(part('{"alg":"RS256"} '))}.${body}.${tail}`}        | ${/header part is not/}
  ${'a token of 65 KiB'}            | ${`${head}.${'A'.repeat(65 * 1024)}.${tail}`}                          | ${/over 64 KiB/}
  ${'a whole Authorization header'} | ${`Authorization: Bearer ${good}`}                                     | ${/^it is a whole header line/}
  ${'a Bearer credential'}          | ${`bearer ${good}`}                                                    | ${/^it begins with 'Bearer'/}
  ${'quotes'}                       | ${`"${good}"`}                                                         | ${/^it is in quotes/}
  ${'the JSON serialization'}       | ${JSON.stringify({ payload: body, protected: head, signature: tail })} | ${/^it is JSON/}
`('the check format refuses $what', refusedBy('format'));

test.each`
  what                            | token                                                      | reason
  ${'no header'}                  | ${`.${body}.${tail}`}                                      | ${/is not JSON/}
  ${'a header that is a list'}    | ${rs('["RS256"]')}                                         | ${/not a JSON object/}
  ${'two algs'}                   | ${rs('{"alg":"none","alg":"RS256"}')}                      | ${/member "alg" twice/}
  ${'two algs, one escaped'}      | ${rs('{"alg":"RS256","\\u0061lg":"RS256"}')}               | ${/member "alg" twice/}
  ${'a header that is not UTF-8'} | ${rs(Buffer.from('{"alg":"RS256","x":"\xff"}', 'latin1'))} | ${/not UTF-8/}
  ${'no alg'}                     | ${rs({ typ: 'JWT' })}                                      | ${/no alg/}
  ${'alg null'}                   | ${rs({ alg: null })}                                       | ${/alg is not a string/}
  ${'alg none'}                   | ${rs({ alg: 'none' })}                                     | ${/does not accept/}
  ${'alg none, stripped'}         | ${`${part({ alg: 'none' })}.${body}.`}                     | ${/does not accept/}
  ${'alg rs256'}                  | ${rs({ alg: 'rs256' })}                                    | ${/does not accept/}
  ${'alg EdDSA'}                  | ${rs({ alg: 'EdDSA' })}                                    | ${/does not accept that algorithm/}
  ${'alg constructor'}            | ${rs({ alg: 'constructor' })}                              | ${/does not accept/}
  ${'crit, unknown'}              | ${rs({ alg: 'RS256', crit: ['exp'], exp: 1 })}             | ${/crit asks for extensions/}
  ${'crit, empty'}                | ${rs({ alg: 'RS256', crit: [] })}                          | ${/crit asks for extensions/}
  ${'b64 false without crit'}     | ${rs({ alg: 'RS256', b64: false })}                        | ${/b64/}
  ${'kid a number'}               | ${rs({ alg: 'RS256', kid: 1 })}                            | ${/kid is not a string/}
  ${'a deep member that is lost'} | ${rs(`{"x":${DEEP},"x":1,"alg":"RS256"}`)}                 | ${/levels of JSON/}
  ${'nested too deep'}            | ${rs(`{"alg":"RS256","x":${DEEP}}`)}                       | ${/levels of JSON/}
`('the check header refuses $what', refusedBy('header'));

test('the check header refuses an algorithm that is not allowed', () =>
  refusedBy('header')({ token: good, reason: /only PS256, ES256 may/, algorithms: algorithms('PS256', 'ES256') }));

test.each`
  what                                    | token                                  | reason                               | key
  ${'RS to HS: the PEM as the secret'}    | ${hs(pem(rsa.publicKey))}              | ${/which cannot be used with HS256/} | ${undefined}
  ${'RS to HS, by mistake on both sides'} | ${hs(pem(rsa.publicKey))}              | ${/is a PEM key, not an HMAC/}       | ${RSA_PEM}
  ${'an oct JWK that holds a PEM key'}    | ${hs(pem(rsa.publicKey))}              | ${/is a PEM key, not an HMAC/}       | ${octJwk(pem(rsa.publicKey))}
  ${'RS for an EC key'}                   | ${good}                                | ${/an EC key on P-256/}              | ${EC}
  ${'ES for a secret'}                    | ${goodEc}                              | ${/a secret of 64 bytes/}            | ${SECRET}
  ${'a wrong curve'}                      | ${forge('ES256', p384.privateKey)}     | ${/an EC key on P-384/}              | ${load(p384)}
  ${'HS512 with 63 bytes'}                | ${hs(secret.subarray(0, 63), 'HS512')} | ${/at least 64 bytes/}               | ${short(63)}
  ${'a JWK for encryption'}               | ${good}                                | ${/use is "enc"/}                    | ${rsaJwk({ use: 'enc' })}
  ${'a JWK that may only sign'}           | ${good}                                | ${/may not be used to verify/}       | ${rsaJwk({ key_ops: ['sign'] })}
  ${'an RSA-PSS key for RS'}              | ${good}                                | ${/RSA-PSS key of 2048 bits/}        | ${load(pss256)}
  ${'an RSA-PSS key of another hash'}     | ${ps(32)}                              | ${/is restricted to sha512/}         | ${load(pss512)}
`('the check key refuses $what', refusedBy('key'));

test.each`
  what                                      | token                                                               | key
  ${'a stripped signature'}                 | ${`${head}.${body}.`}                                               | ${undefined}
  ${'another key'}                          | ${forge('RS256', other.privateKey)}                                 | ${undefined}
  ${'the claims of another token'}          | ${`${head}.${part({ ...CLAIMS, sub: 'bob' })}.${tail}`}             | ${undefined}
  ${'RS passed for PS'}                     | ${`${part({ alg: 'PS256' })}.${body}.${tail}`}                      | ${undefined}
  ${'one changed bit'}                      | ${withSignature(good, oneByte(0))}                                  | ${undefined}
  ${'a byte after the signature'}           | ${withSignature(good, (s) => Buffer.concat([s, s.subarray(0, 1)]))} | ${undefined}
  ${'a signature of a larger key'}          | ${forge('RS256', rsaPair('long').privateKey)}                       | ${undefined}
  ${'ES of zeros'}                          | ${withSignature(goodEc, (s) => Buffer.alloc(s.length))}             | ${EC}
  ${'ES of r = s = order'}                  | ${withSignature(goodEc, () => Buffer.from(ORDER + ORDER, 'hex'))}   | ${EC}
  ${'an HMAC without the final line break'} | ${hs(secret.subarray(0, 40))}                                       | ${withLineBreak}
  ${'a wrong key with kid'}                 | ${rs({ alg: 'RS256', kid: 'a' })}                                   | ${loadJwk(other.publicKey, { kid: 'b' })}
`('the check signature refuses $what', refusedBy('signature'));

test.each`
  what                    | reason                                                                         | token                                        | key
  ${'DER'}                | ${/: it is in DER, and a JWT has R and S one after the other \(IEEE P1363\)$/} | ${withSignature(goodEc, () => derSignature)} | ${EC}
  ${'no salt'}            | ${/: its salt is not 32 bytes long, as the algorithm requires$/}               | ${ps(0)}                                     | ${RSA}
  ${'a longer salt'}      | ${/: its salt is not 32 bytes long/}                                           | ${ps(64)}                                    | ${RSA}
  ${'DER by another key'} | ${/: another key made it, or the token was changed$/}                          | ${withSignature(goodEc, () => derSignature)} | ${loadVerificationKey(pem(ecPair('P-256').publicKey), 'other')}
`('says what can be seen of a signature that does not match: $what', refusedBy('signature'));

test.each`
  what                           | token                                                | reason                                     | leewaySeconds
  ${'a payload that is a list'}  | ${claims('[1]')}                                     | ${/not a JSON object/}                     | ${0}
  ${'a byte-order mark'}         | ${claims(`\ufeff${JSON.stringify(CLAIMS)}`)}         | ${/byte-order mark/}                       | ${0}
  ${'exp twice'}                 | ${claims(`{"nbf":${NOW},"exp":1,"exp":${NOW + 9}}`)} | ${/"exp" twice/}                           | ${0}
  ${'no nbf'}                    | ${claims({ exp: NOW + 9 })}                          | ${/nbf is missing/}                        | ${0}
  ${'no exp'}                    | ${claims({ nbf: NOW })}                              | ${/exp is missing/}                        | ${0}
  ${'exp 1e400'}                 | ${dates(`${NOW}`, '1e400')}                          | ${/exp is not a whole number/}             | ${0}
  ${'exp a fraction'}            | ${dates(`${NOW}`, `${NOW + 9}.5`)}                   | ${/exp is not a whole number/}             | ${0}
  ${'exp after the year 9999'}   | ${dates(`${NOW}`, '253402300800')}                   | ${/exp is after the year 9999/}            | ${0}
  ${'nbf before 1970'}           | ${dates('-1', `${NOW + 9}`)}                         | ${/nbf is before 1970/}                    | ${0}
  ${'iat a string'}              | ${claims({ ...CLAIMS, iat: 'now' })}                 | ${/iat is not a whole number/}             | ${0}
  ${'never valid'}               | ${dates(`${NOW}`, `${NOW}`)}                         | ${/never valid/}                           | ${0}
  ${'expiring this second'}      | ${dates(`${NOW - 9}`, `${NOW}`)}                     | ${/expired 0 s ago/}                       | ${0}
  ${'94 s too early'}            | ${dates(`${NOW + 94}`, `${NOW + 99}`)}               | ${/nbf is 94 s in the future: is a clock/} | ${0}
  ${'expired beyond the leeway'} | ${dates(`${NOW - 99}`, `${NOW - 30}`)}               | ${/expired 30 s ago/}                      | ${30}
  ${'early beyond the leeway'}   | ${dates(`${NOW + 31}`, `${NOW + 99}`)}               | ${/31 s in the future/}                    | ${30}
`('the check claims refuses $what', refusedBy('claims'));

describe('a valid token', () => {
  test.each`
    what                                        | token                                | key
    ${'an RSA-PSS key without limits'}          | ${forge('PS256', pss.privateKey)}    | ${load(pss)}
    ${'an RSA-PSS key for PS256'}               | ${forge('PS256', pss256.privateKey)} | ${load(pss256)}
    ${'a JWK that may verify'}                  | ${good}                              | ${rsaJwk({ use: 'sig', key_ops: ['verify'], alg: 'RS256' })}
    ${'the public half of a key that may sign'} | ${good}                              | ${loadJwk(rsa.privateKey, { key_ops: ['sign'] })}
  `('is accepted: $what', async (row: Row) => expect(await verify(row)).toMatchObject({ valid: true }));

  test.each`
    what                                     | token                                                          | options
    ${'an algorithm that is allowed'}        | ${good}                                                        | ${{ algorithms: algorithms('ES256', 'RS256') }}
    ${'the last second'}                     | ${dates(`${NOW - 9}`, `${NOW + 1}`)}                           | ${{ atSeconds: NOW + 0.999 }}
    ${'a token that is early by the leeway'} | ${dates(`${NOW + 30}`, `${NOW + 99}`)}                         | ${{ leewaySeconds: 30 }}
    ${'a token that expired in the leeway'}  | ${dates(`${NOW - 99}`, `${NOW - 29}`)}                         | ${{ leewaySeconds: 30 }}
    ${'whole seconds in other notations'}    | ${dates('1.8e9', `${NOW + 1}.0`)}                              | ${{}}
    ${'members with similar names'}          | ${claims({ ...CLAIMS, Exp: 1, a: { exp: 1 }, b: { exp: 2 } })} | ${{}}
    ${'b64 true, which changes nothing'}     | ${rs({ alg: 'RS256', b64: true })}                             | ${{}}
  `('is accepted with $what', async ({ token, options }: { token: string; options: Partial<VerifyOptions> }) => {
    expect(await verify({ token, ...options })).toMatchObject({ valid: true });
  });

  test('is accepted by one of several keys', async () => {
    const keys = [load(other), RSA, EC, SECRET];
    for (const token of [goodHs, good, goodEc])
      expect(await verifyToken(token, keys, { atSeconds: NOW })).toMatchObject({ valid: true });
  });
});

/** The examples of RFC 7515, appendix A, and RFC 7520, section 4: name, key, token and the remaining objection. */
const EXAMPLES = readFileSync(join(import.meta.dirname, '../fixtures/rfc-tokens.tsv'), 'utf8')
  .trimEnd()
  .split('\n');

test.each(EXAMPLES.map((line) => ({ name: line.split('\t', 1)[0], line })))(
  '$name has a valid signature, claims that the service refuses, and an invalid signature for other claims',
  async ({ line }) => {
    const [, key = '', token = '', reason = ''] = line.split('\t');
    const judge = (token: string) =>
      verifyToken(token, [loadVerificationKey(Buffer.from(key), 'the example')], { atSeconds: 1_300_819_379 });
    const remaining = expect.stringContaining(reason);
    expect(await judge(token)).toEqual({ valid: false, failedCheck: 'claims', reason: remaining });
    expect(await judge(token.replace(/\..+\./, '.e30.'))).toMatchObject({ valid: false, failedCheck: 'signature' });
  },
);
