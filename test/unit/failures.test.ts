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

const TEMPORARY = { code: 'temporary', isUnreachable: true, retryable: true };
const FINAL = { ...TEMPORARY, retryable: false };
const UNRESOLVED = { ...TEMPORARY, subcode: 'unresolved-name' };
const CERTIFICATE = "cannot verify the server's certificate: x";
const OWN_AUTHORITY = /set NODE_EXTRA_CA_CERTS to a PEM file/;

test.each`
  cause                                          | kind          | hint                      | message
  ${'EAI_AGAIN'}                                 | ${UNRESOLVED} | ${/name server/}          | ${'the name does not resolve'}
  ${'ENOTFOUND'}                                 | ${UNRESOLVED} | ${/name server/}          | ${'the name does not resolve'}
  ${'EINVAL getaddrinfo'}                        | ${UNRESOLVED} | ${/name server/}          | ${'the name does not resolve'}
  ${'ECONNREFUSED'}                              | ${TEMPORARY}  | ${/nothing is listening/} | ${'connection refused'}
  ${'ECONNRESET'}                                | ${TEMPORARY}  | ${/network/}              | ${'closed while connecting'}
  ${'ETIMEDOUT'}                                 | ${TEMPORARY}  | ${/--connect-timeout/}    | ${'connecting timed out'}
  ${'EWEIRD'}                                    | ${TEMPORARY}  | ${/network/}              | ${'cannot connect (EWEIRD)'}
  ${'ERR_SSL_WRONG_VERSION_NUMBER'}              | ${TEMPORARY}  | ${/base URL/}             | ${'the server does not speak TLS'}
  ${'wrong version number'}                      | ${TEMPORARY}  | ${/base URL/}             | ${'the server does not speak TLS: wrong version number'}
  ${'no shared cipher'}                          | ${TEMPORARY}  | ${/base URL/}             | ${'the TLS handshake failed: no shared cipher'}
  ${'tlsv1 alert protocol version'}              | ${FINAL}      | ${/enable TLS 1\.2/}      | ${'TLS 1.2 nor TLS 1.3: tlsv1 alert protocol version'}
  ${'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'} | ${FINAL}      | ${/another way in/}       | ${'requires a client certificate'}
  ${'CERT_HAS_EXPIRED'}                          | ${FINAL}      | ${/this machine's clock/} | ${CERTIFICATE}
  ${'ERR_TLS_CERT_ALTNAME_INVALID'}              | ${FINAL}      | ${/base URL/}             | ${CERTIFICATE}
  ${'INVALID_PURPOSE'}                           | ${FINAL}      | ${/base URL/}             | ${CERTIFICATE}
  ${'UNSPECIFIED'}                               | ${FINAL}      | ${/base URL/}             | ${CERTIFICATE}
  ${'DEPTH_ZERO_SELF_SIGNED_CERT'}               | ${FINAL}      | ${OWN_AUTHORITY}          | ${CERTIFICATE}
  ${'UNABLE_TO_VERIFY_LEAF_SIGNATURE'}           | ${FINAL}      | ${OWN_AUTHORITY}          | ${CERTIFICATE}
  ${'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY'}        | ${FINAL}      | ${OWN_AUTHORITY}          | ${CERTIFICATE}
`('after $cause no connection could be made: $message', ({ cause: words, message, hint, kind }) => {
  const [code = '', ...rest] = words.split(' ');
  const cause = /^[A-Z]/.test(code) ? coded(code, rest[0]) : openSsl(words);
  const error = connectError(cause, {});
  expect(error).toMatchObject({ ...kind, cause, hint: expect.stringMatching(hint) });
  expect(error.message.endsWith(message)).toBe(true);
});

