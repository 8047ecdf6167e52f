import { expect, test } from 'vitest';
import { connectError, exchangeError } from '../../src/http/failures.ts';

const BODY = { received: 10, expected: 20 };

const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });
/** An error as Node makes it of an error of OpenSSL in a handshake. */
const openSsl = (words: string) =>
  coded('EPROTO', `write EPROTO 80AC:error:0A00042E:SSL routines:ssl3_read_bytes:${words}:../s3.c:1601:SSL alert 70`);
const parserError = (words: string) =>
  Object.assign(new Error(`Response does not match the HTTP/1.1 protocol (${words})`), { name: 'HTTPParserError' });
const system = Object.assign(new Error('read EHOSTUNREACH'), { code: 'EHOSTUNREACH', errno: -113, syscall: 'read' });
const noMemory = new RangeError('WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory');

const TEMPORARY = { code: 'temporary', connected: false, retryable: true };
const FINAL = { ...TEMPORARY, retryable: false };
const CERTIFICATE = /the server's certificate is refused: x$/;
const OWN_AUTHORITY = /set NODE_EXTRA_CA_CERTS to a PEM file/;

test.each<[cause: string, message: RegExp, hint: RegExp, expected: object]>([
  ['ENOTFOUND', /the name does not resolve$/, /name server/, { ...TEMPORARY, fault: 'unresolved-name' }],
  ['EAI_AGAIN', /the name does not resolve$/, /name server/, { ...TEMPORARY, fault: 'unresolved-name' }],
  ['ECONNREFUSED', /connection refused$/, /nothing listens/, TEMPORARY],
  ['ECONNRESET', /closed while connecting$/, /network/, TEMPORARY],
  ['ETIMEDOUT', /connecting timed out$/, /--connect-timeout/, TEMPORARY],
  ['EWEIRD', /cannot connect \(EWEIRD\)$/, /network/, TEMPORARY],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /the TLS handshake failed$/, /not speak https/, TEMPORARY],
  ['wrong version number', /the TLS handshake failed: wrong version number$/, /not speak https/, TEMPORARY],
  [
    'tlsv1 alert protocol version',
    /supports neither TLS 1\.2 nor TLS 1\.3: tlsv1 alert protocol version$/,
    /enable TLS 1\.2/,
    FINAL,
  ],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', /demands a client certificate$/, /another way in/, FINAL],
  ['CERT_HAS_EXPIRED', CERTIFICATE, /this clock/, FINAL],
  ['ERR_TLS_CERT_ALTNAME_INVALID', CERTIFICATE, /base URL/, FINAL],
  ['INVALID_PURPOSE', CERTIFICATE, /base URL/, FINAL],
  ['UNSPECIFIED', CERTIFICATE, /base URL/, FINAL],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', CERTIFICATE, OWN_AUTHORITY, FINAL],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', CERTIFICATE, OWN_AUTHORITY, FINAL],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', CERTIFICATE, OWN_AUTHORITY, FINAL],
  ['UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY', CERTIFICATE, OWN_AUTHORITY, FINAL],
])('%s says why no connection could be made, and what to do', (words, message, hint, expected) => {
  const cause = words.includes(' ') ? openSsl(words) : coded(words);
  const error = connectError(cause, undefined, {});
  expect(error).toMatchObject({ ...expected, cause });
  expect([error.message, error.hint]).toEqual([expect.stringMatching(message), expect.stringMatching(hint)]);
});

test.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /^NODE_EXTRA_CA_CERTS does not help: .*not PEM.*another authority.*intermediate/],
  ['CERT_HAS_EXPIRED', /this clock/],
])('for %s the hint says whether NODE_EXTRA_CA_CERTS could have helped', (code, hint) => {
  expect(connectError(coded(code), undefined, { NODE_EXTRA_CA_CERTS: '/ca.der' }).hint).toMatch(hint);
});

test.each([
  ['ECONNREFUSED', /^check HTTPS_PROXY and HTTP_PROXY/],
  ['CERT_HAS_EXPIRED', /^check the base URL/],
])('with a proxy the hint about %s matches %s', (code, hint) => {
  expect(connectError(coded(code), new URL('http://p:1'), {}).hint).toMatch(hint);
});

test('too many open files stop the run with 8', () => {
  const error = connectError(coded('EMFILE'), undefined, {});
  expect(error).toMatchObject({ code: 'local_io', stopsRun: true, hint: expect.stringContaining('ulimit -n') });
});

const RETRYABLE = { retryable: true };
const CLOSED = { code: 'temporary', ...RETRYABLE, message: expect.stringMatching(/closed before a response/) };
const CUT = { code: 'integrity', ...RETRYABLE, message: expect.stringMatching(/truncated.* after 10 of 20/) };
const DEFECT = { code: 'internal', exitStatus: 1, retryable: false };
const NO_ROOM = { exitStatus: 8, retryable: false, stopsRun: true, hint: expect.stringMatching(/ulimit -v/) };
const REFUSED = { ...FINAL, message: 'the server demands a client certificate' };
const broken = (words: string) => ({
  code: 'integrity',
  retryable: false,
  message: `invalid HTTP response: ${words}`,
});
const TOO_MANY = broken('more than 16 KiB of header fields');

// Only errors of the connection itself are retryable.
test.each<[string, unknown, inHead: object, inBody: object]>([
  ['a reset connection', coded('ECONNRESET'), CLOSED, CUT],
  ['any other error of a system call', system, CLOSED, CUT],
  ['a connection closed by the other side', coded('UND_ERR_SOCKET', 'other side closed'), CLOSED, CUT],
  ['an error of TLS', coded('ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC'), CLOSED, CUT],
  ['a late refusal in TLS 1.3', coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), REFUSED, CUT],
  ['a premature end', parserError('Invalid EOF state'), broken('its head is broken (Invalid EOF state)'), CUT],
  ['a wrong length', coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), broken('its head is broken'), CUT],
  ['a parse error', parserError('Odd'), broken('its head is broken (Odd)'), broken('its body is broken (Odd)')],
  ['too many header fields', coded('UND_ERR_HEADERS_OVERFLOW'), TOO_MANY, TOO_MANY],
  ['a defect of the program', new TypeError('x is not a function'), DEFECT, DEFECT],
  ['no address space for WebAssembly', noMemory, NO_ROOM, NO_ROOM],
])('a failure in the head or the body gets the right code and message: %s', (_, error, inHead, inBody) => {
  expect(exchangeError(error, undefined)).toMatchObject(inHead);
  expect(exchangeError(error, BODY)).toMatchObject(inBody);
});
