import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secrets } from '../../src/secrets.ts';

const percentBytes = (bytes: Buffer) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const percent = (text: string) => percentBytes(Buffer.from(text));
const base64 = (text: string) => Buffer.from(text).toString('base64');
const inQuery = (text: string) => {
  const url = new URL('http://h/');
  url.search = `k=${encodeURIComponent(text)}`;
  return url.search.slice(3);
};

/** Each function writes a secret in a form that stands alone. */
const FORMS: readonly [string, (secret: string) => string][] = [
  ['raw', (key) => key],
  ['in quotes', (key) => JSON.stringify(key).slice(1, -1)],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded in small letters', (key) => encodeURIComponent(key).replace(/%../g, (hex) => hex.toLowerCase())],
  ['as in the query of a URL', inQuery],
  ['in base64', base64],
  ['in base64 without padding', (key) => base64(key).replace(/=+$/, '')],
  ['in base64url', (key) => Buffer.from(key).toString('base64url')],
  ['in percent-encoded base64', (key) => encodeURIComponent(base64(key))],
];

/** Encodings that a service may apply to a URL, one inside the other. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  'percent-encoded': encodeURIComponent,
  'percent-encoded in small letters': (text) => encodeURIComponent(text).replace(/%../g, (hex) => hex.toLowerCase()),
  'form-encoded': (text) => new URLSearchParams([['k', text]]).toString().slice(2),
  base64,
  base64url: (text) => Buffer.from(text).toString('base64url'),
};
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJ0b2tlbi1jYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ';

describe.each([
  ['with every character that encoders treat differently', `c'an/ary+%?&="k~1 (ä)*!`],
  ['of twelve characters', 'kP3/x+9"q&Z<'],
  ['of eight characters', 'aB3-_x+/'],
  ['that looks like escapes', 'a%41b\\u0042&amp;c\\"d'],
  ['with backslashes at quotes', 'back\\"slash\\\\"'],
  ['that is a token', TOKEN],
])('a secret %s', (_, key) => {
  const secrets = new Secrets();
  secrets.add(key);
  test.each(FORMS)('is redacted if it is %s', (_form, write) => {
    expect(secrets.redact(`before ${write(key)} after ${write(key)}!`)).toBe('before [redacted] after [redacted]!');
  });

  test('is redacted in base64 at any position in a longer text', () => {
    for (let before = 0; before <= 6; before += 1) {
      for (const behind of ['', 'y', 'yy', 'yyy', 'y'.repeat(20)]) {
        const text = 'x'.repeat(before) + key + behind;
        const left = secrets.redact(base64(text).replaceAll('=', '')).split('[redacted]');
        expect(left).toHaveLength(2);
        // The remaining characters on either side contain no bit of the secret.
        expect(Math.floor(((left[0] ?? '').length * 6) / 8)).toBeLessThanOrEqual(before);
        expect(Math.floor(((left[1] ?? '').length * 6) / 8)).toBeLessThanOrEqual(behind.length);
      }
    }
  });
});

describe('redact', () => {
  test('redacts a secret of arbitrary bytes', () => {
    const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - 7 * index));
    const secrets = new Secrets();
    secrets.add(bytes);
    const forms = [bytes.toString('base64'), bytes.toString('base64url')];
    for (const form of forms) expect(secrets.redact(`${form} after`)).toBe('[redacted] after');
  });

  test('redacts a secret behind a percent sign that would make its first letters an escape', () => {
    const secrets = new Secrets();
    secrets.add('deadbeef');
    expect(secrets.redact('50%deadbeef')).toBe('50%[redacted]');
  });

  test('redacts a secret whose letters have become small, as in the name of a host', () => {
    const secrets = new Secrets();
    secrets.add('Canary-Key-1');
    expect(secrets.redact('redirect to canary-key-1.example')).toBe('redirect to [redacted].example');
  });

  test('takes a secret that is not valid Unicode', () => {
    const secrets = new Secrets();
    secrets.add('\ud800abcdefgh');
    expect(secrets.redact('\ud800abcdefgh')).toBe('[redacted]');
  });

  test('redacts nested and overlapping secrets as one', () => {
    const secrets = new Secrets();
    secrets.add('abcdefgh');
    secrets.add('abcdefghijkl');
    expect(secrets.redact('abcdefghijkl abcdefgh')).toBe('[redacted] [redacted]');
  });

  test('redacts a secret as soon as it is added and until it is forgotten', () => {
    const secrets = new Secrets();
    secrets.add('first-one');
    secrets.redact('x');
    secrets.add('second-one');
    expect(secrets.redact('first-one second-one')).toBe('[redacted] [redacted]');
    secrets.forget('first-one');
    expect(secrets.redact('first-one second-one')).toBe('first-one [redacted]');
  });

  test('leaves secrets of fewer than 8 characters in ordinary text', () => {
    const secrets = new Secrets();
    for (const short of ['', 'a', 'ex99', 'wrong', 'invalid']) secrets.add(short);
    expect(secrets.redact('ex99-1.htm: a key is invalid, or wrong')).toBe('ex99-1.htm: a key is invalid, or wrong');
  });

  test.each([
    ['GET /v1/download?apikey=a&file_name=b HTTP/1.1', 'GET /v1/download?apikey=[redacted]&file_name=b HTTP/1.1'],
    ['http://h/?a=b&ApiKey=ab', 'http://h/?a=b&ApiKey=[redacted]'],
    ['<a href="?x=1&amp;apikey=ab">', '<a href="?x=1&amp;apikey=[redacted]">'],
    ['/login?to=%2Fv1%3Fapikey%3Dab%26x', '/login?to=%2Fv1%3Fapikey%3D[redacted]%26x'],
    ['http://h/v1/APIKEY-ab?x', 'http://h/v1/APIKEY-[redacted]?x'],
    ['"/v1/apikey-a%20b"', '"/v1/apikey-[redacted]"'],
    ['http://u:p@h:1/x', 'http://[redacted]@h:1/x'],
    ['http://h/x@y', 'http://h/x@y'],
  ])('redacts a secret of any length where a URL has one: %s', (text, output) => {
    expect(new Secrets().redact(text)).toBe(output);
  });

  test('redacts every form of any secret', () => {
    // A backslash at the edge may stay, because backslashes are not compared.
    const anySecret = fc.string({ minLength: 8, maxLength: 40 }).filter((text) => !/^\\|\\$/.test(text));
    fc.assert(
      fc.property(anySecret, fc.string(), (secret, around) => {
        const secrets = new Secrets();
        secrets.add(secret);
        for (const form of [secret, encodeURIComponent(secret), base64(secret), inQuery(secret)]) {
          expect(secrets.redact(`<${form}>`)).toBe('<[redacted]>');
          expect(secrets.redact(`${around} ${form}`)).not.toContain(form);
        }
      }),
    );
  });

  // Each search takes a moment. With backtracking it would take minutes.
  test.each([
    ['words', 'some words '],
    ['percent signs', '%25'],
    ['percent signs that were encoded twice', '%2525'],
    ['backslashes', '\\'],
    ['escapes of JSON', '\\u0041'],
    ['entities', '&amp;'],
    ['the beginning of a token', TOKEN.slice(0, 60)],
    ['a token in base64', `${base64(TOKEN)}.`],
    ['a token, percent-encoded, in base64 of base64', `${base64(base64(percent(TOKEN)))}.`],
    ['base64 that is base64 at every alignment', 'VVVV'],
    ['URL positions of secrets', '://apikey=?apikey='],
  ])('reads a megabyte of %s quickly', (_, piece) => {
    const secrets = new Secrets();
    for (let index = 0; index < 20; index += 1) secrets.add(`${TOKEN}${'x'.repeat(1000)}${index}`);
    expect(secrets.redact(piece.repeat((1 << 20) / piece.length)).length).toBeGreaterThan(0);
  });
});

describe('encodings', () => {
  const KEY = 'canary/key+1 %&="';
  const secrets = new Secrets();
  secrets.add(KEY);

  test.each(Object.keys(ENCODINGS))(
    'a secret in %s of an address is redacted, and the text around it is kept',
    (name) => {
      const encode = (text: string) => ENCODINGS[name]?.(text) ?? '';
      expect(secrets.holds(encode(KEY))).toBe(true);
      expect(secrets.redact(`before ${encode(`https://h.example/?a=b&apikey=${KEY}&x=y`)} after`)).toMatch(
        /^before .*\[redacted\].* after$/s,
      );
      expect(secrets.redact(encode('https://h.example/?a=b&x=y'))).toBe(encode('https://h.example/?a=b&x=y'));
    },
  );

  test('a secret is redacted under ten layers of percent-encoding, also around base64', () => {
    for (let [text, inBase64, depth] = [KEY, base64(KEY), 0]; depth <= 10; depth += 1) {
      expect(secrets.redact(`<${text}>`)).toBe('<[redacted]>');
      expect(secrets.redact(`<${inBase64}>`)).toBe('<[redacted]>');
      [text, inBase64] = [encodeURIComponent(text), encodeURIComponent(inBase64)];
    }
  });
});
