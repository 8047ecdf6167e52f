// What a command prints about an error response, and how much of it is decoded. Its text is in unit/problem and
// unit/messages, that of a failed connection in unit/failures. Bodies without an end are in dropped-answers.
import { setImmediate } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Sleep, sleep } from '../../src/abort.ts';
import { head } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { ACCESSION, asking, type RunOptions } from './run.ts';

/** Downloads a file in vain. */
async function failed(script: Script, args: string[] = [], { env, ...runOptions }: RunOptions = {}) {
  const { filings, names } = await asking(script);
  const ended = await filings(['download', ACCESSION, 'a.htm', '--retries', '0', ...args], env, runOptions);
  expect([`${ended.stdout}`, await names()]).toEqual(['', []]);
  return ended;
}

const answer = (body: Buffer | string, fields = {}, status = 404) =>
  Buffer.concat([Buffer.from(head(status, { 'Content-Length': body.length, ...fields })), Buffer.from(body)]);

const PROBLEM = '{"title":"Item not found","detail":"no such file"}';
const SHOWN = / of 0001234567-24-000001: 404 Not Found: Item not found\n {2}no such file\n {2}hint: /;
const ONLY_STATUS = / of 0001234567-24-000001: 404 Not Found\n {2}hint: /;
const BEGINNING = / of 0001234567-24-000001: 404 Not Found: x+…\n {2}hint: /;

describe('an error body', () => {
  test.each`
    what                        | coding                 | body                                          | length       | shows
    ${'as it is'}               | ${''}                  | ${PROBLEM}                                    | ${undefined} | ${SHOWN}
    ${'in gzip'}                | ${'gzip'}              | ${gzipSync(PROBLEM)}                          | ${undefined} | ${SHOWN}
    ${'in gzip by an old name'} | ${'X-GZIP'}            | ${gzipSync(PROBLEM)}                          | ${undefined} | ${SHOWN}
    ${'in deflate'}             | ${'deflate'}           | ${deflateSync(PROBLEM)}                       | ${undefined} | ${SHOWN}
    ${'in raw deflate'}         | ${'deflate'}           | ${deflateRawSync(PROBLEM)}                    | ${undefined} | ${SHOWN}
    ${'in br'}                  | ${'br'}                | ${brotliCompressSync(PROBLEM)}                | ${undefined} | ${SHOWN}
    ${'in another coding'}      | ${'gzip'}              | ${PROBLEM}                                    | ${undefined} | ${ONLY_STATUS}
    ${'in two codings'}         | ${'aws-chunked, gzip'} | ${gzipSync(PROBLEM)}                          | ${undefined} | ${SHOWN}
    ${'in gzip twice'}          | ${'gzip, gzip'}        | ${gzipSync(gzipSync(PROBLEM))}                | ${undefined} | ${SHOWN}
    ${'in no coding'}           | ${'UTF-8'}             | ${PROBLEM}                                    | ${undefined} | ${SHOWN}
    ${'in an unknown coding'}   | ${'zstd'}              | ${'\x28\xb5\x2f\xfd'}                         | ${undefined} | ${ONLY_STATUS}
    ${'that is cut'}            | ${''}                  | ${'x'.repeat(1500)}                           | ${1900}      | ${BEGINNING}
    ${'in gzip that is cut'}    | ${'gzip'}              | ${gzipSync('x'.repeat(1e6)).subarray(0, 500)} | ${1900}      | ${BEGINNING}
  `('$what is shown as far as it can be read', async ({ coding, body, length, shows }) => {
    const fields = { 'Content-Encoding': coding, ...(length && { 'Content-Length': length }) };
    const { exitCode, stderr } = await failed((socket) => void socket.end(answer(body, fields)));
    expect([exitCode, stderr]).toEqual([5, expect.stringMatching(shows)]);
  });

  test('that decodes to a gigabyte is not decoded to its end', async () => {
    const bomb = Buffer.concat(Array(60).fill(gzipSync(Buffer.alloc(1 << 24, 'x'))));
    const before = process.memoryUsage().rss;
    const { exitCode, stderr } = await failed(
      (socket) => void socket.write(answer(bomb, { 'Content-Encoding': 'gzip' })),
    );
    expect([exitCode, stderr]).toEqual([5, expect.stringMatching(ONLY_STATUS)]);
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });

  test('that arrives slowly is given up after 5 s, and does not delay the time of a retry', async () => {
    const waits: number[] = [];
    let ahead = 0;
    const passing: Sleep = (ms, signal) => {
      waits.push(ms);
      if (ms === 5000) ahead = 3_600_000;
      return sleep(ms === 5000 ? 50 : ms, signal);
    };
    const begun = answer('{"title":', { 'Content-Length': 100_000, 'Retry-After': 9000 }, 503);
    const own = { sleep: passing, ahead: () => ahead };
    const { exitCode, stderr } = await failed((socket) => void socket.write(begun), [], own);
    expect([exitCode, waits]).toEqual([7, expect.arrayContaining([5000])]);
    const [, at = ''] = /retry at: (\S+)/.exec(stderr) ?? [];
    expect(Date.parse(at)).toBeLessThanOrEqual(Date.now() + 9_000_000);
  });
});

