import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.ts';
import { ALGORITHM_NAMES } from '../../src/jwt/algorithms.ts';
import { headerFault, LONGEST_TOKEN, readToken, refuse, splitToken } from '../../src/jwt/token/strict-token.ts';

const base64url = (text: string) => Buffer.from(text).toString('base64url');
const HEADER = base64url('{"alg":"RS256","kid":"k"}');
const CLAIMS = base64url('{"sub":"alice"}');
const SIGNATURE = base64url('signature');
const GOOD = `${HEADER}.${CLAIMS}.${SIGNATURE}`;
const ALL = `it takes ${ALGORITHM_NAMES.join(', ')}`;

describe('readToken', () => {
  it('gives the header, its algorithm, and the bytes as they stand', () => {
    expect(readToken(GOOD)).toEqual({
      header: { alg: 'RS256', kid: 'k' },
      algorithm: expect.objectContaining({ name: 'RS256', family: 'RS' }),
      signingInput: `${HEADER}.${CLAIMS}`,
      payload: Buffer.from('{"sub":"alice"}'),
      signature: Buffer.from('signature'),
    });
  });

  it('leaves claims and signature to later checks: both may be nothing', () => {
    expect(readToken(`${HEADER}..`)).toMatchObject({ payload: Buffer.alloc(0), signature: Buffer.alloc(0) });
  });

  it.each<[string, string, 'format' | 'header', string]>([
    ['one that can not be split', 'a.b', 'format', 'a token has three parts, this has 2'],
    ['a padded header', `${HEADER}=.${CLAIMS}.${SIGNATURE}`, 'format', 'the header part is padded with "="'],
    ['padded claims', `${HEADER}.${CLAIMS}=.${SIGNATURE}`, 'format', 'the claims part is padded with "="'],
    ['a padded signature', `${HEADER}.${CLAIMS}.${SIGNATURE}=`, 'format', 'the signature part is padded with "="'],
    ['no header', `.${CLAIMS}.${SIGNATURE}`, 'header', 'the header is not JSON'],
    ['a header with a fault', `${base64url('{}')}.${CLAIMS}.${SIGNATURE}`, 'header', 'the header has no alg'],
  ])('refuses %s', (_, token, failedCheck, reason) => {
    expect(readToken(token)).toEqual({ valid: false, failedCheck, reason });
  });

  it('hands on what to do about a header', () => {
    expect(readToken(`${base64url('{"alg":"none"}')}.${CLAIMS}.`)).toEqual({
      valid: false,
      failedCheck: 'header',
      reason: 'alg is "none": a token without a signature proves nothing',
      hint: ALL,
    });
  });
});

describe('splitToken', () => {
  it.each<[string, readonly string[]]>([
    ['a.b.c', ['a', 'b', 'c']],
    ['..', ['', '', '']],
    ['bearer.b.c', ['bearer', 'b', 'c']],
    ['a.{.c', ['a', '{', 'c']],
    ['xbearer .b.c', ['xbearer ', 'b', 'c']],
  ])('%s', (token, parts) => {
    expect(splitToken(token)).toEqual(parts);
  });

  it('takes 64 KiB and not a character more', () => {
    const longest = `${'a'.repeat(LONGEST_TOKEN - 4)}.b.c`;
    expect(longest).toHaveLength(65_536);
    expect(splitToken(longest)).toHaveLength(3);
    expect(splitToken(`${longest}c`)).toEqual(refuse('format', 'the token is over 64 KiB long'));
  });

  const asHeader = ['it is a header, not a token alone', 'leave out everything up to and with "Bearer "'] as const;
  const asJson = ['it is JSON, not the three parts of a token', 'the service takes the compact form only'] as const;
  it.each<[string, string, string?]>([
    ['', 'the token is empty'],
    ['a', 'a token has three parts, this has 1'],
    ['a.b', 'a token has three parts, this has 2'],
    ['a.b.c.d', 'a token has three parts, this has 4'],
    ['a.b.c.d.e', 'a token has three parts, this has 5: five are an encrypted token, which the service does not take'],
    ['a.b.c.d.e.f', 'a token has three parts, this has 6'],
    [`Bearer ${GOOD}`, ...asHeader],
    [`bearer\t${GOOD}`, ...asHeader],
    [`Authorization: Bearer ${GOOD}`, ...asHeader],
    [`authorization:bearer ${GOOD}`, ...asHeader],
    [`Authorization:  \tBEARER ${GOOD}`, ...asHeader],
    ['{"payload":"a.b.c"}', ...asJson],
    [' \n{"payload":"a.b.c"}', ...asJson],
  ])('refuses %j', (token, reason, hint) => {
    expect(splitToken(token)).toEqual(refuse('format', reason, hint));
  });
});

