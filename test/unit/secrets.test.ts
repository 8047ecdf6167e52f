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

/** Each takes a secret to a form of it that stands alone. */
const FORMS: readonly [string, (secret: string) => string][] = [
  ['raw', (key) => key],
  ['in quotes', (key) => JSON.stringify(key).slice(1, -1)],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded in small letters', (key) => encodeURIComponent(key).replace(/%../g, (hex) => hex.toLowerCase())],
  ['as a URL keeps it in its query', inQuery],
  ['percent-encoded byte by byte', percent],
  ['percent-encoded in part', (key) => percent(key.slice(0, 5)) + key.slice(5)],
  ['base64', base64],
  ['base64 without padding', (key) => base64(key).replace(/=+$/, '')],
  ['base64url', (key) => Buffer.from(key).toString('base64url')],
  ['base64, percent-encoded', (key) => encodeURIComponent(base64(key))],
];

const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJ0b2tlbi1jYW5hcnkifQ.c2lnbmF0dXJlLWNhbmFyeQ';

describe.each([
  ['with all that encoders treat differently', `c'an/ary+%?&="k~1 (ä)*!`],
  ['of twelve characters', 'kP3/x+9"q&Z<'],
  ['of eight characters', 'aB3-_x+/'],
  ['that looks like escapes', 'a%41b\\u0042&amp;c\\"d'],
  ['with backslashes at quotes', 'back\\"slash\\\\"'],
  ['a token', TOKEN],
])('a secret %s', (_, key) => {
  const secrets = new Secrets();
  secrets.add(key);
  test.each(FORMS)('%s', (_form, write) => {
    expect(secrets.redact(`before ${write(key)} after ${write(key)}!`)).toBe('before [redacted] after [redacted]!');
  });

  test('base64 wherever it stands in a longer text', () => {
    for (let before = 0; before <= 6; before += 1) {
      for (const behind of ['', 'y', 'yy', 'yyy', 'y'.repeat(20)]) {
        const text = 'x'.repeat(before) + key + behind;
        const left = secrets.redact(base64(text).replaceAll('=', '')).split('[redacted]');
        expect(left).toHaveLength(2);
        // What is left on either side holds no bit of it.
        expect(Math.floor(((left[0] ?? '').length * 6) / 8)).toBeLessThanOrEqual(before);
        expect(Math.floor(((left[1] ?? '').length * 6) / 8)).toBeLessThanOrEqual(behind.length);
      }
    }
  });

  test('its beginning, where a text was cut', () => {
    for (const form of [key, encodeURIComponent(key), base64(key)]) {
      for (let length = 0; length < form.length; length += 1) {
        const shown = secrets.redact(`saw ${form.slice(0, length)}…`);
        for (const beginning of [key, base64(key)]) expect(shown).not.toContain(beginning.slice(0, 4));
      }
    }
  });
});

describe('redact', () => {
  test('bytes that are no text', () => {
    const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - 7 * index));
    const secrets = new Secrets();
    secrets.add(bytes);
    const forms = [bytes.toString('base64'), bytes.toString('base64url'), percentBytes(bytes)];
    for (const form of forms) expect(secrets.redact(`${form} after`)).toBe('[redacted] after');
  });

  test('one secret inside another, and two that overlap: as one', () => {
    const secrets = new Secrets();
    secrets.add('abcdefgh');
    secrets.add('abcdefghijkl');
    secrets.add('ijklmnopqr');
    expect(secrets.redact('abcdefghijklmnopqr abcdefgh')).toBe('[redacted] [redacted]');
  });

  test('added later counts at once; forgotten: not looked for any more', () => {
    const secrets = new Secrets();
    secrets.add('first-one');
    secrets.redact('x');
    secrets.add('second-one');
    expect(secrets.redact('first-one second-one')).toBe('[redacted] [redacted]');
    secrets.forget('first-one');
    expect(secrets.redact('first-one second-one')).toBe('first-one [redacted]');
  });

  test('one of fewer than 8 characters would black out words: it is found by its place alone', () => {
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
  ])('by its place, whatever its length: %s', (text, shown) => {
    expect(new Secrets().redact(text)).toBe(shown);
  });

  test('whatever the secret, none of its forms is left', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 8, maxLength: 40 }), fc.string(), (secret, around) => {
        const secrets = new Secrets();
        secrets.add(secret);
        for (const form of [secret, encodeURIComponent(secret), base64(secret), inQuery(secret)]) {
          expect(secrets.redact(`<${form}>`)).toBe('<[redacted]>');
          expect(secrets.redact(`${around} ${form}`)).not.toContain(form);
        }
      }),
    );
  });

  // Each takes a moment; a search that goes back and forth would take minutes.
  test.each([
    ['words', 'some words '],
    ['percent signs', '%25'],
    ['the beginning of a token', TOKEN.slice(0, 60)],
    ['places', '://apikey=?apikey='],
    ['ellipses', 'k…'],
  ])('a megabyte of %s is read in one go', (_, piece) => {
    const secrets = new Secrets();
    for (let index = 0; index < 20; index += 1) secrets.add(`${TOKEN}${'x'.repeat(1000)}${index}`);
    expect(secrets.redact(piece.repeat((1 << 20) / piece.length)).length).toBeGreaterThan(0);
  });
});
