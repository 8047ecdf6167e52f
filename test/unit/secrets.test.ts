import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdsWord, Secrets } from '../../src/secrets.ts';

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
  ['percent-encoded byte by byte', percent],
  ['partly percent-encoded', (key) => percent(key.slice(0, 5)) + key.slice(5)],
  ['in base64', base64],
  ['in base64 without padding', (key) => base64(key).replace(/=+$/, '')],
  ['in base64url', (key) => Buffer.from(key).toString('base64url')],
  ['in percent-encoded base64', (key) => encodeURIComponent(base64(key))],
];

/** Encodings that a service may apply to a URL, one inside the other. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  'percent-encoded': encodeURIComponent,
  'percent-encoded in small letters': (text) => encodeURIComponent(text).replace(/%../g, (hex) => hex.toLowerCase()),
  'percent-encoded byte by byte': percent,
  'form-encoded': (text) => new URLSearchParams([['k', text]]).toString().slice(2),
  base64,
  base64url: (text) => Buffer.from(text).toString('base64url'),
};
/** Less common encodings: JSON, HTML, Windows and mail. */
const RARE_ENCODINGS: typeof ENCODINGS = {
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  'JSON, as .NET writes it': (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replace(/[&<>'+]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`),
  'JSON, as PHP writes it': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  HTML: (text) =>
    text.replace(/[&<>"'+]/g, (char) => (char === '&' ? '&amp;' : `&#x${char.charCodeAt(0).toString(16)};`)),
  'base64 of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('base64'),
  'base64 in lines': (text) => base64(text).replace(/.{20}/g, '$&\r\n'),
};

/** Base64 that decodes to base64 again at several alignments. */
const ENDLESS = 'VlZW'.repeat(30_000);

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

  test('is redacted if a text was cut after its beginning', () => {
    for (const form of [key, encodeURIComponent(key), base64(key)]) {
      for (let length = 0; length < form.length; length += 1) {
        const output = secrets.redact(`saw ${form.slice(0, length)}…`);
        for (const beginning of [key, base64(key)]) expect(output).not.toContain(beginning.slice(0, 4));
      }
    }
  });
});

describe('redact', () => {
  test('redacts a secret of arbitrary bytes', () => {
    const bytes = Buffer.from(Array.from({ length: 32 }, (_, index) => 255 - 7 * index));
    const secrets = new Secrets();
    secrets.add(bytes);
    const forms = [bytes.toString('base64'), bytes.toString('base64url'), percentBytes(bytes)];
    for (const form of forms) expect(secrets.redact(`${form} after`)).toBe('[redacted] after');
  });

  test('redacts nested and overlapping secrets as one', () => {
    const secrets = new Secrets();
    secrets.add('abcdefgh');
    secrets.add('abcdefghijkl');
    secrets.add('ijklmnopqr');
    expect(secrets.redact('abcdefghijklmnopqr abcdefgh')).toBe('[redacted] [redacted]');
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
    ["GET /v1?apikey=a'b!(c)*~d&x", 'GET /v1?apikey=[redacted]&x'],
    ["http://h/v1/APIKEY-a'b!(c)*~d?x", 'http://h/v1/APIKEY-[redacted]?x'],
    ["http://me:a'b!(c)*~d@h/", 'http://[redacted]@h/'],
    ['http://me:a@b@h/', 'http://[redacted]@h/'],
    ['http://u:p@h:1/x', 'http://[redacted]@h:1/x'],
    ['http://h/x@y', 'http://h/x@y'],
  ])('redacts a secret of any length where a URL has one: %s', (text, output) => {
    expect(new Secrets().redact(text)).toBe(output);
  });

  test('redacts every form of any secret', () => {
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
    ['ellipses', 'k…'],
    ['base64 before ellipses', `${base64(TOKEN).slice(0, 9)}…`],
  ])('reads a megabyte of %s quickly', (_, piece) => {
    const secrets = new Secrets();
    for (let index = 0; index < 20; index += 1) secrets.add(`${TOKEN}${'x'.repeat(1000)}${index}`);
    expect(secrets.redact(piece.repeat((1 << 20) / piece.length)).length).toBeGreaterThan(0);
  });
});

describe('nested encodings', () => {
  const KEY = 'canary/key+1 %&="';
  const secrets = new Secrets();
  secrets.add(KEY);
  const all = { ...ENCODINGS, ...RARE_ENCODINGS };

  test.each(Object.keys(all).flatMap((outer) => Object.keys(all).map((inner) => [outer, inner] as const)))(
    'a secret in %s of %s is redacted, and the text around it is kept',
    (outer, inner) => {
      const encode = (text: string) => all[outer]?.(all[inner]?.(text) ?? '') ?? '';
      expect(secrets.holds(encode(KEY))).toBe(true);
      const output = secrets.redact(`before ${encode(`https://h.example/?a=b&apikey=${KEY}&x=y`)} after`);
      expect(output).toMatch(/^before .*\[redacted\].* after$/s);
      expect(secrets.holds(output)).toBe(false);
      expect(secrets.redact(encode('https://h.example/?a=b&x=y'))).toBe(encode('https://h.example/?a=b&x=y'));
    },
  );

  const key = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 8,
  });
  const names = fc.array(fc.constantFrom(...Object.keys(ENCODINGS)), { maxLength: 5 });

  test('any secret is redacted completely, up to five levels deep', () => {
    fc.assert(
      fc.property(key, names, (secret, chain) => {
        const ours = new Secrets();
        ours.add(secret);
        const encoded = chain.reduce((text, name) => ENCODINGS[name]?.(text) ?? '', secret);
        expect(ours.holds(encoded)).toBe(true);
        expect(ours.redact(`(${encoded})`)).toBe('([redacted])');
      }),
    );
  });

  test('a secret is found inside any text around it, up to four levels deep', () => {
    const around = fc.string({ maxLength: 12 }).map((text) => text.replace(/[%\\]/g, '='));
    const steps = fc.array(fc.tuple(fc.constantFrom(...Object.keys(ENCODINGS)), around, around), { maxLength: 4 });
    fc.assert(
      fc.property(key, steps, (secret, chain) => {
        const ours = new Secrets();
        ours.add(secret);
        const encoded = chain.reduce((text, [name, front, end]) => ENCODINGS[name]?.(front + text + end) ?? '', secret);
        expect(ours.holds(encoded)).toBe(true);
        expect(ours.holds(ours.redact(encoded))).toBe(false);
      }),
    );
  });

  test('a key that looks like an escape is found behind a percent sign, up to four levels deep', () => {
    const ours = new Secrets();
    ours.add('41/0 canary');
    for (let [text, depth] = ['50%41/0 canary', 0]; depth <= 4; depth += 1, text = encodeURIComponent(text))
      expect(ours.holds(text), text).toBe(true);
  });

  test('a secret is redacted under ten layers of percent-encoding, also around base64 in lines', () => {
    const lines = RARE_ENCODINGS['base64 in lines']?.(encodeURIComponent(KEY)) ?? '';
    for (let [text, inLines, depth] = [KEY, lines, 0]; depth <= 10; depth += 1) {
      expect(secrets.redact(`<${text}>`)).toBe('<[redacted]>');
      expect(secrets.holds(inLines), inLines).toBe(true);
      [text, inLines] = [encodeURIComponent(text), encodeURIComponent(inLines)];
    }
  });

  test('a secret in base64 of UTF-16 is redacted to its last byte', () => {
    expect(secrets.redact(Buffer.from(KEY, 'utf16le').toString('base64'))).toBe('[redacted]');
  });

  test('a letter that is longer in lower case does not shift the redaction', () => {
    expect(secrets.redact(`\u0130\u0130 ${KEY}!`)).toBe('\u0130\u0130 [redacted]!');
  });

  test('a line break after a secret is kept', () => {
    expect(secrets.redact(`${KEY}\nnext ${base64(KEY)}\r\nlast`)).toBe('[redacted]\nnext [redacted]\r\nlast');
  });

  test('a secret in hexadecimal digits is redacted', () => {
    expect(secrets.redact(`<${Buffer.from(KEY).toString('hex')}>`)).toBe('<[redacted]>');
    expect(secrets.redact(base64(Buffer.from(KEY).toString('hex').toUpperCase()))).toBe('[redacted]');
  });

  test('a secret is redacted in upper and lower case', () => {
    expect(secrets.redact('CANARY/KEY+1 %&="')).toBe('[redacted]');
    expect(secrets.redact(base64('canary/KEY+1 %&="'.toLowerCase()))).toBe('[redacted]');
  });

  test('the start of an encoded secret is redacted where base64 was cut', () => {
    const ours = new Secrets();
    ours.add('+/canary key');
    for (const front of ['', '?', '?k', '?next=']) {
      const encoded = base64(`${front}${encodeURIComponent('+/canary key')}&x=y`);
      for (let length = 4; length < encoded.length; length += 1) {
        const output = ours.redact(`saw ${encoded.slice(0, length)}…`);
        const run = output.slice('saw '.length, -1).replace('[redacted]', '');
        expect(Buffer.from(run, 'base64').toString('latin1')).not.toContain('%2B%2Fc');
      }
    }
  });

  test('a text that decodes without end counts as a secret', () => {
    const text = ENDLESS;
    expect(secrets.holds(text)).toBe(true);
    expect(secrets.redact(`before ${text}`)).toMatch(/^before .*\[redacted\]/);
    // The text is harmless if there is no secret to find or little to decode.
    expect(new Secrets().holds(text)).toBe(false);
    expect(secrets.holds(text.slice(0, 300))).toBe(false);
  });
});

describe('holdsWord', () => {
  test.each([
    ['?apikey=ab12', true],
    ['?APIKEY=ab12&x', true],
    ['?apikey=ab12/x', true],
    ['?apikey=ab123', false],
    ['?apikey=ab12-x', false],
    ['?apikey=ab1', false],
    ['?key=ab12', false],
    ['/ab12/apikey', false],
    [encodeURIComponent(encodeURIComponent('?apikey=ab12&x=y')), true],
    [base64('https://h.example/?apikey=ab12'), true],
    [base64('https://h.example/?apikey=ab123'), false],
    [base64(encodeURIComponent('?apikey=ab123&apikey=ab12#')), true],
  ])('for the text %.60s the word is found: %s', (text, isFound) => {
    expect(holdsWord(text, ['apikey=ab12'])).toBe(isFound);
  });

  test('finds the word in any text that decodes without end', () => {
    expect(holdsWord(ENDLESS, ['apikey=ab12'])).toBe(true);
  });

  test('decodes form-encoded spaces and escapes inside the word', () => {
    expect(holdsWord('?apikey=a+b%41', ['apikey=a b%41'])).toBe(true);
    expect(holdsWord(base64('?apikey=a b%2541'), ['apikey=a b%41'])).toBe(true);
  });
});
