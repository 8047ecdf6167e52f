import { expect, test } from 'vitest';
import { findFramingFault, type HeaderFields, parseFraming, skipInterimResponses } from '../../src/http/head.ts';

test.each`
  headers                                 | framing
  ${{}}                                   | ${{ endsWithConnection: true }}
  ${{ 'transfer-encoding': 'Chunked' }}   | ${{}}
  ${{ 'content-length': '0' }}            | ${{ length: 0 }}
  ${{ 'content-length': '123456789012' }} | ${{ length: 123_456_789_012 }}
  ${{ 'content-length': '10 \t ' }}       | ${{ length: 10 }}
`('the headers $headers mean the framing $framing', ({ headers, framing }) => {
  expect(parseFraming(headers)).toEqual(framing);
});

const invalid = (headers: HeaderFields, reason: string) => expect(parseFraming(headers)).toEqual({ reason });

test.each(['xchunked', 'chunked;', 'chunked, x', 'gzip, chunked', 'gzip', 'identity', ''])(
  'the transfer coding %j is invalid',
  (coding) => {
    invalid({ 'transfer-encoding': coding }, `the transfer coding ${JSON.stringify(coding)} is not known`);
  },
);

test.each(['10, 10', '-1', '+1', '0x10', '1.0', '', '9999999999999999', 'ten', '1 0', ' 10'])(
  'the length %j is invalid',
  (length) => {
    invalid({ 'content-length': length }, `the length ${JSON.stringify(length)} is not a number`);
  },
);

test.each`
  lengths       | codings                   | named
  ${['1', '1']} | ${[]}                     | ${'Content-Length: 1, Content-Length: 1'}
  ${['1', '2']} | ${[]}                     | ${'Content-Length: 1, Content-Length: 2'}
  ${['1']}      | ${['chunked']}            | ${'Content-Length: 1, Transfer-Encoding: chunked'}
  ${[]}         | ${['chunked', 'chunked']} | ${'Transfer-Encoding: chunked, Transfer-Encoding: chunked'}
`('a head with the lengths $lengths and the codings $codings is invalid, and they are named', (row) => {
  const { lengths, codings, named } = row as { lengths: string[]; codings: string[]; named: string };
  const reason = `its length is stated more than once (${named})`;
  invalid({ 'transfer-encoding': codings, 'content-length': lengths }, reason);
  const fields = [
    ...lengths.map((value) => `CONTENT-length:\t${value} `),
    ...codings.map((value) => `transfer-encoding:${value}`),
  ];
  expect(findFramingFault(['HTTP/1.1 200 OK', ...fields, '', 'Content-Length: 9'].join('\r\n'))).toBe(reason);
});

test('a head with one length has no fault, whatever follows it', () => {
  expect(findFramingFault('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nContent-Length: 2\r\n')).toBeUndefined();
});

const INTERIM = 'HTTP/1.1 103 E\r\n\r\n';
test.each`
  text                                                           | rest                            | isFinal
  ${'HTTP/1.1 200 OK\r\nX'}                                      | ${'HTTP/1.1 200 OK\r\nX'}       | ${true}
  ${'HTTP/1.1 200\r\n'}                                          | ${'HTTP/1.1 200\r\n'}           | ${true}
  ${'HTTP/1.1 200 O\r'}                                          | ${'HTTP/1.1 200 O\r'}           | ${undefined}
  ${'HTTP/1'}                                                    | ${'HTTP/1'}                     | ${undefined}
  ${`${INTERIM}HTTP/1.1 2`}                                      | ${'HTTP/1.1 2'}                 | ${undefined}
  ${'HTTP/1.1 103 E\r\nX: y\r\n'}                                | ${'HTTP/1.1 103 E\r\nX: y\r\n'} | ${undefined}
  ${`${INTERIM}HTTP/1.1 102 E\r\nX: y\r\n\r\nHTTP/1.1 200 \r\n`} | ${'HTTP/1.1 200 \r\n'}          | ${true}
`('of the start $text, $rest remains after the interim responses', ({ text, rest, isFinal }) => {
  expect(skipInterimResponses(text)).toEqual({ rest, isFinal });
});

const NO_HTTP = ['HTTP/1.1 099', 'HTTP/1.1 OK\r', 'HTTP/2.0 200', 'HTTP/11 200 ', 'http/1.1 200', 'SSH-2.0\r\n'];
const ODD_INTERIM = ['\r\nHTTP/1.1 200 OK', '\r\nX : y', '\r\nX: y\nz'].map(
  (fields) => `HTTP/1.1 100 C${fields}\r\n\r\n`,
);
const AFTER = ['\r\nHTTP/1.1 2', '<!DOCTYPE ht', `${INTERIM}HTTP/2.0 200`, `${INTERIM}HTTP/1.1 099`];
test.each`
  fault                         | texts
  ${/does not begin with HTTP/} | ${[...NO_HTTP, ...AFTER]}
  ${/another protocol/}         | ${['HTTP/1.1 101 Switch']}
  ${/control character/}        | ${['HTTP/1.1 200 O\0K\r\n', 'HTTP/1.1 200 OK\nX', 'HTTP/1.1 103 \x7f\r\n']}
  ${/interim response is mal/}  | ${ODD_INTERIM}
  ${/longer than 16 KiB/}       | ${[`HTTP/1.1 200 ${'y'.repeat(16_384)}`]}
`('a response with an invalid start has a fault that matches $fault', ({ fault, texts }) => {
  expect(texts.filter((text: string) => !fault.test(skipInterimResponses(text).reason ?? ''))).toEqual([]);
});
