import { expect, test } from 'vitest';
import { checkBaseUrl, parseBaseUrl, requireBaseUrl } from '../../src/settings/base-url.ts';

const source = { name: '--base-url', code: 'usage' as const };

test.each([
  ['https://api.example.com', 'https://api.example.com/'],
  ['https://api.example.com/', 'https://api.example.com/'],
  ['https://api.example.com/v1', 'https://api.example.com/'],
  ['https://api.example.com/v1/', 'https://api.example.com/'],
  ['https://api.example.com//v1//', 'https://api.example.com/'],
  ['https://api.example.com/data/v1', 'https://api.example.com/data/'],
  ['https://api.example.com/v10', 'https://api.example.com/v10/'],
  ['HTTPS://API.example.com:443/x', 'https://api.example.com/x/'],
])('%s means %s', (text, href) => expect(parseBaseUrl(text, source).href).toBe(href));

// Tried again from each slash, it takes minutes.
test('half a million slashes in the middle stay where they are', () => {
  const href = `https://api.example.com/x${'/'.repeat(500_000)}x/`;
  expect(parseBaseUrl(`${href}//`, source).href === href).toBe(true);
});

test.each([
  'api.example.com',
  'localhost:8787',
  'ftp://x',
  'https:/x',
  'https://',
  '',
  'https://me:hidden@x',
  'https://me@x',
  'https://x?hidden',
  'https://x/?',
  'https://x#',
  'https://x y',
  'https://x\n',
  'https:\\\\x',
])('%j is refused without an echo', (text) => {
  expect(() => parseBaseUrl(text, source)).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.not.stringContaining('hidden') }),
  );
});

test.each([
  ['http://127.0.0.1:1', true],
  ['http://127.9.9.9', true],
  ['http://[::1]', true],
  ['http://localhost', true],
  ['http://LOCALHOST', true],
  ['https://far.example', true],
  ['http://far.example', false],
  ['http://localhost.', false],
  ['http://x.localhost', false],
  ['http://localhost.example', false],
  ['http://10.0.0.1', false],
  ['http://0.0.0.0', false],
])('%s may be used: %s', (text, fine) => {
  const check = () => checkBaseUrl(new URL(text), false);
  if (fine) expect(check).not.toThrow();
  else
    expect(check).toThrow(expect.objectContaining({ code: 'config', hint: expect.stringContaining('--allow-http') }));
  expect(() => checkBaseUrl(new URL(text), true)).not.toThrow();
});

test('a missing one names every way to set it', () => {
  expect(() => requireBaseUrl({ baseUrl: undefined }, (command) => `${command} --profile work`)).toThrow(
    expect.objectContaining({
      code: 'config',
      hint: expect.stringMatching(
        /--base-url.*FILINGS_BASE_URL.*baseUrl.*: filings config set base-url URL --profile work;.*--sandbox/,
      ),
    }),
  );
});
