import { expect, test } from 'vitest';
import { proxyFields, proxyFor } from '../../src/http/proxy.ts';

const P = 'http://p:1/';
const proxied = (url: string, env: Readonly<Record<string, string>>) => proxyFor(new URL(url), env)?.href;

test.each<[url: string, exempting: string[], others: string[]]>([
  [
    'https://a.example/',
    [
      ...['*', 'foo, *', 'a.example', 'A.Example', 'a.example.', 'example', '.example', '*.example', '.a.example'],
      ...['b.example a.example', ' b.example ,\ta.example ', 'a.example:443'],
    ],
    ['', ',, ,', 'b.example', 'a.example:80', '.'],
  ],
  ['https://a.EXAMPLE./', ['a.example'], []],
  ['https://a.example:8443/', ['a.example:8443'], ['a.example:443']],
  ['https://aexample/', [], ['.example', 'example']],
  ['https://example/', [], ['a.example']],
  [
    'https://10.1.2.3/',
    ['10.1.2.3', '10.0.0.0/8', '10.1.2.3/32', '0.0.0.0/0', '10.1.2.3:443'],
    ['10.1.2', '2.3', '10.0.0.0/33', '10.0.0.0/x', '10.0.0.0/', '11.0.0.0/8'],
  ],
  ['https://ten.example/', [], ['10.0.0.0/8']],
  ['https://[fd12:0:0::1]/', ['fd00::/8', 'fd12::1', '[fd12::1]', '[fd12::1]:443'], ['fe80::/10']],
])('for %s, NO_PROXY exempts with each of %j and with none of %j', (url, exempting, others) => {
  const isExempt = (noProxy: string) => proxied(url, { HTTPS_PROXY: P, NO_PROXY: noProxy }) === undefined;
  expect(exempting.filter((noProxy) => !isExempt(noProxy))).toEqual([]);
  expect(others.filter(isExempt)).toEqual([]);
});

const HTTPS = 'https://a.example/';
const HTTP = 'http://a.example/';
test.each<[string, string, Record<string, string>, string | undefined]>([
  ['HTTPS_PROXY, https', HTTPS, { HTTPS_PROXY: 'http://p:1' }, 'http://p:1/'],
  ['HTTP_PROXY, http', HTTP, { HTTP_PROXY: 'http://p:1' }, 'http://p:1/'],
  ['HTTP_PROXY, https', HTTPS, { HTTP_PROXY: 'http://p:1' }, undefined],
  ['HTTPS_PROXY, http', HTTP, { HTTPS_PROXY: 'http://p:1' }, undefined],
  ['lower case and upper case', HTTPS, { https_proxy: 'http://low:1', HTTPS_PROXY: 'http://up:1' }, 'http://low:1/'],
  ['an empty variable in lower case', HTTPS, { https_proxy: '', HTTPS_PROXY: 'http://up:1' }, 'http://up:1/'],
  ['a proxy without a scheme', HTTPS, { HTTPS_PROXY: 'p.example:3128' }, 'http://p.example:3128/'],
  ['a proxy with an https URL', HTTPS, { HTTPS_PROXY: 'https://p:1' }, 'https://p:1/'],
  ['a proxy with a user', HTTPS, { HTTPS_PROXY: 'u:s@p:1' }, 'http://u:s@p:1/'],
  ['an exempt host', HTTPS, { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a.example' }, undefined],
  ['an exempt host in lower case', HTTPS, { HTTPS_PROXY: 'http://p:1', no_proxy: 'a.example' }, undefined],
  ['a loopback address', 'https://127.1.2.3/', { HTTPS_PROXY: 'http://p:1' }, undefined],
  ['localhost', 'http://LOCALHOST/', { HTTP_PROXY: 'http://p:1' }, undefined],
  ['a name below localhost', 'http://x.localhost/', { HTTP_PROXY: 'http://p:1' }, 'http://p:1/'],
])('the environment selects the proxy: %s', (_, url, env, expected) => {
  expect(proxied(url, env)).toBe(expected);
});

test.each(['socks5://p:1', 'http://', 'http://a b', 'ftp://p', 'http://p:99999', 'http://u:%zz@p:1'])(
  'refuses the proxy %s and does not print it',
  (value) => {
    expect(() => proxied(HTTPS, { HTTPS_PROXY: value })).toThrow(
      expect.objectContaining({ code: 'config', message: expect.not.stringContaining(value) }),
    );
  },
);

test('user and password are decoded and sent as Basic credentials', () => {
  const pair = Buffer.from('u@x:p:w').toString('base64');
  expect(proxyFields(new URL('http://u%40x:p%3Aw@p:1'))).toEqual({ 'proxy-authorization': `Basic ${pair}` });
  expect(proxyFields(new URL(P))).toEqual({});
});
