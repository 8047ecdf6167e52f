import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utc } from '../../src/jwt/claims.ts';
import { inspectToken } from '../../src/jwt/inspect.ts';
import { span } from '../../src/text.ts';
import { NOW, part } from '../service/jwt-forge.ts';

const at = { atSeconds: NOW };
const token = (header: string | Buffer | object, claims: string | Buffer | object, signature = 'AAAA') =>
  `${part(header)}.${part(claims)}.${signature}`;
const inspect = (text: string) => {
  const inspection = inspectToken(text, at);
  if ('failedCheck' in inspection) throw new Error(inspection.reason);
  return inspection;
};
const reasons = (text: string) => inspect(text).objections.map(({ reason }) => reason);
const GOOD = { nbf: NOW, exp: NOW + 60 };

describe('inspectToken', () => {
  it('shows header, claims and times', () => {
    const claims = { iat: NOW - 7200, nbf: NOW - 94, exp: NOW + 300, sub: 'x' };
    expect(inspect(token({ alg: 'RS256' }, claims))).toEqual({
      header: { alg: 'RS256' },
      claims,
      times: [
        { claim: 'iat', utc: '2027-01-15T06:00:00Z', relative: 'issued 2 h ago' },
        { claim: 'nbf', utc: '2027-01-15T07:58:26Z', relative: 'valid since 94 s ago' },
        { claim: 'exp', utc: '2027-01-15T08:05:00Z', relative: 'expires in 5 min' },
      ],
      objections: [],
    });
  });

  it.each<[string, string, RegExp[]]>([
    ['expired', token({ alg: 'RS256' }, { nbf: NOW - 99_999, exp: NOW - 3 * 3600 }), [/^expired 3 h ago$/]],
    ['not yet valid', token({ alg: 'RS256' }, { nbf: NOW + 94, exp: NOW + 99 }), [/nbf is 94 s in the future/]],
    ['no dates', token({ alg: 'RS256' }, {}), [/nbf is missing/, /exp is missing/]],
    ['an algorithm that is not taken', token({ alg: 'EdDSA' }, GOOD), [/"EdDSA": the service does not take/]],
    ['none', token({ alg: 'none' }, GOOD, ''), [/does not take/, /signature is empty/]],
    ['no alg', token({}, GOOD), [/no alg/]],
    ['crit', token({ alg: 'RS256', crit: ['x'] }, GOOD), [/crit asks for/]],
    ['a member twice', token('{"alg":"RS256","alg":"HS256"}', GOOD), [/header part has the member "alg" twice/]],
    [
      'a byte-order mark',
      token({ alg: 'RS256' }, `\ufeff${JSON.stringify(GOOD)}`),
      [/claims part begins with a byte-order/],
    ],
    ['padding', `${part('{"alg":"RS256"}  ')}=.${part(GOOD)}.AAAA`, [/header part is not canonical/]],
    ['a signature that is no base64url', token({ alg: 'RS256' }, GOOD, '***'), [/signature part is not canonical/]],
    ['huge dates', token({ alg: 'RS256' }, '{"nbf":1e400,"exp":1e300,"iat":-5}'), [/nbf/, /exp/, /iat/]],
    ['dates that are text', token({ alg: 'RS256' }, { nbf: '1', exp: null }), [/nbf/, /exp/]],
  ])('says what the service would object to: %s', (_, text, expected) => {
    const found = reasons(text);
    expect(found).toHaveLength(expected.length);
    expected.forEach((reason, index) => {
      expect(found[index]).toMatch(reason);
    });
  });

  it.each<[string, string, RegExp]>([
    ['nothing', '', /empty/],
    ['two parts', 'a.b', /has 2/],
    ['four parts', 'a.b.c.d', /has 4/],
    ['a header that is no JSON', `${part('x')}.${part(GOOD)}.AAAA`, /header part is not JSON/],
    ['claims that are a list', token({ alg: 'RS256' }, '[]'), /claims part is not a JSON object/],
    ['claims that are not UTF-8', token({ alg: 'RS256' }, Buffer.from([0x7b, 0xff, 0x7d])), /claims part is not UTF-8/],
    ['a line break', `${part({ alg: 'RS256' })}\n.${part(GOOD)}.AAAA`, /header part is not canonical/],
    ['too much', `${part({ alg: 'RS256' })}.${'A'.repeat(70_000)}.AAAA`, /64 KiB/],
  ])('refuses %s as format', (_, text, reason) => {
    expect(inspectToken(text, at)).toMatchObject({ failedCheck: 'format', reason: expect.stringMatching(reason) });
  });

  it('never throws', () => {
    const json = fc.oneof(fc.json(), fc.string(), fc.constant('{"exp":1e400,"nbf":-1e400,"iat":1e308}'));
    fc.assert(
      fc.property(json, json, fc.string(), (header, claims, signature) => {
        inspectToken(`${part(header)}.${part(claims)}.${signature}`, at);
        inspectToken(`${header}.${claims}.${signature}`, at);
      }),
    );
    fc.assert(
      fc.property(fc.record({ exp: fc.double(), nbf: fc.double(), iat: fc.double() }), (claims) => {
        inspect(token({ alg: 'RS256' }, claims));
      }),
    );
  });
});

describe('time words', () => {
  it.each([
    [0, '0 s'],
    [1.9, '1 s'],
    [94, '94 s'],
    [119, '119 s'],
    [120, '2 min'],
    [7199, '119 min'],
    [-7200, '2 h'],
    [3 * 3600 + 3599, '3 h'],
    [2 * 86_400, '2 d'],
    [1e10, '115740 d'],
  ])('%d s is %s', (seconds, text) => {
    expect(span(seconds)).toBe(text);
  });

  it.each([
    [0, '1970-01-01T00:00:00Z'],
    [253_402_300_799, '9999-12-31T23:59:59Z'],
    [253_402_300_800, undefined],
    [-1, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    [Number.NaN, undefined],
    ['0', undefined],
  ])('%s is %s', (seconds, text) => {
    expect(utc(seconds)).toBe(text);
  });
});