describe('refuse', () => {
  it('has a hint only where there is one', () => {
    expect(refuse('key', 'why', 'do')).toEqual({ valid: false, failedCheck: 'key', reason: 'why', hint: 'do' });
    expect(Object.keys(refuse('key', 'why'))).toEqual(['valid', 'failedCheck', 'reason']);
  });
});

describe('headerFault', () => {
  const alg = 'ES256';
  it.each<[JsonObject]>([
    [{ alg }],
    [{ alg, typ: 'JWT', kid: 'a', cty: 'JWT' }],
    [{ alg, b64: true }],
    [{ alg, x5u: 1, jku: null }],
  ])('none: %j', (header) => {
    expect(headerFault(header)).toBeUndefined();
  });

  const isNoList = 'crit is not a list of names';
  const absent = ', and names what is not there';
  const notHad = "which the service's tokens do not have";
  const b64 = 'b64 other than true is not for tokens (RFC 7797 section 7)';
  it.each<[JsonObject, string, string?]>([
    [{}, 'the header has no alg'],
    [{ typ: 'JWT', crit: [] }, 'the header has no alg'],
    [{ alg: null }, 'alg is not a string'],
    [{ alg: ['RS256'] }, 'alg is not a string'],
    [{ alg: 'rs256' }, 'alg is "rs256": algorithm names are case-sensitive: it is RS256', ALL],
    [{ alg: 'x' }, 'alg is "x": the service does not take that algorithm', ALL],
    [{ alg: `${'x'.repeat(40)}y` }, `alg is "${'x'.repeat(39)}…": the service does not take that algorithm`, ALL],
    [{ alg, crit: 'b64' }, isNoList],
    [{ alg, crit: null }, isNoList],
    [{ alg, crit: {} }, isNoList],
    [{ alg, crit: { length: 1 } }, isNoList],
    [{ alg, crit: [] }, isNoList],
    [{ alg, crit: [1] }, isNoList],
    [{ alg, crit: ['exp', 1], exp: 1 }, isNoList],
    [{ alg, crit: ['exp'], exp: 1 }, `crit asks for "exp", ${notHad}`],
    [{ alg, crit: ['b64'], b64: false }, `crit asks for "b64", ${notHad}`],
    [{ alg, crit: ['x'] }, `crit asks for "x", ${notHad}${absent}`],
    [{ alg, crit: ['exp', 'x'], exp: 1 }, `crit asks for "exp", "x", ${notHad}${absent}`],
    [{ alg, crit: ['toString'] }, `crit asks for "toString", ${notHad}${absent}`],
    [{ alg, crit: [`${'x'.repeat(40)}y`] }, `crit asks for "${'x'.repeat(39)}…", ${notHad}${absent}`],
    [{ alg, crit: ['a', 'b', 'c', 'd', 'e', 'f'] }, `crit asks for "a", "b", "c", "d", "e", ${notHad}${absent}`],
    [{ alg, b64: false }, b64],
    [{ alg, b64: 'true' }, b64],
    [{ alg, b64: null }, b64],
    [{ alg, kid: 1 }, 'kid is not a string'],
    [{ alg, typ: null }, 'typ is not a string'],
    [{ alg, cty: [] }, 'cty is not a string'],
  ])('%j', (header, reason, hint) => {
    expect(headerFault(header)).toEqual({ reason, ...(hint === undefined ? {} : { hint }) });
  });
});
