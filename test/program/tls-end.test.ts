import { createHash } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { framed, head, rangeStart, sendAndEnd } from '../servers/answers.ts';
import { tlsWith } from '../servers/certificates.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

// A body without a length, over TLS: nothing tells its end from a cut (RFC 9112 section 9.8).
const FILE = content(1_000_000);
const SHA256 = createHash('sha256').update(FILE).digest('hex');
const ETAG = { ETag: '"v1"' };

const untilClose: Script = (socket) => sendAndEnd(socket, framed(FILE, 'until-close').bytes, 'FIN');

async function download(script: Script, ...args: string[]) {
  const server = await startScripted(script, tlsWith('own-name'));
  onTestFinished(() => server.close());
  const place = await workplace();
  const all = ['download', ACCESSION, 'a.htm', '--report', 'report', ...args];
  const ended = await place.filings(all, serviceAt(server.url));
  const report = JSON.parse(`${await place.read('report')}`.split('\n', 1)[0] ?? '');
  const names = (await place.names()).filter((name) => name !== 'report');
  return { ...ended, place, names, report, requests: server.requests.length };
}

test('is refused, and not asked for again', async () => {
  const { exitCode, stderr, names, requests } = await download(untilClose);
  expect([exitCode, names, requests], stderr).toEqual([9, [], 1]);
  expect(stderr).toMatch(/1000000 bytes came over TLS without a length[\s\S]*--sha256/);
});

test('a listing, too', async () => {
  const server = await startScripted((socket) => void socket.end(`${head(200)}["a.htm"]`), tlsWith('own-name'));
  onTestFinished(() => server.close());
  const { exitCode, stdout } = await (await workplace()).filings(['list', ACCESSION], serviceAt(server.url));
  expect([exitCode, `${stdout}`]).toEqual([9, '']);
});

test.each<[string, string[]]>([
  ['to disk', []],
  ['into a pipe', ['-o', '-']],
  ['through the spool', ['-o', '-', '--spool']],
])('--sha256 proves it: %s', async (_, args) => {
  const { exitCode, stderr, stdout, place } = await download(untilClose, ...args, '--sha256', SHA256);
  expect(exitCode, stderr).toBe(0);
  expect((args.length > 0 ? stdout : await place.read('a.htm')).equals(FILE)).toBe(true);
  const wrong = await download(untilClose, ...args, '--sha256', '0'.repeat(64));
  expect([wrong.exitCode, wrong.names], wrong.stderr).toEqual([9, []]);
});

test('an empty one is proved, too', async () => {
  const empty = createHash('sha256').digest('hex');
  const { exitCode, stderr } = await download((socket) => void socket.end(head(200)), '--sha256', empty);
  expect(exitCode, stderr).toBe(0);
});

test('the total of a range proves the rest of a file', async () => {
  const { exitCode, stderr, report, requests } = await download((socket, request) => {
    const start = rangeStart(request);
    if (start === undefined) {
      sendAndEnd(socket, framed(FILE, 'length', ETAG).bytes.subarray(0, 600_000), 'FIN');
      return;
    }
    const range = { ...ETAG, 'Content-Range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` };
    sendAndEnd(socket, framed(FILE.subarray(start), 'until-close', range, 206).bytes, 'FIN');
  });
  expect(exitCode, stderr).toBe(0);
  expect(report).toMatchObject({ result: 'resumed', verified_length: true });
  expect(requests).toBe(2);
});
