import { expect, test } from 'vitest';
import { BASE_URL } from '../../src/settings/table.ts';
import { parseOrThrow } from '../../src/spec/option.ts';

test.each`
  text                                 | href
  ${'https://api.example.com'}         | ${'https://api.example.com/'}
  ${'https://api.example.com/v1'}      | ${'https://api.example.com/'}
  ${'https://api.example.com//v1//'}   | ${'https://api.example.com/'}
  ${'https://api.example.com/data/v1'} | ${'https://api.example.com/data/'}
  ${'https://api.example.com/v10'}     | ${'https://api.example.com/v10/'}
  ${'HTTPS://API.example.com:443/x'}   | ${'https://api.example.com/x/'}
`('reads the base URL $text as $href', ({ text, href }) => expect(BASE_URL.parse(text)?.href).toBe(href));

const BAD = ['', 'api.example.com', 'ftp://x', 'https://', 'https:\\\\x', 'https://x\n'];
test.each([...BAD, 'https://me:hidden@x', 'https://x?hidden', 'https://x#'])('refuses and hides %j', (text) => {
  const refused = expect.objectContaining({ code: 'usage', message: `--base-url: must be ${BASE_URL.expected}` });
  expect(() => parseOrThrow(BASE_URL, text, '--base-url')).toThrow(refused);
});
