import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inspectToken } from '../../src/jwt/inspect.ts';
import { decodeBase64url } from '../../src/jwt/token.ts';
import { proving } from '../proving.ts';
import { NOW, part } from '../service/jwt-forge.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

test('base64url is decoded only in its canonical form', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64url');
      expect(decodeBase64url(text)).toEqual(Buffer.from(bytes));
      for (const foreign of ['=', '\n', ' ', '+', '/', '.', '\0', 'é', '🙂', '\ud800']) {
        expect(decodeBase64url(text + foreign)).toBeUndefined();
        expect(decodeBase64url(foreign + text)).toBeUndefined();
      }
      const spellings = [...ALPHABET].map((last) => text.slice(0, -1) + last);
      expect(spellings.filter((spelling) => decodeBase64url(spelling)?.equals(bytes))).toEqual([text]);
    }),
    { seed: 1, numRuns: proving ? 1000 : 100 },
  );
});

describe('inspectToken', () => {
  const at = { atSeconds: NOW };
  const GOOD = { nbf: NOW, exp: NOW + 60 };
  const token = (header: string | object, claims: string | object, signature = 'AAAA') =>
    `${part(header)}.${part(claims)}.${signature}`;
  const inspect = (text: string) => inspectToken(text, at);

  test('shows times in UTC and relative to now', () => {
    const claims = { iat: NOW - 7200, nbf: NOW - 94, exp: NOW + 299, sub: 'x' };
    const times = {
      iat: { utc: '2027-01-15T06:00:00Z', relative: 'issued 2 h ago' },
      nbf: { utc: '2027-01-15T07:58:26Z', relative: 'valid since 94 s ago' },
      exp: { utc: '2027-01-15T08:04:59Z', relative: 'expires in 5 min' },
    };
    const header = { alg: 'RS256' };
    expect(inspect(token(header, claims))).toEqual({ times, objections: [] });
  });

  const RS = { alg: 'RS256' };
  test.each`
    what                                   | objections                                   | text
    ${'an expired token'}                  | ${[/^expired 3 h ago$/]}                     | ${token(RS, { nbf: NOW - 99_999, exp: NOW - 3 * 3600 })}
    ${'a token without dates'}             | ${[/nbf is missing/, /exp is missing/]}      | ${token(RS, {})}
    ${'the algorithm none'}                | ${[/does not accept/, /signature is empty/]} | ${token({ alg: 'none' }, GOOD, '')}
    ${'a signature that is not base64url'} | ${[/signature part is not canonical/]}       | ${token(RS, GOOD, '***')}
    ${'huge dates'}                        | ${[/nbf/, /exp/, /iat/]}                     | ${token(RS, '{"nbf":1e400,"exp":1e300,"iat":-5}')}
  `('reports what the service would object to: $what', ({ text, objections }) => {
    expect(inspect(text).objections).toEqual(objections.map((reason: RegExp) => expect.stringMatching(reason)));
  });

  test('throws nothing but a refusal', () => {
    const json = fc.oneof(fc.json(), fc.string(), fc.constant('{"exp":1e400,"nbf":-1e400,"iat":1e308}'));
    const dates = fc.record({ exp: fc.double(), nbf: fc.double(), iat: fc.double() });
    fc.assert(
      fc.property(json, json, fc.string(), dates, (header, claims, signature, times) => {
        for (const text of [token(header, claims, signature), `${header}.${claims}.${signature}`]) {
          try {
            inspect(text);
          } catch (error) {
            expect(error).toMatchObject({ code: 'auth', subcode: 'format' });
          }
        }
        inspect(token({ alg: 'RS256' }, times));
      }),
      { seed: 1, numRuns: proving ? 1000 : 100 },
    );
  });
});
