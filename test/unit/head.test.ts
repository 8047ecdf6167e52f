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

test.each<[text: string, rest: string, final?: true]>([
  ['HTTP/1.1 200 OK\r\nX', 'HTTP/1.1 200 OK\r\nX', true],
  ['HTTP/1.1 200\r\n', 'HTTP/1.1 200\r\n', true],
  ['HTTP/1.0 999 O\tK\xe4\r\n', 'HTTP/1.0 999 O\tK\xe4\r\n', true],
  ['HTTP/1.1 20', 'HTTP/1.1 20'],
  ['HTTP/1.1 200 O\r', 'HTTP/1.1 200 O\r'],
  ['HTTP/1.1 103 E\r\n\r\nHTTP/1.1 2', 'HTTP/1.1 2'],
  ['HTTP/1.1 103 E\r\nX: y\r\n', 'HTTP/1.1 103 E\r\nX: y\r\n'],
  ['HTTP/1.1 103 E\r\n\r\nHTTP/1.1 102 E\r\nX: y\r\n\r\nHTTP/1.1 200 \r\n', 'HTTP/1.1 200 \r\n', true],
])('an answer that begins with %j', (text, rest, final) => {
  expect(readStart(text)).toEqual({ rest, ...(final && { final }) });
});

test.each([
  [/does not begin with HTTP/, 'HTTP/1.1 103 E\r\n\r\nHTTP/2.0 200'],
  [/does not begin with HTTP/, 'HTTP/1.1 103 E\r\n\r\nHTTP/1.1 099'],
  [/does not begin with HTTP/, 'HTTP/1.1 099'],
  [/does not begin with HTTP/, 'HTTP/1.1  20'],
  [/does not begin with HTTP/, 'HTTP/1.1 OK\r'],
  [/does not begin with HTTP/, 'HTTP/1.2 200'],
  [/does not begin with HTTP/, 'HTTP/2.0 200'],
  [/does not begin with HTTP/, 'HTTP/1.1\t200'],
  [/does not begin with HTTP/, 'HTTP/11 200 '],
  [/does not begin with HTTP/, 'http/1.1 200'],
  [/does not begin with HTTP/, 'RTSP/1.0 200'],
  [/does not begin with HTTP/, '\r\nHTTP/1.1 2'],
  [/does not begin with HTTP/, '<!DOCTYPE ht'],
  [/another protocol/, 'HTTP/1.1 101 Switch'],
  [/control character/, 'HTTP/1.1 200 O\0K\r\n'],
  [/control character/, 'HTTP/1.1 200 O\nK\r\n'],
  [/control character/, 'HTTP/1.1 103 \x7f\r\n'],
  [/does not end/, `HTTP/1.1 200 ${'y'.repeat(70_000)}`],
])('%s: %j', (fault, text) => {
  expect(readStart(text).fault).toMatch(fault);
});