test.each`
  body                              | shows
  ${''}                             | ${/401 Unauthorized; it asks for Bearer realm="x"\n +hint: .*now by --key-in authorization/}
  ${'{"title":"Unauthorized"}'}     | ${/401 Unauthorized; it asks for Bearer realm="x"\n +hint: /}
  ${'<title>Go away</title>'}       | ${/401 Unauthorized: Go away; it asks for Bearer realm="x"\n +hint: /}
  ${'{"detail":"No","title":"No"}'} | ${/401 Unauthorized: No; it asks for Bearer realm="x"\n +hint: /}
`('an error with the body $body says what the service asks for', async ({ body, shows }) => {
  const bytes = answer(body, { 'WWW-Authenticate': 'Bearer realm="x"' }, 401);
  const { exitCode, stderr } = await failed((socket) => void socket.write(bytes));
  expect([exitCode, stderr]).toEqual([4, expect.stringMatching(shows)]);
});

describe('Content-Encoding', () => {
  const coded = (coding: string) => answer('hello', { 'Content-Encoding': coding }, 200);
  const NONE = ['identity', 'none', 'binary', 'aws-chunked', 'utf-8', 'us-ascii', 'iso-8859-1', 'windows-1252'];
  test.each([...NONE, 'UTF-8', ' Identity , ', 'none, none', 'aws-chunked,', ''])(
    'of %j alone is ignored',
    async (coding) => {
      const { filings } = await asking((socket) => void socket.write(coded(coding)));
      const { exitCode, stdout } = await filings(['download', ACCESSION, 'a.htm', '-o', '-']);
      expect([exitCode, `${stdout}`]).toEqual([0, 'hello']);
    },
  );

  test.each(['gzip', 'br', 'zstd', 'x-gzip', 'compress', 'aws-chunked, gzip', 'utf-8, identity', 'utf8'])(
    'of %j is refused, and curl decodes it',
    async (coding) => {
      const { exitCode, stderr } = await failed((socket) => void socket.write(coded(coding)));
      expect([exitCode, stderr]).toEqual([9, expect.stringContaining(`not requested: ${coding}\n`)]);
      expect(stderr).toMatch(/hint: the service compresses it, .*curl --compressed decodes it\n/);
    },
  );
});

test('two lengths, and a length next to chunks, are named', async () => {
  for (const fields of ['Content-Length: 5\r\ncontent-length: 6', 'Content-Length: 5\r\nTransfer-Encoding: chunked']) {
    // The head may also arrive in pieces.
    for (const cut of [0, 30, 45]) {
      const bytes = `HTTP/1.1 200 OK\r\n${fields}\r\n\r\nhello`;
      const { exitCode, stderr } = await failed(async (socket) => {
        socket.write(bytes.slice(0, cut));
        // The program, which shares this process, reads the first piece alone.
        for (let turns = 0; turns < 20; turns += 1) await setImmediate();
        socket.write(bytes.slice(cut));
      });
      const named = fields.replace('\r\n', ', ').replace('content-l', 'Content-L');
      expect([exitCode, stderr]).toEqual([9, expect.stringContaining(`stated more than once (${named})\n`)]);
    }
  }
});
