import { createHash } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { framed, head, rangeStart, sendAndEnd, sendFile } from '../servers/answers.ts';
import { type Certificate, tlsWith } from '../servers/certificates.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

const FILE = content(1_000_000);
const SHA256 = createHash('sha256').update(FILE).digest('hex');
const ETAG = { ETag: '"v1"' };

const untilClose: Script = (socket) => sendAndEnd(socket, framed(FILE, 'until-close').bytes, 'FIN');

async function secure(script: Script, certificate: Certificate = 'own-name') {
  const server = await startScripted(script, tlsWith(certificate));
  onTestFinished(() => server.close());
  return server;
}

async function download(script: Script, ...args: string[]) {
  const server = await secure(script);
  const place = await workplace();
  const all = ['download', ACCESSION, 'a.htm', '--report', 'report', ...args];
  const ended = await place.filings(all, serviceAt(server.url));
  const report = JSON.parse(`${await place.read('report')}`.split('\n', 1)[0] ?? '');
  const names = (await place.names()).filter((name) => name !== 'report');
  return { ...ended, place, names, report, requests: server.requests.length };
}

/** The URL of a listener on the way to a server that speaks TLS, or in its place. */
async function listening(onConnection: (near: Socket) => void): Promise<string> {
  const server = createServer((near) => onConnection(near.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const file: Script = (socket, request) => sendFile(socket, request, FILE, '"v1"');

test('several files come over few connections, by address and by name', async () => {
  const server = await secure(file);
  for (const url of [server.url, server.url.replace('127.0.0.1', 'localhost')]) {
    const place = await workplace();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const { exitCode, stderr } = await place.filings(['download', ACCESSION, ...names, '-j', '2'], serviceAt(url));
    expect(exitCode, stderr).toBe(0);
    for (const name of names) expect((await place.read(name)).equals(FILE)).toBe(true);
  }
  expect(server.connections()).toBeLessThanOrEqual(4);
});

test.each(['length', 'chunked'] as const)('%s, cut below TLS, as anybody on the way can: exit 9', async (framing) => {
  const { port } = await secure((socket) => void socket.write(framed(FILE, framing).bytes));
  const url = await listening((near) => {
    const far = connect(port, '127.0.0.1');
    let relayed = 0;
    near.on('close', () => far.destroy()).pipe(far.on('error', () => {}));
    far.on('data', (data) => {
      relayed += data.length;
      if (relayed < 500_000) near.write(data);
      else if (!near.writableEnded) near.end(data.subarray(0, data.length - (relayed - 500_000)));
    });
  });
  const place = await workplace();
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a', '--retries', '0'], serviceAt(url));
  expect([exitCode, await place.names()], stderr).toEqual([9, []]);
});

describe('exit 7 at the first try, one plain line and a hint', () => {
  test.each<[string, Certificate, RegExp]>([
    ['an untrusted certificate', 'api-example', /not from a trusted authority/],
    ['an expired one', 'expired', /expired/],
  ])('%s', async (_, certificate, words) => {
    const server = await secure(file, certificate);
    const place = await workplace();
    const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a'], serviceAt(server.url));
    expect([exitCode, await place.names(), server.requests], stderr).toEqual([7, [], []]);
    expect(stderr).toMatch(words);
    expect(stderr).toMatch(/^.+\n +hint: .+\n$/);
  });

  test('a server that speaks plain HTTP', async () => {
    const url = await listening((near) => void near.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const { exitCode, stderr } = await (await workplace()).filings(
      ['download', ACCESSION, 'a', '--retries', '0'],
      serviceAt(url),
    );
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(/TLS/);
  });
});

// Nothing tells its end from a cut (RFC 9112 section 9.8).
describe('a body without a length', () => {
  test('is refused, and not asked for again', async () => {
    const { exitCode, stderr, names, requests } = await download(untilClose);
    expect([exitCode, names, requests], stderr).toEqual([9, [], 1]);
    expect(stderr).toMatch(/1000000 bytes came over TLS without a length[\s\S]*--sha256/);
  });

  test('a listing, too', async () => {
    const server = await secure((socket) => void socket.end(`${head(200)}["a.htm"]`));
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
});