const NO_HELP = /_CA_CERTS does not help: .*not PEM.*another authority.*intermediate/;
const BY_PROXY = /^about the proxy$/;
test.each`
  peer        | proxyHint            | certificates | code                              | hint
  ${'server'} | ${undefined}         | ${'/ca.der'} | ${'DEPTH_ZERO_SELF_SIGNED_CERT'}  | ${NO_HELP}
  ${'server'} | ${undefined}         | ${'/ca.der'} | ${'CERT_HAS_EXPIRED'}             | ${/this machine's clock/}
  ${'server'} | ${'about the proxy'} | ${undefined} | ${'ECONNRESET'}                   | ${BY_PROXY}
  ${'server'} | ${'about the proxy'} | ${undefined} | ${'ERR_SSL_WRONG_VERSION_NUMBER'} | ${/^check the base URL/}
  ${'server'} | ${'about the proxy'} | ${undefined} | ${'CERT_HAS_EXPIRED'}             | ${/^check the base URL/}
  ${'proxy'}  | ${'about the proxy'} | ${undefined} | ${'ECONNREFUSED'}                 | ${BY_PROXY}
  ${'proxy'}  | ${'about the proxy'} | ${undefined} | ${'ERR_SSL_WRONG_VERSION_NUMBER'} | ${BY_PROXY}
  ${'proxy'}  | ${'about the proxy'} | ${undefined} | ${'CERT_HAS_EXPIRED'}             | ${/^check the proxy's URL/}
`('the hint for $code by the $peer with the certificates $certificates matches $hint', (row) => {
  const { peer, proxyHint, certificates, code, hint } = row;
  const error = connectError(coded(code), { NODE_EXTRA_CA_CERTS: certificates }, peer, proxyHint);
  expect(error.hint).toMatch(hint);
  if (code.startsWith('ERR_SSL')) expect(error.message).toBe(`the ${peer} does not speak TLS`);
});

test('too many open files stop the run with 8', () => {
  const error = connectError(coded('EMFILE'), {});
  expect(error).toMatchObject({ code: 'local_io', stopsRun: true, hint: expect.stringContaining('ulimit -n') });
});

const RETRYABLE = { retryable: true };
const CLOSED = { code: 'temporary', ...RETRYABLE, message: expect.stringMatching(/closed before a response/) };
const CUT = { code: 'integrity', ...RETRYABLE, message: expect.stringMatching(/truncated.* after 10 B of 20 B/) };
const DEFECT = { code: 'internal', exitStatus: 1, retryable: false };
const REFUSED = { ...FINAL, message: 'the server requires a client certificate' };
const broken = (words: string) => ({ code: 'integrity', retryable: false, message: `invalid HTTP response: ${words}` });
const HEAD = broken('its head is malformed');
const HEAD_END = broken('its head is malformed (Invalid EOF state)');
const HEAD_ODD = broken('its head is malformed (Odd)');
const BODY_ODD = broken('its body is malformed (Odd)');
const TOO_MANY = broken('more than 16 KiB of header fields');

// Only errors of the connection itself are retryable.
test.each`
  what                                       | inHead      | inBody      | error
  ${'a reset connection'}                    | ${CLOSED}   | ${CUT}      | ${coded('ECONNRESET')}
  ${'any other error of a system call'}      | ${CLOSED}   | ${CUT}      | ${system}
  ${'a connection closed by the other side'} | ${CLOSED}   | ${CUT}      | ${coded('UND_ERR_SOCKET', 'other side closed')}
  ${'an error of TLS'}                       | ${CLOSED}   | ${CUT}      | ${coded('ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC')}
  ${'a late refusal in TLS 1.3'}             | ${REFUSED}  | ${CUT}      | ${coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')}
  ${'a premature end'}                       | ${HEAD_END} | ${CUT}      | ${parserError('Invalid EOF state')}
  ${'a wrong length'}                        | ${HEAD}     | ${CUT}      | ${coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH')}
  ${'a parse error'}                         | ${HEAD_ODD} | ${BODY_ODD} | ${parserError('Odd')}
  ${'too many header fields'}                | ${TOO_MANY} | ${TOO_MANY} | ${coded('UND_ERR_HEADERS_OVERFLOW')}
  ${'a defect of the program'}               | ${DEFECT}   | ${DEFECT}   | ${new TypeError('x is not a function')}
`('a failure in the head or the body gets the right code and message: $what', ({ error, inHead, inBody }) => {
  expect(exchangeError(error, undefined)).toMatchObject({ ...inHead, cause: error });
  expect(exchangeError(error, BODY)).toMatchObject({ ...inBody, cause: error });
});
