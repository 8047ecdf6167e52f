import { expect, test } from 'vitest';
import { findProxy, makeProxyHeaders, proxyRefusalError } from '../../src/http/proxy.ts';

const P = 'http://p:1/';
const proxied = (url: string, env: Readonly<Record<string, string>>) => findProxy(new URL(url), env)?.href;

const SUFFIXES = ['example', '.example', '*.example', '.a.example'];
const EXEMPTING = ['*', 'a.example', 'A.Example', 'a.example.', 'a.example:443', ...SUFFIXES];
const LISTS = ['foo, *', 'b.example a.example', ' b.example ,\ta.example '];
test.each`
  url                          | others                                            | exempting
  ${'https://a.example/'}      | ${['', ',, ,', 'b.example', 'a.example:80', '.']} | ${[...EXEMPTING, ...LISTS]}
  ${'https://a.EXAMPLE./'}     | ${[]}                                             | ${['a.example']}
  ${'https://a.example:8443/'} | ${['a.example:443']}                              | ${['a.example:8443']}
  ${'https://aexample/'}       | ${['.example', 'example']}                        | ${[]}
  ${'https://example/'}        | ${['a.example']}                                  | ${[]}
  ${'https://10.1.2.3/'}       | ${['10.1.2', '10.1.2.4']}                         | ${['10.1.2.3', '10.1.2.3:443']}
  ${'https://[fd12:0:0::1]/'}  | ${['fd12::2']}                                    | ${['fd12::1', '[fd12::1]', '[fd12::1]:443']}
`('for $url, NO_PROXY exempts with each of $exempting and with none of $others', (row) => {
  const { url, exempting, others } = row as { url: string; exempting: string[]; others: string[] };
  const isExempt = (noProxy: string) => proxied(url, { HTTPS_PROXY: P, NO_PROXY: noProxy }) === undefined;
  expect(exempting.filter((noProxy) => !isExempt(noProxy))).toEqual([]);
  expect(others.filter(isExempt)).toEqual([]);
});

const HTTPS = 'https://a.example/';
const HTTP = 'http://a.example/';
test.each`
  url                      | env                                                | proxy
  ${HTTPS}                 | ${{ HTTPS_PROXY: 'http://p:1' }}                   | ${P}
  ${HTTP}                  | ${{ HTTP_PROXY: 'http://p:1' }}                    | ${P}
  ${HTTPS}                 | ${{ HTTP_PROXY: P }}                               | ${undefined}
  ${HTTP}                  | ${{ HTTPS_PROXY: P }}                              | ${undefined}
  ${HTTPS}                 | ${{ https_proxy: 'http://low:1', HTTPS_PROXY: P }} | ${'http://low:1/'}
  ${HTTPS}                 | ${{ https_proxy: '', HTTPS_PROXY: P }}             | ${P}
  ${HTTPS}                 | ${{ HTTPS_PROXY: 'p.example:3128' }}               | ${'http://p.example:3128/'}
  ${HTTPS}                 | ${{ HTTPS_PROXY: 'https://p:1' }}                  | ${'https://p:1/'}
  ${HTTPS}                 | ${{ HTTPS_PROXY: 'u:s@p:1' }}                      | ${'http://u:s@p:1/'}
  ${HTTPS}                 | ${{ HTTPS_PROXY: P, no_proxy: 'a.example' }}       | ${undefined}
  ${'https://127.1.2.3/'}  | ${{ HTTPS_PROXY: P }}                              | ${undefined}
  ${'http://LOCALHOST/'}   | ${{ HTTP_PROXY: P }}                               | ${undefined}
  ${'http://x.localhost/'} | ${{ HTTP_PROXY: P }}                               | ${P}
`('the environment $env selects for $url the proxy $proxy', ({ url, env, proxy }) => {
  expect(proxied(url, env)).toBe(proxy);
});

test.each(['socks5://p:1', 'http://', 'http://a b', 'ftp://p', 'http://p:99999'])('%s is no proxy', (value) => {
  const message = 'HTTPS_PROXY: invalid proxy URL';
  expect(() => proxied(HTTPS, { HTTPS_PROXY: value })).toThrow(expect.objectContaining({ code: 'config', message }));
});

const UNENCODED = ['u:%zz@', 'u:1#2@', 'u:1/2@', 'u:1?2@', 'u:1#@2@', 'u:100%@', 'DOMAIN\\user:secret@', 'u:%ff@'];
test.each(UNENCODED)('a proxy with %s is refused without a part of it in the message', (user) => {
  const message = 'HTTPS_PROXY: its user or password has a character that must be percent-encoded';
  for (const value of [`http://${user}p:1`, `${user}p:1`])
    expect(() => proxied(HTTPS, { HTTPS_PROXY: value })).toThrow(expect.objectContaining({ code: 'config', message }));
});

test('user and password are decoded and sent as Basic credentials', () => {
  const pair = Buffer.from('DOM\\u@x:p:w#/?%').toString('base64');
  const proxy = findProxy(new URL(HTTPS), { HTTPS_PROXY: 'DOM%5Cu%40x:p:w%23%2F%3F%25@p:1' }) ?? new URL(P);
  expect(makeProxyHeaders(proxy)).toEqual({ 'proxy-authorization': `Basic ${pair}` });
  expect(makeProxyHeaders(new URL(P))).toEqual({});
});

const ONLY_BASIC = /^this program supports only Basic/;
const PUT = /^put USER:PASSWORD@ before the host in HTTPS_PROXY$/;
test.each`
  challenge                                             | offer                                    | hint
  ${undefined}                                          | ${''}                                    | ${PUT}
  ${'Basic realm="a, NTLM b"'}                          | ${''}                                    | ${PUT}
  ${'Negotiate, NTLM, basic realm="x"'}                 | ${''}                                    | ${PUT}
  ${'NTLM'}                                             | ${': it offers only NTLM'}               | ${ONLY_BASIC}
  ${'Negotiate, NTLM'}                                  | ${': it offers only Negotiate and NTLM'} | ${ONLY_BASIC}
  ${'Negotiate YWJj==,NTLM'}                            | ${': it offers only Negotiate and NTLM'} | ${ONLY_BASIC}
  ${'Digest realm="Basic, x", qop = "auth", nonce=abc'} | ${': it offers only Digest'}             | ${ONLY_BASIC}
`('a proxy that answers 407 with $challenge is named, with what it offers', ({ challenge, offer, hint }) => {
  expect(proxyRefusalError(new URL(P), new URL(HTTPS), 407, challenge)).toMatchObject({
    code: 'auth',
    stopsRun: true,
    message: `the proxy p:1 refused with 407${offer}`,
    hint: expect.stringMatching(hint),
  });
});

test('a proxy that refuses the given password is told so', () => {
  const { hint } = proxyRefusalError(new URL('http://u:p@p:1'), new URL(HTTP), 407, 'Basic realm="x"');
  expect(hint).toBe('check the user and password in HTTP_PROXY');
});

test('a proxy that refuses is temporary, and retried only if its status says so', () => {
  for (const [status, retryable] of [
    [403, false],
    [503, true],
  ] as const)
    expect(proxyRefusalError(new URL(P), new URL(HTTPS), status, undefined)).toMatchObject({
      code: 'temporary',
      retryable,
      isUnreachable: true,
    });
});
