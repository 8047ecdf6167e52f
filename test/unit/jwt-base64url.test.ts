import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64urlFault, decodeBase64url } from '../../src/jwt/base64url.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('canonical base64url', () => {
  it('takes what an encoder writes, and nothing that decodes to the same', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64url');
        expect(decodeBase64url(text)).toEqual(Buffer.from(bytes));
        expect(decodeBase64url(`${text}=`)).toBeUndefined();
        for (const foreign of ['\n', ' ', '+', '/', '.', '\0', 'é', '🙂', '\ud800']) {
          expect(decodeBase64url(text + foreign)).toBeUndefined();
          expect(decodeBase64url(foreign + text)).toBeUndefined();
        }
      }),
    );
  });

  it('has one text for each value, and refuses those that a sloppy decoder takes for the same', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 9 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64url');
        const spellings = [...ALPHABET].map((last) => text.slice(0, -1) + last);
        const same = spellings.filter((spelling) => Buffer.from(spelling, 'base64url').equals(bytes));
        expect(same).toHaveLength([1, 16, 4][bytes.length % 3] as number);
        expect(same.filter((spelling) => decodeBase64url(spelling) !== undefined)).toEqual([text]);
      }),
    );
  });

  const [broken, white, padded] = ['has a line break inside', 'has white space inside', 'is padded with "="'];
  const other = 'is base64 of the other alphabet (+ and /), not base64url';
  const foreign = 'has characters that base64url has not';
  const cut = 'has a length that base64url can not have: it was cut';
  const left = 'has bits left over in its last character: it was changed, or made by a sloppy encoder';
  it.each([
    ['YQ\n', broken],
    ['YW\nJj', broken],
    ['YW\r Jj', broken],
    ['YW Jj', white],
    ['YWJj\t=', white],
    ['YQ=', padded],
    ['YQ==', padded],
    ['Y-_Q===', padded],
    ['+/+/', other],
    ['ab+/', other],
    ['+bc=', other],
    ['/bcd==', other],
    ['+bc=x', foreign],
    ['=', foreign],
    ['=YQ', foreign],
    ['Y=Q', foreign],
    ['YQ=!', foreign],
    ['!YQ=', foreign],
    ['é+/=', foreign],
    ['YWé', foreign],
    ['éYW', foreign],
    ['Y', cut],
    ['YWJjZ', cut],
    ['YR', left],
  ])('%j: %s', (text, fault) => {
    expect(decodeBase64url(text)).toBeUndefined();
    expect(base64urlFault(text)).toBe(fault);
  });
});
