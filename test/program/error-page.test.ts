import { expect, test } from 'vitest';
import { framed } from '../servers/answers.ts';
import { ACCESSION, asking, jsonOf } from './run.ts';

// A service that sends an error with a 200. Which bodies are errors is the table of unit/error-page.

const PAGE = `<!doctype html>\n<title>Please log in</title>${'x'.repeat(100_000)}`;
const html = { 'Content-Type': 'text/html; charset=utf-8' };
const problem = { 'Content-Type': 'application/problem+json' };
const json = { 'Content-Type': 'application/json' };

test.each<[what: string, name: string, fields: Record<string, string>, body: string, says: RegExp]>([
  ['a login page', 'a.pdf', html, PAGE, /a\.pdf of .*: 200 OK, but the body is an error: Please log in\n/],
  ['problem details', 'a.json', problem, '{"title":"No","detail":"why"}', /an error: No\n {2}why\n/],
  ['a message', 'a.htm', json, '{"message":"Quota exceeded"}', /an error: Quota exceeded\n/],
])('%s is shown like an error of the service, is no file and is not retried', async (_, name, fields, body, says) => {
  for (const framing of ['length', 'chunked'] as const) {
    for (const more of [[], ['-o', '-'], ['-d', 'new', '--layout', '{accession_no}/{file_name}']]) {
      const bytes = framed(Buffer.from(body), framing, fields).bytes;
      const { filings, names, requests } = await asking(async (socket) => {
        // The first bytes come one by one.
        for (const at of Array.from({ length: 300 }, (_, index) => index)) socket.write(bytes.subarray(at, at + 1));
        socket.write(bytes.subarray(300));
      });
      const { exitCode, stdout, stderr } = await filings(['download', ACCESSION, name, ...more]);
      expect([exitCode, stdout.length, requests.length], stderr).toEqual([9, 0, 1]);
      expect(stderr).toMatch(says);
      expect(stderr).toContain('hint: ');
      expect(await names()).toEqual(more[0] === '-d' ? ['new'] : []);
    }
  }
});

test.each([
  ['HTML', 'a.htm', html, PAGE],
  ['JSON', 'a.json', json, '{"error":"is what this file is about"}'],
  ['something else in 70 kB of white space', 'a.xml', html, `${' '.repeat(70_000)}<x/>`],
])('a file of %s is complete', async (_, name, fields, body) => {
  const bytes = framed(Buffer.from(body), 'chunked', fields).bytes;
  const { filings, read } = await asking((socket) => void socket.write(bytes));
  expect((await filings(['download', ACCESSION, name])).exitCode).toBe(0);
  expect((await read(name)).toString()).toBe(body);
  expect((await filings(['download', ACCESSION, name, '-o', '-'])).stdout.toString()).toBe(body);
});

test('an empty file is saved with a warning, even with -q', async () => {
  const { filings, names, read } = await asking((socket) => void socket.write(framed(Buffer.alloc(0), 'length').bytes));
  const { exitCode, stderr } = await filings(['download', ACCESSION, 'a', 'b', '-q', '--report', 'r']);
  expect([exitCode, stderr.split('\n').sort()]).toEqual([
    0,
    ['', 'filings: warning: a: the file is empty', 'filings: warning: b: the file is empty'],
  ]);
  expect([jsonOf(await read('r')).length, (await names()).sort()]).toEqual([3, ['a', 'b', 'r']]);
});
