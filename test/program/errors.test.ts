import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Sleep, sleep } from '../../src/abort.ts';
import { head, sendAndEnd } from '../servers/answers.ts';
import { closedPort, type Script } from '../servers/scripted.ts';
import { ACCESSION, asking, jsonOf, type RunOptions } from './run.ts';

async function download(script: Script, more: string[] = [], runOptions: RunOptions = {}) {
  const { filings, names } = await asking(script);
  const args = ['download', ACCESSION, 'a.htm', '--retries', '0', ...more];
  const ended = await filings(args, runOptions.env, runOptions);
  expect(`${ended.stdout}`).toBe('');
  return { ...ended, names: await names() };
}

const sends =
  (status: number, type: string | undefined, body: string, fields = {}): Script =>
  (socket) => {
    const length = { 'Content-Length': Buffer.byteLength(body) };
    socket.write(head(status, { ...(type && { 'Content-Type': type }), ...length, ...fields }) + body);
  };

// Error bodies as services send them (docs/service.md). test/unit/problem.test.ts covers their parsing.
const VALIDATION = {
  type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
  title: 'One or more validation errors occurred.',
  status: 400,
  traceId: '00-abc-01',
  errors: { accession_no: ['is bad', 'is short'], '$.date': ['no date'], '$.Ages[1]': ['too old'], '': ['empty name'] },
};
const NOT_FOUND = '{"title":"Item not found","status":200,"detail":"no such file"}';
const CHUNKED = `${head(404, { 'Transfer-Encoding': 'chunked' })}3f\r\n${NOT_FOUND}\r\n0\r\n\r\n`;

