import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secrets } from '../../src/secrets/secrets.ts';

const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const entities = (text: string, form: (point: number) => string) =>
  [...text].map((c) => form(c.codePointAt(0) ?? 0)).join('');
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const base64 = (text: string) => Buffer.from(text).toString('base64');
/** RFC 4648 section 6, without padding. */
const base32 = (text: string) => {
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const digit = (five: string) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(Number.parseInt(five.padEnd(5, '0'), 2));
  return (bits.match(/.{1,5}/g) ?? []).map(digit).join('');
};
const inQuery = (text: string) => {
  const url = new URL('http://h/');
  url.search = `k=${encodeURIComponent(text)}`;
  return url.search.slice(3);
};
const NAMED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '+': '&plus;',
  '/': '&sol;',
};

/** What a reader of the coded form would undo. */
const unescaped = (text: string) =>
  text.replace(/%([0-9a-f]{2})|&#(\d+);/gi, (_, hex, decimal) =>
    String.fromCharCode(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
  );

/** Each takes a secret to a form of it that stands alone. */
const FORMS: readonly [string, (secret: string) => string][] = [
  ['raw', (key) => key],
  ['in capitals', (key) => key.replace(/[a-z]/g, (letter) => letter.toUpperCase())],
  ['in small letters', (key) => key.toLowerCase()],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded in small letters', (key) => encodeURIComponent(key).replace(/%../g, (hex) => hex.toLowerCase())],
  ['as a URL keeps it in its query', inQuery],
  ['as a form', (key) => new URLSearchParams({ k: key }).toString().slice(2)],
  ['percent-encoded byte by byte', percent],
  ['as encodeURI leaves it', encodeURI],
  ['percent-encoded in part', (key) => percent(key.slice(0, 5)) + key.slice(5)],
  ['percent-encoded twice', (key) => encodeURIComponent(encodeURIComponent(key))],
  ['percent-encoded four times', (key) => percent(percent(percent(percent(key))))],
  ['in JSON', json],
  ['in JSON in JSON', (key) => json(json(key))],
  ['in JSON, its slashes escaped', (key) => json(key).replaceAll('/', '\\/')],
  ['in JSON as code units', (key) => entities(key, (point) => `\\u${point.toString(16).padStart(4, '0')}`)],
  ['in JavaScript', (key) => entities(key, (point) => `\\x${point.toString(16).padStart(2, '0')}`)],
  ['as decimal entities', (key) => entities(key, (point) => `&#${point};`)],
  ['as hexadecimal entities', (key) => entities(key, (point) => `&#x${point.toString(16).toUpperCase()};`)],
  ['as named entities', (key) => key.replace(/[&<>"'+/]/g, (character) => NAMED[character] ?? '')],
  ['as named entities in JSON', (key) => json(key.replace(/[&<>"'+/]/g, (character) => NAMED[character] ?? ''))],
  ['as entities, escaped once more', (key) => entities(key, (point) => `&amp;#${point};`)],
  ['base64', base64],
  ['base64 without padding', (key) => base64(key).replace(/=+$/, '')],
  ['base64url', (key) => Buffer.from(key).toString('base64url')],
  ['base64, percent-encoded', (key) => encodeURIComponent(base64(key))],
  ['base64, percent-encoded by the byte', (key) => percent(base64(key))],
  ['base64 in JSON, its slashes escaped', (key) => base64(key).replaceAll('/', '\\/')],
  ['base64 of it percent-encoded', (key) => base64(encodeURIComponent(key))],
  ['base64 of it in JSON', (key) => base64(json(key))],
  ['base32', base32],
  ['hexadecimal', (key) => Buffer.from(key).toString('hex')],
  ['hexadecimal in capitals', (key) => Buffer.from(key).toString('hex').toUpperCase()],
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

  test('base64 and base32 wherever it stands in a longer text', () => {
    for (let before = 0; before <= 6; before += 1) {
      for (const behind of ['', 'y', 'yy', 'yyy', 'y'.repeat(20)]) {
        const text = 'x'.repeat(before) + key + behind;
        for (const [coded, bits] of [[base64(text).replaceAll('=', ''), 6] as const, [base32(text), 5] as const]) {
          const left = secrets.redact(coded).split('[redacted]');
          expect(left).toHaveLength(2);
          // What is left on either side holds no bit of it.
          expect(Math.floor(((left[0] ?? '').length * bits) / 8)).toBeLessThanOrEqual(before);
          expect(Math.floor(((left[1] ?? '').length * bits) / 8)).toBeLessThanOrEqual(behind.length);
        }
      }
    }
  });

  test('its beginning, where a text was cut', () => {
    for (const [, write] of FORMS.filter(([name]) =>
      /^(raw|percent-encoded|in JSON|as decimal entities|base64|hexadecimal)$/.test(name),
    )) {
      const form = write(key);
      for (let length = 0; length < form.length; length += 1) {
        for (const mark of ['…', '...']) {
          const shown = secrets.redact(`saw ${form.slice(0, length)}${mark}`);
          // What is left, undone, has no four characters of it.
          for (const beginning of [key, base64(key), Buffer.from(key).toString('hex')]) {
            expect(unescaped(shown)).not.toContain(beginning.slice(0, 4));
          }
        }
      }
    }
  });
});

describe('redact', () => {
  test('each part of a token that can’t be guessed', () => {
    const secrets = new Secrets();
    secrets.add(TOKEN);
    const [header = '', payload = '', signature = ''] = TOKEN.split('.');
    expect(secrets.redact(`${header} ${payload} ${signature}`)).toBe(`${header} [redacted] [redacted]`);
    expect(secrets.redact(`${TOKEN.slice(0, 70)} or so`)).toBe('[redacted] or so');
  });

  test('a part of a longer word too', () => {
    const secrets = new Secrets();
    secrets.add('abcdefgh');
    expect(secrets.redact('my-abcdefghij')).toBe('my-[redacted]ij');
  });

  test('one secret inside another, and two that overlap: as one', () => {
    const secrets = new Secrets();
    secrets.add('abcdefgh');
    secrets.add('abcdefghijkl');
    secrets.add('ijklmnopqr');
    expect(secrets.redact('abcdefghijklmnopqr abcdefgh')).toBe('[redacted] [redacted]');
  });

  test('none: the text itself', () => {
    expect(new Secrets().redact('some words … &amp; \ud800')).toBe('some words … &amp; \ud800');
  });

  test('forgotten: not looked for any more', () => {
    const secrets = new Secrets();
    secrets.add('first-one');
    secrets.add('second-one');
    secrets.forget('first-one');
    expect(secrets.redact('first-one second-one')).toBe('first-one [redacted]');
  });

  test('one of fewer than 8 characters would black out words: it is found by its place alone', () => {
    const secrets = new Secrets();
    for (const short of ['', 'a', 'ex99', 'wrong', 'invalid']) secrets.add(short);
    expect(secrets.redact('ex99-1.htm: a key is invalid, or wrong')).toBe('ex99-1.htm: a key is invalid, or wrong');
  });

  test('added later counts at once', () => {
    const secrets = new Secrets();
    secrets.add('first-one');
    secrets.redact('x');
    secrets.add('second-one');
    expect(secrets.redact('first-one second-one')).toBe('[redacted] [redacted]');
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
    ['backslashes', '\\\\u005c'],
    ['entities', '&amp;#38;'],
    ['the beginning of a token', TOKEN.slice(0, 60)],
    ['places', '://apikey=?apikey='],
    ['ellipses', 'k…'],
  ])('a megabyte of %s is read in one go', (_, piece) => {
    const secrets = new Secrets();
    for (let index = 0; index < 20; index += 1) secrets.add(`${TOKEN}${'x'.repeat(1000)}${index}`);
    expect(secrets.redact(piece.repeat((1 << 20) / piece.length)).length).toBeGreaterThan(0);
  });
});
