// A service that sends an error with a 200. Which bodies are errors is in unit/error-page.
import { expect, test } from 'vitest';
import { type Fields, framed } from '../servers/answers.ts';
import { ACCESSION, asking, jsonOf } from './run.ts';

const PAGE = `<!doctype html>\n<title>Please log in</title>${'x'.repeat(100_000)}`;
const html = { 'Content-Type': 'text/html; charset=utf-8' };
const problem = { 'Content-Type': 'application/problem+json' };
const json = { 'Content-Type': 'application/json' };

test.each`
  what                 | name        | fields     | body                              | says
  ${'a login page'}    | ${'a.pdf'}  | ${html}    | ${PAGE}                           | ${/a\.pdf of .*: 200 OK, .*: Please log in\n/}
  ${'problem details'} | ${'a.json'} | ${problem} | ${'{"title":"No","detail":"y"}'}  | ${/: No\n {2}y\n/}
  ${'a message'}       | ${'a.htm'}  | ${json}    | ${'{"message":"Quota exceeded"}'} | ${/: Quota exceeded\n/}
`('$what is an error of the service, no file, and not retried', async ({ name, fields, body, says }) => {
  for (const framing of ['length', 'chunked'] as const) {
    for (const more of [[], ['-o', '-'], ['-d', 'new', '--layout', '{accession_no}/{file_name}']]) {
      const { bytes } = framed(Buffer.from(body), framing, fields);
      const { filings, names, requests } = await asking((socket) => {
        // The first bytes come one by one.
        for (const byte of bytes.subarray(0, 300)) socket.write(Buffer.from([byte]));
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

test.each`
  what                                        | name       | fields  | body
  ${'HTML'}                                   | ${'a.htm'} | ${html} | ${PAGE}
  ${'something else in 70 kB of white space'} | ${'a.xml'} | ${html} | ${`${' '.repeat(70_000)}<x/>`}
`('a file of $what is complete', async ({ name, fields, body }: { name: string; fields: Fields; body: string }) => {
  const { bytes } = framed(Buffer.from(body), 'chunked', fields);
  const { filings } = await asking((socket) => void socket.write(bytes));
  const { exitCode, stdout } = await filings(['download', ACCESSION, name, '-o', '-']);
  expect([exitCode, `${stdout}`]).toEqual([0, body]);
});

test('a login page that is cut is an error of the service, too', async () => {
  const { bytes } = framed(Buffer.from(PAGE), 'length', html);
  const { filings, requests } = await asking((socket) => void socket.end(bytes.subarray(0, 200)));
  const { exitCode, stderr } = await filings(['download', ACCESSION, 'a.pdf']);
  expect([exitCode, requests.length], stderr).toEqual([9, 1]);
});

test('an empty file is saved with a warning, even with -q', async () => {
  const { filings, names, read } = await asking((socket) => void socket.write(framed(Buffer.alloc(0), 'length').bytes));
  const { exitCode, stderr } = await filings(['download', ACCESSION, 'a', '-q', '--report', 'r']);
  expect([exitCode, stderr]).toEqual([0, 'filings: warning: a: the file is empty\n']);
  expect([jsonOf(await read('r')), await names()]).toMatchObject([[{ result: 'downloaded', bytes: 0 }], ['a', 'r']]);
});
