import { describe, expect, test } from 'vitest';
import { errorAbout, FilingsError } from '../../src/errors.ts';
import { withoutCredentials } from '../../src/service/credentials.ts';
import { resolveRedirect, withHosts } from '../../src/service/redirect.ts';

const FROM = new URL('https://a.example:8443/v1/download?accession_no=1');
const PLAIN = new URL('http://127.0.0.1:80/');

test.each([
  [FROM, '/other?x=1', 'https://a.example:8443/other?x=1'],
  [FROM, 'other', 'https://a.example:8443/v1/other'],
  [FROM, '?y=2', 'https://a.example:8443/v1/download?y=2'],
  [FROM, '//b.example/f', 'https://b.example/f'],
  [FROM, 'https://user:word@b.example/f#part', 'https://b.example/f'],
  [FROM, 'HTTPS://B.Example', 'https://b.example/'],
  [PLAIN, 'http://b.example/', 'http://b.example/'],
  [PLAIN, 'https://b.example/', 'https://b.example/'],
])('a redirect from %s to %s leads to %s', (from, location, expected) => {
  expect(resolveRedirect(from, location, 5).href).toBe(expected);
});

test.each<[why: string, location: string | string[] | undefined, hop?: number]>([
  ['a redirect that leads nowhere', undefined],
  ['a redirect that leads nowhere', ''],
  ['a redirect that leads nowhere', ['/a', '/b']],
  ['a redirect that leads nowhere', 'https://['],
  ['a redirect from https to http://a.example:8443', 'http://a.example:8443/f'],
  ['a redirect from https to http://b.example', 'http://b.example/f'],
  ['a redirect to ftp://b.example', 'ftp://b.example/f'],
  ['a redirect to file:', 'file:///etc/passwd'],
  ['a redirect to javascript:', 'javascript:alert(1)'],
  ['more than 5 redirects', '/x', 6],
])('%s is refused: %j', (why, location, hop = 1) => {
  const message = `a.example:8443: ${why} is not followed`;
  const hint = expect.stringContaining('base URL');
  const error = expect.objectContaining({ code: 'integrity', retryable: false, message, hint });
  expect(() => resolveRedirect(FROM, location, hop)).toThrow(error);
});

const KEY = 'k/y+%?&=1 ä';
const PERCENT = encodeURIComponent(KEY);

test.each([
  [`https://b.example/f?x=1&apikey=${PERCENT}`, 'https://b.example/f?x=1'],
  [`https://b.example/f?ApiKey=${PERCENT}&x=1`, 'https://b.example/f?x=1'],
  // Another key belongs to the other service. The client refuses an address that hides our key in another form.
  ['https://b.example/f?apikey=other&x=a%20b', 'https://b.example/f?apikey=other&x=a%20b'],
  [`https://b.example/f/APIKEY-${PERCENT}?x=1`, 'https://b.example/f?x=1'],
  [`https://b.example/f/APIKEY-${PERCENT.replace(/%../g, (hex) => hex.toLowerCase())}/%`, 'https://b.example/f/%'],
  ['https://b.example/f?x=a%20b&y=%2B', 'https://b.example/f?x=a%20b&y=%2B'],
])('our key is removed from %s, which leaves %s', (from, to) => {
  expect(withoutCredentials(new URL(from), KEY).href).toBe(to);
});

describe('an error behind a redirect', () => {
  const hosts = ['a.example', 'b.example:81'] as const;
  const messageOf = (error: FilingsError, between: readonly [string, string] = hosts) =>
    (withHosts(between, error) as FilingsError).message;

  test.each([
    [{ host: 'b.example:81' }, 'a.example redirects to b.example:81: why'],
    [{ host: 'b.example:81', proxy: 'p' }, 'a.example redirects to b.example:81 through the proxy p: why'],
    [undefined, 'a.example redirects to b.example:81: why'],
    [{ host: 'b.example:81', redirectedFrom: 'a.example' }, 'a.example redirects to b.example:81: why'],
  ])('names both hosts: %j', (subject, expected) => {
    for (const code of ['auth', 'not_found', 'rejected', 'temporary', 'integrity'] as const)
      expect(messageOf(new FilingsError(code, 'why', { subject }))).toBe(expected);
  });

  test('names them after the subject and keeps all other members', () => {
    const resource = { accession: '1', fileName: 'x.htm' };
    const error = errorAbout(resource, 'auth', '401', { stopsRun: true, hint: 'h', problem: { status: 401 } });
    const message = 'x.htm of 1: a.example redirects to b.example:81: 401';
    const kept = { code: 'auth', stopsRun: true, hint: 'h', problem: { status: 401 }, subject: { resource } };
    expect(withHosts(hosts, error)).toMatchObject({ message, ...kept });
  });

  test('is unchanged within one host, for a local error, a deadline or a defect', () => {
    const all = [
      new FilingsError('temporary', 'a.example: timed out'),
      new FilingsError('local_io', 'disk full'),
      new FilingsError('temporary', 'the deadline', { isTimeUp: true }),
      new Error('b.example'),
    ];
    expect(withHosts(['a.example', 'a.example'], all[0])).toBe(all[0]);
    for (const error of all.slice(1)) expect(withHosts(hosts, error)).toBe(error);
  });
});
