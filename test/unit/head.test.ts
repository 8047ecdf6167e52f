import { expect, test } from 'vitest';
import { type Framing, framingOf, type HeaderFields, readStart } from '../../src/http/head.ts';

test.each<[string, HeaderFields, Framing['kind']]>([
  ['a length', { 'content-length': '10' }, 'length'],
  ['a length of zero', { 'content-length': '0' }, 'length'],
  ['chunked', { 'transfer-encoding': 'chunked' }, 'chunked'],
  ['chunked in capitals', { 'transfer-encoding': 'Chunked' }, 'chunked'],
  ['chunked and a length', { 'transfer-encoding': 'chunked', 'content-length': '10' }, 'unsound'],
  ['neither', {}, 'until-close'],
  ['xchunked', { 'transfer-encoding': 'xchunked' }, 'unsound'],
  ['chunked;', { 'transfer-encoding': 'chunked;' }, 'unsound'],
  ['chunked, x', { 'transfer-encoding': 'chunked, x' }, 'unsound'],
  ['gzip, chunked', { 'transfer-encoding': 'gzip, chunked' }, 'unsound'],
  ['identity', { 'transfer-encoding': 'identity' }, 'unsound'],
  ['empty', { 'transfer-encoding': '' }, 'unsound'],
  ['two codings', { 'transfer-encoding': ['chunked', 'chunked'] }, 'unsound'],
  ['two lengths', { 'content-length': ['10', '10'] }, 'unsound'],
  ['lengths in a list', { 'content-length': '10, 10' }, 'unsound'],
  ['a negative length', { 'content-length': '-1' }, 'unsound'],
  ['a signed length', { 'content-length': '+1' }, 'unsound'],
  ['a hexadecimal length', { 'content-length': '0x10' }, 'unsound'],
  ['a fraction', { 'content-length': '1.0' }, 'unsound'],
  ['an empty length', { 'content-length': '' }, 'unsound'],
  ['a length beyond any file', { 'content-length': '9999999999999999' }, 'unsound'],
])('%s', (_, headers, kind) => {
  expect(framingOf(headers).kind).toBe(kind);
});

test('the length itself', () => {
  expect(framingOf({ 'content-length': '123456789012' })).toEqual({ kind: 'length', length: 123_456_789_012 });
});

test.each<[HeaderFields, string]>([
  [{ 'transfer-encoding': 'gzip' }, 'the transfer coding "gzip" is not known'],
  [{ 'transfer-encoding': 'chunked', 'content-length': '1' }, 'both a length and a transfer coding'],
  [{ 'content-length': 'ten' }, 'the length "ten" is not a number'],
  [{ 'content-length': '1 0' }, 'the length "1 0" is not a number'],
  [{ 'content-length': ' 10' }, 'the length " 10" is not a number'],
  [{ 'content-length': ['10'] }, 'the length "10" is not a number'],
])('%j is unsound: %s', (headers, why) => {
  expect(framingOf(headers)).toEqual({ kind: 'unsound', why });
});

test.each(['10 ', '10\t', '10 \t '])('blanks behind the length %j are not of it', (length) => {
  expect(framingOf({ 'content-length': length })).toEqual({ kind: 'length', length: 10 });
});

test.each<[string, ReturnType<typeof readStart>]>([
  ['HTTP/1.1 200', { final: true, rest: 'HTTP/1.1 200' }],
  ['HTTP/1.0 999 O', { final: true, rest: 'HTTP/1.0 999 O' }],
  ['HTTP/1.1 20', { rest: 'HTTP/1.1 20' }],
  ['HTTP/1.1 103 E\r\n\r\nHTTP/1.1 2', { rest: 'HTTP/1.1 2' }],
  ['HTTP/1.1 103 E\r\n', { rest: 'HTTP/1.1 103 E\r\n' }],
  ['HTTP/1.1 103 E\r\n\r\nHTTP/1.1 102 E\r\nX: y\r\n\r\nHTTP/1.1 200', { final: true, rest: 'HTTP/1.1 200' }],
])('an answer that begins with %j', (text, expected) => {
  expect(readStart(text)).toEqual(expected);
});

test.each([
  'HTTP/1.1 103 E\r\n\r\nHTTP/2.0 200',
  'HTTP/1.1 103 E\r\n\r\nHTTP/1.1 099',
  'HTTP/1.1 099',
  'HTTP/1.1  20',
  'HTTP/1.1 OK\r',
  'HTTP/1.1 101 Switch',
  'HTTP/1.2 200',
  'HTTP/2.0 200',
  'HTTP/1.1\t200',
  'HTTP/11 200 ',
  'http/1.1 200',
  'RTSP/1.0 200',
  '\r\nHTTP/1.1 2',
  '<!DOCTYPE ht',
])('no answer begins with %j', (text) => {
  expect(readStart(text).fault).toMatch(text.includes('101') ? /another protocol/ : /does not begin with HTTP/);
});
