import { expect, test } from 'vitest';
import { proxyFields, proxyFor, proxyRefusal } from '../../src/http/proxy.ts';

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
  ['https://10.1.2.3/', ['10.1.2.3', '10.1.2.3:443'], ['10.1.2', '10.1.2.4']],
  ['https://[fd12:0:0::1]/', ['fd12::1', '[fd12::1]', '[fd12::1]:443'], ['fd12::2']],
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

const NOT_A_PROXY = 'HTTPS_PROXY: not a URL of a proxy';
const UNENCODED = 'HTTPS_PROXY: its user or password has a character that must be percent-encoded';
test.each([
  ['socks5://p:1', NOT_A_PROXY],
  ['http://', NOT_A_PROXY],
  ['http://a b', NOT_A_PROXY],
  ['ftp://p', NOT_A_PROXY],
  ['http://p:99999', NOT_A_PROXY],
  ['http://u:%zz@p:1', UNENCODED],
  ['http://u:1#2@p:1', UNENCODED],
  ['http://u:1/2@p:1', UNENCODED],
  ['http://u:1?2@p:1', UNENCODED],
  ['http://u:1#@2@p:1', UNENCODED],
  ['u:100%@p:1', UNENCODED],
  ['http://DOMAIN\\user:secret@p:1', UNENCODED],
  ['http://u:%ff@p:1', UNENCODED],
])('refuses the proxy %s without a part of it in the message', (value, message) => {
  expect(() => proxied(HTTPS, { HTTPS_PROXY: value })).toThrow(expect.objectContaining({ code: 'config', message }));
});

test('user and password are decoded and sent as Basic credentials', () => {
  const pair = Buffer.from('DOM\\u@x:p:w#/?%').toString('base64');
  const proxy = proxyFor(new URL(HTTPS), { HTTPS_PROXY: 'DOM%5Cu%40x:p:w%23%2F%3F%25@p:1' }) ?? new URL(P);
  expect(proxyFields(proxy)).toEqual({ 'proxy-authorization': `Basic ${pair}` });
  expect(proxyFields(new URL(P))).toEqual({});
});

const ONLY_BASIC = /^this program supports only Basic/;
const PUT = /^put USER:PASSWORD@ before its host in HTTPS_PROXY$/;
test.each<[challenge: string | undefined, offer: string, hint: RegExp]>([
  [undefined, '', PUT],
  ['Basic realm="a, NTLM b"', '', PUT],
  ['Negotiate, NTLM, basic realm="x"', '', PUT],
  ['NTLM', ': it offers only NTLM', ONLY_BASIC],
  ['Negotiate, NTLM', ': it offers only Negotiate and NTLM', ONLY_BASIC],
  ['Negotiate YWJj==,NTLM', ': it offers only Negotiate and NTLM', ONLY_BASIC],
  ['Digest realm="Basic, x", qop = "auth", nonce=abc', ': it offers only Digest', ONLY_BASIC],
])('a proxy that answers 407 with %s is named, with what it offers', (challenge, offer, hint) => {
  expect(proxyRefusal(new URL(P), new URL(HTTPS), 407, challenge)).toMatchObject({
    code: 'auth',
    stopsRun: true,
    message: `the proxy p:1 refused with 407${offer}`,
    hint: expect.stringMatching(hint),
  });
});

test('a proxy that refuses the given password is told so', () => {
  const { hint } = proxyRefusal(new URL('http://u:p@p:1'), new URL(HTTP), 407, 'Basic realm="x"');
  expect(hint).toBe('it does not accept the user and password in HTTP_PROXY');
});

test.each([
  [403, false],
  [503, true],
])('a proxy that refuses with %i is temporary, and retried: %s', (status, retryable) => {
  const error = proxyRefusal(new URL(P), new URL(HTTPS), status, undefined);
  expect(error).toMatchObject({ code: 'temporary', retryable, connected: false });
});