describe('an error body', () => {
  test.each<[exit: number, what: string, words: string[], script: Script]>([
    [5, 'no type, chunked', ['404', 'Item not found', 'no such file'], (socket) => void socket.write(CHUNKED)],
    [
      6,
      '400 with errors and a traceId',
      ['400', 'accession_no', 'is bad', 'is short', '$.date', 'too old', 'empty name', '00-abc-01'],
      sends(400, 'application/problem+json', JSON.stringify(VALIDATION)),
    ],
    [4, 'a challenge', ['401', 'Bearer realm'], sends(401, undefined, '', { 'WWW-Authenticate': 'Bearer realm="x"' })],
    [5, 'cut', ['404'], (socket) => sendAndEnd(socket, `${head(404, { 'Content-Length': 100 })}{"title":"x"`, 'FIN')],
  ])('causes exit status %i and a message with its text: %s, %j', async (exit, _, words, script) => {
    const { exitCode, stderr, names } = await download(script);
    expect([exitCode, names], stderr).toEqual([exit, []]);
    expect(stderr).toMatch(/^filings: a\.htm of 0001234567-24-000001: /);
    expect(stderr).toMatch(/\n +hint: /);
    for (const word of words) expect(stderr).toContain(word);
    expect(stderr.length).toBeLessThan(5000);
  });

  const compressed =
    (coding: string, body: Buffer, length = body.length): Script =>
    (socket) => {
      socket.write(head(404, { 'Content-Encoding': coding, 'Content-Length': length }));
      if (body.length < length) socket.end(body);
      else socket.write(body);
    };

  test.each<[coding: string, compress: (text: string) => Buffer]>([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('that arrives compressed is decoded: %s', async (coding, compress) => {
    const { exitCode, stderr } = await download(compressed(coding, compress(NOT_FOUND)));
    expect(exitCode).toBe(5);
    expect(stderr).toContain('404 Not Found: Item not found\n  no such file\n');
  });

  test.each<[what: string, script: Script]>([
    ['not what its coding says', compressed('gzip', Buffer.from(NOT_FOUND))],
    ['in an unknown coding', compressed('zstd', Buffer.from('\x28\xb5\x2f\xfd', 'latin1'))],
    ['cut', compressed('gzip', gzipSync('x'.repeat(1e6)).subarray(0, 20), 900)],
  ])('that cannot be decoded leaves the status, and the readable beginning of the text: %s', async (_, script) => {
    const { exitCode, stderr } = await download(script);
    expect([exitCode, stderr.split('\n')[0]?.replace(/: [x…]+$/, '')]).toEqual([
      5,
      'filings: a.htm of 0001234567-24-000001: 404 Not Found',
    ]);
  });

  test('that decodes to a gigabyte is read up to 1 MiB', async () => {
    const [piece, pieces] = [gzipSync(Buffer.alloc(1 << 24, 'x')), 60];
    const before = process.memoryUsage().rss;
    const { exitCode, stderr } = await download(compressed('gzip', Buffer.concat(Array(pieces).fill(piece))));
    expect(exitCode).toBe(5);
    expect(stderr.length).toBeLessThan(1000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });

  test('without an end is read up to 1 MiB', async () => {
    const endlessly: Script = (socket) => {
      socket.write(head(500, { 'Transfer-Encoding': 'chunked' }));
      const more = () =>
        !socket.destroyed && socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`, () => setImmediate(more));
      more();
    };
    // The limit of 5 s for an error body never passes.
    const endless: Sleep = (ms, signal) => sleep(ms === 5000 ? 1e9 : ms, signal);
    const { exitCode, stderr } = await download(endlessly, [], { sleep: endless });
    expect(exitCode).toBe(7);
    expect(stderr.length).toBeLessThan(5000);
  });

  test('that arrives slowly is given up after 5 s', async () => {
    const begun = `${head(404, { 'Content-Length': 100_000 })}{"title":`;
    let waited = false;
    const quick: Sleep = (ms, signal) => {
      waited ||= ms === 5000;
      return sleep(ms === 5000 ? 50 : ms, signal);
    };
    const { exitCode } = await download((socket) => void socket.write(begun), [], { sleep: quick });
    expect([exitCode, waited]).toEqual([5, true]);
  });
});

test('--error-format json prints only JSON lines to stderr, the error last', async () => {
  const body = { title: 'bad', detail: 'worse', errors: { a: ['b'] }, traceId: 't' };
  const script = sends(400, 'application/problem+json', JSON.stringify(body));
  const { stderr } = await download(script, ['--error-format', 'json', '-v']);
  const texts = { message: expect.stringContaining('400'), hint: expect.any(String) };
  const error = { code: 'rejected', exit_code: 6, ...texts, problem: { ...body, status: 400 } };
  expect(jsonOf(stderr).at(-1)).toMatchObject({ error });
});

test.each<[string, () => Promise<string> | string, RegExp]>([
  ['a refused connection', async () => `http://127.0.0.1:${await closedPort()}`, /connection refused/],
  ['a name that does not resolve', () => 'https://does-not-exist.invalid', /does not resolve/],
  ['a connection that is closed at once', () => '', /closed before a response/],
])('exits with 7, one line and a hint for %s', async (_, where, words) => {
  // A resolver may take long over a name that does not exist.
  const patient = ['--connect-timeout', '50s', '--idle-timeout', '50s'];
  const url = await where();
  const env = url === '' ? {} : { FILINGS_BASE_URL: url };
  const { exitCode, stderr } = await download((socket) => void socket.destroy(), patient, { env });
  expect(exitCode, stderr).toBe(7);
  expect(stderr).toMatch(words);
  expect(stderr).toMatch(/^.+\n +hint: .+\n$/);
  expect(stderr).not.toMatch(/\bat .*:\d+:\d+/);
});

test('a body that always breaks at the same byte stops after a bounded number of requests', async () => {
  // Without a validator each try starts at byte 0, and receives more than resets the count of retries.
  const cut = head(200, { 'Content-Length': 2_500_000 }) + 'x'.repeat(1_500_000);
  let tries = 0;
  const count: Script = (socket) => {
    tries += 1;
    socket.end(cut);
  };
  const { exitCode, stderr } = await download(count, ['--retries', '1']);
  expect(exitCode, stderr).toBe(9);
  expect(tries).toBeLessThanOrEqual(3);
});
