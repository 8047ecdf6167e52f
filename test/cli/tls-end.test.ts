import { createHash } from 'node:crypto';
import type { SecureVersion } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { framed, head, rangeStart, sendAndEnd } from '../servers/answers.ts';
import { relayBelow } from '../servers/below-tls.ts';
import { certificatePath, tlsWith } from '../servers/certificates.ts';
import { startProxy } from '../servers/proxy.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, proving, serviceAt, workplace } from './program.ts';

// A body without a length, over TLS: only the closure alert tells its end from a cut (RFC 9112 section 9.8).
const FILE = content(1_000_000);
const SHA256 = createHash('sha256').update(FILE).digest('hex');
const TRUSTED = { NODE_EXTRA_CA_CERTS: certificatePath('own-name') };
const VERSIONS: readonly SecureVersion[] = ['TLSv1.3', 'TLSv1.2'];

/** What the relay does to the end of each connection. */
const WHOLE = { swallows: false };
const BARE_FIN = { swallows: true };
const CUT_RECORD = { swallows: true, cuts: 10 };

/** Of what differs in little, `npm test` runs the first alone. */
const some = <T>(rows: readonly T[]): readonly T[] => (proving ? rows : rows.slice(0, 1));

const untilClose: Script = (socket) => sendAndEnd(socket, framed(FILE, 'until-close').bytes, 'FIN');

async function through(meddle: { swallows: boolean; cuts?: number }, script = untilClose, version?: SecureVersion) {
  const versions = version ? { minVersion: version, maxVersion: version } : {};
  const server = await startScripted(script, { ...tlsWith('own-name'), ...versions });
  const relay = await relayBelow(server.port, meddle);
  onTestFinished(() => {
    relay.close();
    return server.close();
  });
  return { server, relay, url: `https://127.0.0.1:${relay.port}` };
}

async function download(url: string, args: readonly string[], env: Record<string, string> = {}) {
  const place = await workplace();
  const all = ['download', ACCESSION, '--report', 'report', '--retries', '0', ...args];
  const ended = await place.filings(all, { ...serviceAt(url), ...TRUSTED, ...env });
  const report = `${await place.read('report')}`.trimEnd().split('\n');
  const names = (await place.names()).filter((name) => name !== 'report');
  return { ...ended, place, names, report: report.map((line) => JSON.parse(line)) };
}

describe.each(VERSIONS)('%s', (version) => {
  test('ended by a closure alert: the file, at the first attempt, its length not verified', async () => {
    const { url, server } = await through(WHOLE, untilClose, version);
    const { exitCode, stderr, place, report } = await download(url, ['a.htm']);
    expect(exitCode, stderr).toBe(0);
    expect((await place.read('a.htm')).equals(FILE)).toBe(true);
    expect(report[0]).toMatchObject({ result: 'downloaded', verified_length: false, attempts: 1 });
    // Asked once where the end can't be seen, and at once again where it can.
    expect(server.requests).toHaveLength(2);
    expect(stderr).not.toMatch(/again|retr/i);
  });

  const cuts: [string, typeof CUT_RECORD | typeof BARE_FIN][] = [
    ['a bare FIN', BARE_FIN],
    ['a cut inside a record', CUT_RECORD],
  ];
  test.each(version === 'TLSv1.3' ? cuts : some(cuts))(
    'ended by %s: a truncation, exit 9, no file',
    async (_, meddle) => {
      const { url } = await through(meddle, untilClose, version);
      const { exitCode, stderr, names } = await download(url, ['a.htm']);
      expect([exitCode, names], stderr).toEqual([9, []]);
      expect(stderr).toMatch(/truncated: .* without the closure alert/);
    },
  );

  // In TLS 1.3 such a record looks from outside as the alert does.
  const lasts: [string, typeof WHOLE, number][] = [
    ['a bare FIN', BARE_FIN, 9],
    ['a closure alert', WHOLE, 0],
  ];
  test.each(version === 'TLSv1.3' ? lasts : some(lasts))(
    'a last record of two bytes, then %s',
    async (_, meddle, status) => {
      const script: Script = (socket) => {
        socket.write(framed(FILE, 'until-close').bytes, () => socket.end('ab'));
      };
      const { url } = await through(meddle, script, version);
      const { exitCode, stderr, report } = await download(url, ['a.htm']);
      expect(exitCode, stderr).toBe(status);
      expect(report[0].bytes).toBe(status === 0 ? FILE.length + 2 : 0);
    },
  );
});

