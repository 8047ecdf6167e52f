import { expect, test } from 'vitest';
import { FilingsError } from '../../src/errors.ts';
import { addHosts, resolveRedirect } from '../../src/service/requester.ts';

const FROM = new URL('https://a.example:8443/v1/download?accession_no=1');
const PLAIN = new URL('http://127.0.0.1:80/');

test.each`
  from     | location                                | href
  ${FROM}  | ${'/other?x=1'}                         | ${'https://a.example:8443/other?x=1'}
  ${FROM}  | ${'other'}                              | ${'https://a.example:8443/v1/other'}
  ${FROM}  | ${'?y=2'}                               | ${'https://a.example:8443/v1/download?y=2'}
  ${FROM}  | ${'//b.example/f'}                      | ${'https://b.example/f'}
  ${FROM}  | ${'https://user:word@b.example/f#part'} | ${'https://b.example/f'}
  ${FROM}  | ${'HTTPS://B.Example'}                  | ${'https://b.example/'}
  ${PLAIN} | ${'http://b.example/'}                  | ${'http://b.example/'}
  ${PLAIN} | ${'https://b.example/'}                 | ${'https://b.example/'}
`('a redirect from $from to $location leads to $href', ({ from, location, href }) => {
  expect(resolveRedirect(from, location, 5).href).toBe(href);
});

test.each`
  what                                                | location                     | hop
  ${'a redirect without a valid Location'}            | ${undefined}                 | ${1}
  ${'a redirect without a valid Location'}            | ${''}                        | ${1}
  ${'a redirect without a valid Location'}            | ${['/a', '/b']}              | ${1}
  ${'a redirect without a valid Location'}            | ${'https://['}               | ${1}
  ${'a redirect from https to http://a.example:8443'} | ${'http://a.example:8443/f'} | ${1}
  ${'a redirect from https to http://b.example'}      | ${'http://b.example/f'}      | ${1}
  ${'a redirect to ftp://b.example'}                  | ${'ftp://b.example/f'}       | ${1}
  ${'a redirect to file:'}                            | ${'file:///etc/passwd'}      | ${1}
  ${'a redirect to javascript:'}                      | ${'javascript:alert(1)'}     | ${1}
  ${'a chain of more than 5 redirects'}               | ${'/x'}                      | ${6}
`('refuses to follow $what: $location', ({ what, location, hop }) => {
  const message = `a.example:8443: refused to follow ${what}`;
  const hint = expect.stringContaining('base URL');
  const error = expect.objectContaining({ code: 'integrity', retryable: false, message, hint });
  expect(() => resolveRedirect(FROM, location, hop)).toThrow(error);
});

// That others name both hosts is in program/redirect.
test('an error behind a redirect is unchanged within one host, for a local error, a deadline or a defect', () => {
  const hosts = ['a.example', 'b.example:81'] as const;
  const all = [
    new FilingsError('temporary', 'a.example: timed out'),
    new FilingsError('local_io', 'disk full'),
    new FilingsError('temporary', 'the deadline', { isInterruption: true }),
    new Error('b.example'),
  ];
  expect(addHosts(['a.example', 'a.example'], all[0])).toBe(all[0]);
  for (const error of all.slice(1)) expect(addHosts(hosts, error)).toBe(error);
});
