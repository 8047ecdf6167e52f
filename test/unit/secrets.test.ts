import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { markForRedaction, Secrets } from '../../src/secrets.ts';
import { expectLinear } from '../growth.ts';
import { proving } from '../proving.ts';

const percent = (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&');
const base64 = (text: string) => Buffer.from(text).toString('base64');
const inQuery = (text: string) => {
  const url = new URL('http://h/');
  url.search = `k=${encodeURIComponent(text)}`;
  return url.search.slice(3);
};

const small = (text: string) => encodeURIComponent(text).replace(/%../g, (hex) => hex.toLowerCase());
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJ0b2tlbi1jYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ';

function secretsOf(...all: (string | Buffer)[]) {
  const secrets = new Secrets();
  for (const secret of all) secrets.add(secret);
  return secrets;
}

const KEYS = {
  'with every character that encoders treat differently': `c'an/ary+%?&="k~1 (ä)*!`,
  'of twelve characters': 'kP3/x+9"q&Z<',
  'of eight characters': 'aB3-_x+/',
  'that looks like escapes': 'a%41b\\u0042&amp;c\\"d',
  'with backslashes at quotes': 'back\\"slash\\\\"',
  'that is a token': TOKEN,
};

test.each(Object.entries(KEYS))('a secret %s is redacted in base64 at any position in a longer text', (_, key) => {
  for (let before = 0; before <= 6; before += 1) {
    for (const behind of ['', 'y', 'yy', 'yyy', 'y'.repeat(20)]) {
      const text = 'x'.repeat(before) + key + behind;
      const left = secretsOf(key).redact(base64(text).replaceAll('=', '')).split('[redacted]');
      expect(left).toHaveLength(2);
      // The remaining characters on either side contain no bit of the secret.
      expect(Math.floor(((left[0] ?? '').length * 6) / 8)).toBeLessThanOrEqual(before);
      expect(Math.floor(((left[1] ?? '').length * 6) / 8)).toBeLessThanOrEqual(behind.length);
    }
  }
});

describe('redact', () => {
  test.each(['%3a%2f%2fx', '%26apikey%3dx', 'authorization: \\n', '%2fAPIKEY-%41', '\\'])(
    'bounds what it searches, because the stack would overflow with 16 million characters of %s',
    (text) => {
      const message = markForRedaction(text + text.slice(-2).repeat(8_000_000));
      expect(new Secrets().redactMarked(message).length).toBeLessThan(300_000);
    },
  );

  test('shows no part of a secret that is cut where the searched text ends', () => {
    const message = markForRedaction('canary-key '.repeat(100_000));
    expect(secretsOf('canary-key').redactMarked(message)).not.toMatch(/can(?!ary-key)/);
  });

  const BYTES = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - 7 * index));
  test.each`
    what                                     | secret              | text                                      | shown
    ${'in small letters, as in a host name'} | ${'Canary-Key-1'}   | ${'to canary-key-1.example'}              | ${'to [redacted].example'}
    ${'that a percent sign makes an escape'} | ${'deadbeef'}       | ${'50%deadbeef'}                          | ${'50%[redacted]'}
    ${'that is not valid Unicode'}           | ${'\ud800abcdefgh'} | ${'<\ud800abcdefgh>'}                     | ${'<[redacted]>'}
    ${'of bytes, in base64'}                 | ${BYTES}            | ${`${BYTES.toString('base64')} after`}    | ${'[redacted] after'}
    ${'of bytes, in base64url'}              | ${BYTES}            | ${`${BYTES.toString('base64url')} after`} | ${'[redacted] after'}
  `('redacts a secret $what', ({ secret, text, shown }) => {
    expect(secretsOf(secret).redact(text)).toBe(shown);
  });

  test('redacts nested and overlapping secrets as one', () => {
    const secrets = secretsOf('abcdefgh', 'abcdefghijkl');
    expect(secrets.redact('abcdefghijkl abcdefgh')).toBe('[redacted] [redacted]');
  });

  test('redacts a secret as soon as it is added and until it is forgotten', () => {
    const secrets = secretsOf('first-one');
    secrets.redact('x');
    secrets.add('second-one');
    expect(secrets.redact('first-one second-one')).toBe('[redacted] [redacted]');
    secrets.forget('first-one');
    expect(secrets.redact('first-one second-one')).toBe('first-one [redacted]');
  });

  test('redacts what follows the name of the header of the key', () => {
    const secrets = new Secrets();
    secrets.addCredentialName('x-key');
    expect(secrets.redact('{"title": "Bad thing", "X-Key": "abc"}')).toBe(
      '{"title": "Bad thing", "X-Key": "[redacted]"}',
    );
  });

  test('leaves secrets of fewer than 8 characters in ordinary text', () => {
    const secrets = secretsOf('', 'a', 'ex99', 'wrong', 'invalid');
    expect(secrets.redact('ex99-1.htm: a key is invalid, or wrong')).toBe('ex99-1.htm: a key is invalid, or wrong');
  });

  test.each`
    text                                                | shown
    ${'GET /v1/download?apikey=a&file_name=b HTTP/1.1'} | ${'GET /v1/download?apikey=[redacted]&file_name=b HTTP/1.1'}
    ${'http://h/?a=b&ApiKey=ab'}                        | ${'http://h/?a=b&ApiKey=[redacted]'}
    ${'<a href="?x=1&amp;apikey=ab">'}                  | ${'<a href="?x=1&amp;apikey=[redacted]">'}
    ${'/login?to=%2Fv1%3Fapikey%3Dab%26x'}              | ${'/login?to=%2Fv1%3Fapikey%3D[redacted]%26x'}
    ${'http://h/v1/APIKEY-ab?x'}                        | ${'http://h/v1/APIKEY-[redacted]?x'}
    ${'"/v1/apikey-a%20b"'}                             | ${'"/v1/apikey-[redacted]"'}
    ${"/v1/APIKEY-a'b!(?x or /v1?apikey=a'b!(&x"}       | ${'/v1/APIKEY-[redacted]?x or /v1?apikey=[redacted]&x'}
    ${'http://u:p@h:1/x'}                               | ${'http://[redacted]@h:1/x'}
    ${'?u=https%3A%2F%2Fu%3Ap%2540s%40h%2Fx'}           | ${'?u=https%3A%2F%2F[redacted]%40h%2Fx'}
    ${'http://h/x@y'}                                   | ${'http://h/x@y'}
  `('redacts a secret of any length where a URL has one: $text', ({ text, shown }) => {
    expect(new Secrets().redact(text)).toBe(shown);
  });

  test('redacts every form of any secret', () => {
    // A backslash at the edge may stay, because backslashes are not compared. JSON puts one before a quote.
    const anySecret = fc.string({ minLength: 8, maxLength: 40 }).filter((text) => !/^[\\"]|\\$/.test(text));
    fc.assert(
      fc.property(anySecret, fc.string(), (secret, around) => {
        const secrets = secretsOf(secret);
        const encoded = [small(secret), percent(percent(secret)), inQuery(secret), JSON.stringify(secret).slice(1, -1)];
        const inBase64 = [base64(secret), base64url(secret), encodeURIComponent(base64(secret))];
        for (const form of [secret, encodeURIComponent(secret), ...encoded, ...inBase64]) {
          expect(secrets.redact(`<${form}>`)).toBe('<[redacted]>');
          expect(secrets.redact(`${around} ${form}`)).not.toContain(form);
        }
      }),
      { seed: 1, numRuns: proving ? 1000 : 100, examples: Object.values(KEYS).map((key) => [key, 'around']) },
    );
  });

  test.each`
    what                                               | piece
    ${'words'}                                         | ${'some words '}
    ${'percent signs'}                                 | ${'%25'}
    ${'percent signs that were encoded twice'}         | ${'%2525'}
    ${'backslashes'}                                   | ${'\\'}
    ${'escapes of JSON'}                               | ${'\\u0041'}
    ${'entities'}                                      | ${'&amp;'}
    ${'the beginning of a token'}                      | ${TOKEN.slice(0, 60)}
    ${'a token in base64'}                             | ${`${base64(TOKEN)}.`}
    ${'a token, percent-encoded, in base64 of base64'} | ${`${base64(base64(percent(TOKEN)))}.`}
    ${'base64 that is base64 at every alignment'}      | ${'VVVV'}
    ${'URL positions of secrets'}                      | ${'://apikey=?apikey='}
  `('reads twice as many $what in twice the time', ({ piece }: { piece: string }) => {
    const secrets = secretsOf(...Array.from({ length: 20 }, (_, index) => `${TOKEN}${'x'.repeat(1000)}${index}`));
    expectLinear(piece, (text) => secrets.redact(text));
  });
});

describe('a secret in an address that a service encodes', () => {
  const KEY = 'canary/key+1 %&="';
  const secrets = secretsOf(KEY);

  test('is redacted in a form and in base64, and an address without it is kept', () => {
    const form = (text: string) => new URLSearchParams([['k', text]]).toString().slice(2);
    for (const encode of [form, base64]) {
      expect(secrets.occurIn(encode(KEY))).toBe(true);
      const shown = secrets.redact(`before ${encode(`https://h.example/?a=b&apikey=${KEY}&x=y`)} after`);
      expect(shown).toMatch(/^before .*\[redacted\].* after$/s);
      expect(secrets.redact(encode('https://h.example/?a=b&x=y'))).toBe(encode('https://h.example/?a=b&x=y'));
    }
  });

  test('is redacted under ten layers of percent-encoding, also around base64', () => {
    for (let [text, inBase64, depth] = [KEY, base64(KEY), 0]; depth <= 10; depth += 1) {
      expect(secrets.redact(`<${text}> <${inBase64}>`)).toBe('<[redacted]> <[redacted]>');
      [text, inBase64] = [encodeURIComponent(text), encodeURIComponent(inBase64)];
    }
  });
});
