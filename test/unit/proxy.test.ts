import { expect, test } from 'vitest';
import { findProxy, makeProxyHeaders, proxyRefusalError } from '../../src/http/proxy.ts';

const P = 'http://p:1/';
const proxied = (url: string, env: Readonly<Record<string, string>>) => findProxy(new URL(url), env)?.href;

const SUFFIXES = ['example', '.example', '*.example', '.a.example'];
const EXEMPTING = ['*', 'a.example', 'A.Example', 'a.example.', 'a.example:443', ...SUFFIXES];
const RANGES = ['10.1.2.3', '10.1.2.3:443', '10.0.0.0/8', '10.9.9.9/8', '10.1.2.3/32', '0.0.0.0/0', '10.0.0.0/8:443'];
const OTHER_RANGES = ['10.1.2', '10.1.2.4', '.2.3', '11.0.0.0/8', '10.1.2.4/32', '10.0.0.0/33', '10.0.0.0/'];
const RANGES_6 = ['fd12::1', 'FD12:0::0001', '[fd12::1]:443', 'fd00::/8', '[fd00::]/8', '[fd00::/8]:443', '::/0'];
const OTHER_RANGES_6 = ['fd12::2', '[fd12::1]:80', 'fc00::/8', 'fd12::1/129', '0.0.0.0/0', '/8', 'fd00::/8/8'];
const LISTS = ['foo, *', 'b.example a.example', ' b.example ,\ta.example '];
test.each`
  url                          | others                                            | exempting
  ${'https://a.example/'}      | ${['', ',, ,', 'b.example', 'a.example:80', '.']} | ${[...EXEMPTING, ...LISTS]}
  ${'https://a.EXAMPLE./'}     | ${[]}                                             | ${['a.example']}
  ${'https://a.example:8443/'} | ${['a.example:443']}                              | ${['a.example:8443']}
  ${'https://aexample/'}       | ${['.example', 'example']}                        | ${[]}
  ${'https://example/'}        | ${['a.example']}                                  | ${[]}
  ${'https://10.1.2.3/'}       | ${OTHER_RANGES}                                   | ${RANGES}
  ${'https://[fd12:0:0::1]/'}  | ${OTHER_RANGES_6}                                 | ${RANGES_6}
  ${'https://[::ffff:a00:1]/'} | ${['fd00::/8']}                                   | ${['10.0.0.0/8', '10.0.0.1', '::ffff:10.0.0.1']}
  ${'https://a.example/'}      | ${['0.0.0.0/0', '::/0', 'a.example/8']}           | ${[]}
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

const INVALID = 'invalid proxy URL';
const SOCKS = 'a SOCKS proxy is not supported';
test.each`
  reason                          | values
  ${INVALID}                      | ${['http://', 'http://a b', 'ftp://p', 'http://p:99999', 'ht!tp://p:1', 'http://http://p:1']}
  ${SOCKS}                        | ${['socks5://p:1', 'socks://p', 'SOCKS4a://p:1', 'socks5h://u:w@p:1']}
  ${'the proxy URL is in quotes'} | ${['"http://p:1"', "'p:1'", '"http://u:w#@p:1"', "''"]}
`('$values are no proxies: $reason', ({ reason, values }) => {
  const message = `HTTPS_PROXY: ${reason}`;
  for (const value of values)
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
  ${''}                                                 | ${''}                                    | ${PUT}
  ${'Basic realm="a, NTLM b"'}                          | ${''}                                    | ${PUT}
  ${'Negotiate, NTLM, basic realm="x"'}                 | ${''}                                    | ${PUT}
  ${'NTLM'}                                             | ${': it offers only NTLM'}               | ${ONLY_BASIC}
  ${'Negotiate, NTLM'}                                  | ${': it offers only Negotiate and NTLM'} | ${ONLY_BASIC}
  ${'Negotiate YWJj==,NTLM'}                            | ${': it offers only Negotiate and NTLM'} | ${ONLY_BASIC}
  ${'Digest realm="Basic, x", qop = "auth", nonce=abc'} | ${': it offers only Digest'}             | ${ONLY_BASIC}
`('a proxy that answers 401 or 407 with $challenge is named, with what it offers', ({ challenge, offer, hint }) => {
  for (const status of [401, 407]) {
    expect(proxyRefusalError(new URL(P), new URL(HTTPS), status, challenge)).toMatchObject({
      code: 'auth',
      stopsRun: true,
      retryable: false,
      message: `the proxy p:1 refused with ${status}${offer}`,
      hint: expect.stringMatching(hint),
    });
  }
});

test.each`
  status | kind
  ${403} | ${{ code: 'auth', stopsRun: true, hint: expect.stringMatching(/allow a\.example, .*NO_PROXY/) }}
  ${302} | ${{ code: 'temporary', retryable: false, isUnreachable: true }}
  ${502} | ${{ code: 'temporary', retryable: true, isUnreachable: true }}
`('a proxy that refuses with $status is an error of the right kind', ({ status, kind }) => {
  expect(proxyRefusalError(new URL(P), new URL(HTTPS), status, '')).toMatchObject(kind);
});
