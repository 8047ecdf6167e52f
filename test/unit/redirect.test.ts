import { describe, expect, test } from 'vitest';
import { errorAbout, FilingsError } from '../../src/errors.ts';
import { resolveRedirect, withHosts } from '../../src/service/requests.ts';

const FROM = new URL('https://a.example:8443/v1/download?accession_no=1');
const PLAIN = new URL('http://127.0.0.1:80/');

test.each<[from: URL, location: string, expected: string]>([
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

test.each<[what: string, location: string | string[] | undefined, hop?: number]>([
  ['a redirect without a valid Location', undefined],
  ['a redirect without a valid Location', ''],
  ['a redirect without a valid Location', ['/a', '/b']],
  ['a redirect without a valid Location', 'https://['],
  ['a redirect from https to http://a.example:8443', 'http://a.example:8443/f'],
  ['a redirect from https to http://b.example', 'http://b.example/f'],
  ['a redirect to ftp://b.example', 'ftp://b.example/f'],
  ['a redirect to file:', 'file:///etc/passwd'],
  ['a redirect to javascript:', 'javascript:alert(1)'],
  ['a chain of more than 5 redirects', '/x', 6],
])('refuses to follow %s: %j', (what, location, hop = 1) => {
  const message = `a.example:8443: refused to follow ${what}`;
  const hint = expect.stringContaining('base URL');
  const error = expect.objectContaining({ code: 'integrity', retryable: false, message, hint });
  expect(() => resolveRedirect(FROM, location, hop)).toThrow(error);
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
