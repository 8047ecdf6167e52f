import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secrets } from '../../src/secrets.ts';

const KEY = `c'an/ary+%?&="k~1 (ä)*!`;

describe('redact', () => {
  const inQuery = new URL('http://h/');
  inQuery.search = `apikey=${encodeURIComponent(KEY)}`;
  const inForm = new URLSearchParams({ k: KEY }).toString().slice(2);
  const everyByte = [...Buffer.from(KEY)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  test.each<[string, string]>([
    ['raw', KEY],
    ['percent-encoded', encodeURIComponent(KEY)],
    ['percent-encoded in small letters', encodeURIComponent(KEY).replace(/%../g, (hex) => hex.toLowerCase())],
    ['as a URL keeps it in its query', inQuery.search.slice('?apikey='.length)],
    ['as a form', inForm],
    ['percent-encoded byte by byte', everyByte],
    ['as encodeURI leaves it', encodeURI(KEY)],
    ['in JSON', JSON.stringify(KEY).slice(1, -1)],
    ['base64', Buffer.from(KEY).toString('base64')],
    ['base64 without padding', Buffer.from(KEY).toString('base64').replace(/=+$/, '')],
    ['base64url', Buffer.from(KEY).toString('base64url')],
    ['percent-encoded twice, as a redirect to a login does', encodeURIComponent(encodeURIComponent(KEY))],
    ['base64, percent-encoded', encodeURIComponent(Buffer.from(KEY).toString('base64'))],
  ])('%s', (_, form) => {
    const secrets = new Secrets();
    secrets.add(KEY);
    expect(secrets.redact(`before ${form} after ${form}`)).toBe('before [redacted] after [redacted]');
  });

  test('a part of a longer word too', () => {
    const secrets = new Secrets();
    secrets.add('abcdef');
    expect(secrets.redact('APIKEY-abcdefgh')).toBe('APIKEY-[redacted]gh');
  });

  test('one secret inside another: the longer one goes first', () => {
    const secrets = new Secrets();
    secrets.add('abcd');
    secrets.add('abcdefgh');
    expect(secrets.redact('abcdefgh abcd')).toBe('[redacted] [redacted]');
  });

  test('none: the text itself', () => {
    expect(new Secrets().redact('some words')).toBe('some words');
  });

  test('forgotten: not looked for any more', () => {
    const secrets = new Secrets();
    secrets.add('first-one');
    secrets.add('second-one');
    secrets.forget('first-one');
    expect(secrets.redact('first-one second-one')).toBe('first-one [redacted]');
  });

  test('too short a one would black out everything', () => {
    const secrets = new Secrets();
    secrets.add('a');
    secrets.add('');
    expect(secrets.redact('a cat')).toBe('a cat');
  });

  test('added later counts at once', () => {
    const secrets = new Secrets();
    secrets.add('first-one');
    secrets.redact('x');
    secrets.add('second-one');
    expect(secrets.redact('first-one second-one')).toBe('[redacted] [redacted]');
  });

  test('whatever the secret, none of its forms is left', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, maxLength: 40 }), fc.string(), (secret, around) => {
        const secrets = new Secrets();
        secrets.add(secret);
        const url = new URL('http://h/');
        url.search = `k=${encodeURIComponent(secret)}`;
        const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64'), url.search.slice(3)];
        for (const form of forms) {
          const marked = secrets.redact(`<${form}>`);
          expect(marked).toBe('<[redacted]>');
          expect(secrets.redact(around + form)).not.toBe(around + form);
        }
      }),
    );
  });
});
