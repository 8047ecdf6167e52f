import { expect, test } from 'vitest';
import { connectError, exchangeError } from '../../src/http/failures.ts';

const URL_ = new URL('http://service.example/v1/download?apikey=k');
const BODY = { url: URL_, received: 10, expected: 20 };

const parserError = (words: string) =>
  Object.assign(new Error(`Response does not match the HTTP/1.1 protocol (${words})`), { name: 'HTTPParserError' });
const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });
const system = Object.assign(new Error('read EHOSTUNREACH'), { code: 'EHOSTUNREACH', errno: -113, syscall: 'read' });
const noMemory = new RangeError('WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory');

const RETRYABLE = { retryable: true };
const CLOSED = { code: 'temporary', ...RETRYABLE, message: expect.stringMatching(/closed before an answer/) };
const CUT = { code: 'integrity', ...RETRYABLE, message: expect.stringMatching(/truncated.* after 10 of 20/) };
const DEFECT = { code: 'internal', exitStatus: 1, retryable: false };
const NO_ROOM = { exitStatus: 8, retryable: false, stopsRun: true, hint: expect.stringMatching(/ulimit -v/) };
const broken = (words: string) => ({
  code: 'integrity',
  retryable: false,
  message: `service.example: the answer is not sound HTTP: ${words}`,
});
const TOO_MANY = broken('more than 16 KiB of header fields');

const TEMPORARY = { code: 'temporary', connected: false, retryable: true, fault: undefined };
const CERTIFICATE = { ...TEMPORARY, retryable: false, fault: 'certificate' };
test.each<[code: string, words: RegExp, expected: object]>([
  ['ENOTFOUND', /the name does not resolve$/, { ...TEMPORARY, fault: 'unresolved-name' }],
  ['EAI_AGAIN', /the name does not resolve$/, { ...TEMPORARY, fault: 'unresolved-name' }],
  ['ECONNREFUSED', /connection refused$/, TEMPORARY],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /the TLS handshake failed$/, TEMPORARY],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', /the TLS handshake failed$/, TEMPORARY],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', /the TLS handshake failed$/, TEMPORARY],
  ['CERT_HAS_EXPIRED', /has expired or is not valid yet$/, CERTIFICATE],
  ['CERT_NOT_YET_VALID', /has expired or is not valid yet$/, CERTIFICATE],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /is for another name$/, CERTIFICATE],
  ['HOSTNAME_MISMATCH', /is for another name$/, CERTIFICATE],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /is not from a trusted authority$/, CERTIFICATE],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /is not from a trusted authority$/, CERTIFICATE],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /is not from a trusted authority$/, CERTIFICATE],
  ['UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY', /is not from a trusted authority$/, CERTIFICATE],
  ['INVALID_PURPOSE', /certificate is not valid$/, CERTIFICATE],
  ['UNSPECIFIED', /certificate is not valid$/, CERTIFICATE],
  ['EWEIRD', /cannot connect \(EWEIRD\)$/, TEMPORARY],
])('%s is reported as a failure to connect that matches %s', (code, words, expected) => {
  const error = connectError(coded(code), URL_, undefined);
  expect(error).toMatchObject({ ...expected, message: expect.stringMatching(words), hint: expect.any(String) });
});

// Only errors of the connection itself are retryable.
test.each<[string, unknown, inHead: object, inBody: object]>([
  ['a reset connection', coded('ECONNRESET'), CLOSED, CUT],
  ['any other error of a system call', system, CLOSED, CUT],
  ['a connection closed by the other side', coded('UND_ERR_SOCKET', 'other side closed'), CLOSED, CUT],
  ['an error of TLS', coded('ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC'), CLOSED, CUT],
  ['a premature end', parserError('Invalid EOF state'), broken('its head is broken (Invalid EOF state)'), CUT],
  ['a wrong length', coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), broken('its head is broken'), CUT],
  ['a parse error', parserError('Odd'), broken('its head is broken (Odd)'), broken('its body is broken (Odd)')],
  ['too many header fields', coded('UND_ERR_HEADERS_OVERFLOW'), TOO_MANY, TOO_MANY],
  ['a defect of the program', new TypeError('x is not a function'), DEFECT, DEFECT],
  ['no address space for WebAssembly', noMemory, NO_ROOM, NO_ROOM],
])('a failure in the head or the body gets the right code and message: %s', (_, error, inHead, inBody) => {
  expect(exchangeError(error, URL_, undefined)).toMatchObject(inHead);
  expect(exchangeError(error, URL_, BODY)).toMatchObject(inBody);
});
