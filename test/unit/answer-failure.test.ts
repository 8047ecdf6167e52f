import { describe, expect, test } from 'vitest';
import { answerFailure, bodyFailure } from '../../src/http/answer-failure.ts';

const URL_ = new URL('http://service.example/v1/download?apikey=k');
const body = { url: URL_, received: 10, expected: 20 };

const parserError = (words: string) =>
  Object.assign(new Error(`Response does not match the HTTP/1.1 protocol (${words})`), { name: 'HTTPParserError' });
const coded = (code: string, message = 'x') => Object.assign(new Error(message), { code });
const system = Object.assign(new Error('read EHOSTUNREACH'), { code: 'EHOSTUNREACH', errno: -113, syscall: 'read' });

describe('only what the connection says is worth another try', () => {
  test.each<[string, unknown]>([
    ['a reset', coded('ECONNRESET')],
    ['any other error of a system call', system],
    ['closed by the other side', coded('UND_ERR_SOCKET', 'other side closed')],
    ['TLS below it', coded('ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC')],
  ])('%s', (_, error) => {
    expect(answerFailure(error, URL_)).toMatchObject({ code: 'temporary', retryable: true });
    expect(bodyFailure(error, body)).toMatchObject({
      code: 'integrity',
      retryable: true,
      message: expect.stringMatching(/after 10 of 20/),
    });
  });

  test.each<[string, unknown]>([
    ['a defect', new TypeError('x is not a function')],
    ['an assertion of the parser’s', coded('ERR_ASSERTION')],
    ['a RangeError of another kind', new RangeError('Invalid array length')],
    ['no error at all', 'thrown'],
  ])('%s is internal', (_, error) => {
    for (const failure of [answerFailure(error, URL_), bodyFailure(error, body)]) {
      expect(failure).toMatchObject({ code: 'internal', exitStatus: 1, retryable: false });
    }
  });

  test('no addresses for WebAssembly: exit 8, and the limit is named', () => {
    const error = new RangeError('WebAssembly.Instance(): Out of memory: Cannot allocate Wasm memory for new instance');
    const failure = answerFailure(error, URL_);
    expect(failure).toMatchObject({
      exitStatus: 8,
      retryable: false,
      stopsRun: true,
      hint: expect.stringMatching(/ulimit -v/),
    });
  });
});

describe('what the parser says', () => {
  test.each<[string, RegExp]>([
    ['Invalid character in chunk size', /its body is broken \(Invalid character in chunk size\)$/],
    ['Something that nobody has seen yet', /its body is broken/],
  ])('of a body: %s', (words, ours) => {
    const failure = bodyFailure(parserError(words), body);
    expect(failure).toMatchObject({ code: 'integrity', retryable: false, message: expect.stringMatching(ours) });
    expect(failure.message).not.toMatch(/truncated/);
  });

  test.each<[string, unknown]>([
    ['a connection that ended too early', parserError('Invalid EOF state')],
    ['a length that was not reached', coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH')],
  ])('of a body, %s: truncated', (_, error) => {
    expect(bodyFailure(error, body)).toMatchObject({
      code: 'integrity',
      retryable: true,
      message: expect.stringMatching(/truncated/),
    });
  });

  test.each<[string, unknown]>([
    ['in words', parserError('Invalid header token')],
    ['without', coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH')],
  ])('of a head, %s: nothing that may be wrong', (_, error) => {
    const failure = answerFailure(error, URL_);
    expect(failure).toMatchObject({
      code: 'integrity',
      retryable: false,
      message: expect.stringMatching(/not sound HTTP: its head is broken( \(Invalid header token\))?$/),
    });
  });
});