describe('--sha256 proves what the connection does not', () => {
  test.each<[string, string[]]>([
    ['to disk', ['a.htm']],
    ['into a pipe', ['a.htm', '-o', '-']],
    ['through the spool', ['a.htm', '-o', '-', '--spool']],
  ])('%s', async (_, args) => {
    const { url } = await through(BARE_FIN);
    const { exitCode, stderr, stdout, place } = await download(url, [...args, '--sha256', SHA256]);
    expect(exitCode, stderr).toBe(0);
    const got = args.includes('-o') ? stdout : await place.read('a.htm');
    expect(got.equals(FILE)).toBe(true);
  });

  test.each<[string, string[]]>([
    ['to disk', ['a.htm']],
    ['into a pipe', ['a.htm', '-o', '-']],
    ['through the spool', ['a.htm', '-o', '-', '--spool']],
  ])('and refuses what it does not prove: %s', async (_, args) => {
    const { url } = await through(CUT_RECORD);
    const { exitCode, stderr, stdout, names } = await download(url, [...args, '--sha256', SHA256]);
    expect([exitCode, names], stderr).toEqual([9, []]);
    expect(stderr).toMatch(/truncated/);
    if (args.includes('--spool')) expect(stdout.length).toBe(0);
  });

  test('surplus bytes too', async () => {
    const server = await startScripted((socket) => {
      socket.write(Buffer.concat([framed(FILE.subarray(0, 5000), 'length').bytes, Buffer.from('more')]));
    });
    onTestFinished(() => server.close());
    const short = createHash('sha256').update(FILE.subarray(0, 5000)).digest('hex');
    for (const args of some([['a.htm', '-o', '-', '--spool'], ['a.htm'], ['a.htm', '-o', '-']])) {
      expect((await download(server.url, args)).exitCode).toBe(9);
      const { exitCode, stderr, stdout, place } = await download(server.url, [...args, '--sha256', short]);
      expect(exitCode, stderr).toBe(0);
      expect((args.includes('-o') ? stdout : await place.read('a.htm')).length).toBe(5000);
      expect((await download(server.url, [...args, '--sha256', SHA256])).exitCode).toBe(9);
    }
  });

  test('and an empty file that tells no length', async () => {
    const { url } = await through(WHOLE, (socket) => void socket.end(head(200)));
    const empty = createHash('sha256').digest('hex');
    expect((await download(url, ['a.htm'])).exitCode).toBe(9);
    expect((await download(url, ['a.htm', '--sha256', empty])).exitCode).toBe(0);
  });
});

describe('what it costs', () => {
  test('one more request for all files of a run', async () => {
    const { url, server } = await through(WHOLE);
    const { exitCode, stderr, report } = await download(url, ['a', 'b', 'c', '-j', '1']);
    expect(exitCode, stderr).toBe(0);
    expect(report.filter(({ accession_no }) => accession_no).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
    expect(server.requests).toHaveLength(4);
  });

  test('nothing for a body with a length or in chunks', async () => {
    for (const framing of some(['chunked', 'length'] as const)) {
      const { url, server } = await through(BARE_FIN, (socket) => {
        sendAndEnd(socket, framed(FILE, framing).bytes, 'FIN');
      });
      const { exitCode, stderr, report } = await download(url, ['a.htm']);
      expect(exitCode, stderr).toBe(0);
      expect(report[0]).toMatchObject({ verified_length: true });
      expect(server.requests).toHaveLength(1);
    }
  });

  test('nothing for an error or for the rest of a file, whose range tells the length', async () => {
    const etag = { ETag: '"v1"' };
    const { url, server } = await through(BARE_FIN, (socket, request) => {
      const start = rangeStart(request);
      if (request.path.includes('missing')) sendAndEnd(socket, head(404, { Connection: 'close' }), 'FIN');
      else if (start === undefined) sendAndEnd(socket, framed(FILE, 'length', etag).bytes.subarray(0, 600_000), 'FIN');
      else {
        const range = { ...etag, 'Content-Range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` };
        sendAndEnd(socket, framed(FILE.subarray(start), 'until-close', range, 206).bytes, 'FIN');
      }
    });
    expect((await download(url, ['missing'])).exitCode).toBe(5);
    expect(server.requests).toHaveLength(1);
    const { exitCode, stderr, report } = await download(url, ['a.htm', '--retries', '1']);
    expect(exitCode, stderr).toBe(0);
    expect(report[0]).toMatchObject({ result: 'resumed', verified_length: true });
    expect(server.requests).toHaveLength(3);
  });
});

describe('through a proxy', () => {
  const HTTPS = 'https://service.example';
  const ENDS: [string, number, typeof WHOLE][] = [
    ['a bare FIN', 9, BARE_FIN],
    ['a closure alert', 0, WHOLE],
  ];

  test.each<[string, number, typeof WHOLE]>(ENDS)('a tunnel, ended by %s: exit %i', async (_, status, meddle) => {
    const { relay } = await through(meddle);
    const proxy = await startProxy(relay.port);
    onTestFinished(() => proxy.close());
    const { exitCode, stderr } = await download(HTTPS, ['a.htm'], { HTTPS_PROXY: proxy.url });
    expect(exitCode, stderr).toBe(status);
  });

  test.each(some(ENDS))('plain http through a proxy over TLS, ended by %s: exit %i', async (_, status, meddle) => {
    const { url } = await through(meddle);
    const env = { HTTP_PROXY: url, FILINGS_ALLOW_HTTP: '1' };
    const { exitCode, stderr } = await download('http://service.example', ['a.htm'], env);
    expect(exitCode, stderr).toBe(status);
  });

  test.each(some(ENDS))('a tunnel of a proxy over TLS, ended by %s: exit %i', async (_, status, meddle) => {
    const { relay } = await through(meddle);
    const { connect } = await import('node:net');
    const outer = await startScripted((socket) => {
      const upstream = connect(relay.port, '127.0.0.1').on('error', () => {});
      socket.removeAllListeners('data');
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    }, tlsWith('own-name'));
    onTestFinished(() => outer.close());
    const { exitCode, stderr } = await download(HTTPS, ['a.htm'], { HTTPS_PROXY: outer.url });
    expect(exitCode, stderr).toBe(status);
  });
});

// More than is gathered, so that the connection is held back while it ends.
test.each([WHOLE, BARE_FIN])('behind a slow reader: %j', async (meddle) => {
  const large = content(6_000_000);
  const { url } = await through(meddle, (socket) => sendAndEnd(socket, framed(large, 'until-close').bytes, 'FIN'));
  const place = await workplace();
  const line = `set -o pipefail; $FILINGS download ${ACCESSION} a.htm -o - --retries 0 | (sleep 0.5; cat)`;
  const { exitCode, stdout, stderr } = await place.shell(line, { ...serviceAt(url), ...TRUSTED });
  expect([exitCode, stdout.equals(large)], stderr).toEqual([meddle.swallows ? 9 : 0, true]);
});
