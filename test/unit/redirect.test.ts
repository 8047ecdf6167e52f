import { describe, expect, test } from 'vitest';
import { nextHop } from '../../src/service/requests.ts';

describe('nextHop', () => {
  const from = new URL('https://a.example:8443/v1/download?accession_no=1');
  test.each([
    ['/other?x=1', 'https://a.example:8443/other?x=1'],
    ['other', 'https://a.example:8443/v1/other'],
    ['?y=2', 'https://a.example:8443/v1/download?y=2'],
    ['//b.example/f', 'https://b.example/f'],
    ['https://b.example/f#part', 'https://b.example/f'],
    ['https://user:word@b.example/f', 'https://b.example/f'],
    ['HTTPS://B.Example', 'https://b.example/'],
  ])('%s leads to %s', (location, expected) => {
    expect(nextHop(from, location, 1).href).toBe(expected);
  });

  test.each<[string, string | string[] | undefined, string]>([
    ['no Location', undefined, 'a redirect that leads nowhere'],
    ['an empty one', '', 'a redirect that leads nowhere'],
    ['two Locations', ['/a', '/b'], 'a redirect that leads nowhere'],
    ['a broken one', 'https://[', 'a redirect that leads nowhere'],
    ['a step to http', 'http://a.example:8443/f', 'a redirect from https to http'],
    ['a step to http elsewhere', 'http://b.example/f', 'a redirect from https to http'],
    ['a file', 'file:///etc/passwd', 'a redirect to file:'],
    ['data', 'data:text/plain,x', 'a redirect to data:'],
    ['script', 'javascript:alert(1)', 'a redirect to javascript:'],
    ['ftp', 'ftp://b.example/f', 'a redirect to ftp:'],
  ])('%s is refused', (_, location, why) => {
    expect(() => nextHop(from, location, 1)).toThrow(
      expect.objectContaining({
        code: 'integrity',
        retryable: false,
        message: `a.example:8443: ${why} is not followed`,
        hint: expect.stringContaining('base URL'),
      }),
    );
  });

  test('from http to http and to https', () => {
    const plain = new URL('http://127.0.0.1:80/');
    expect(nextHop(plain, 'http://b.example/', 1).href).toBe('http://b.example/');
    expect(nextHop(plain, 'https://b.example/', 1).href).toBe('https://b.example/');
  });

  test('five are followed, a sixth is not', () => {
    expect(nextHop(from, '/x', 5).pathname).toBe('/x');
    expect(() => nextHop(from, '/x', 6)).toThrow(/more than 5 redirects/);
  });
});
