import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { framed, head, sendAndEnd, sendFile } from '../servers/answers.ts';
import { type Certificate, tlsWith } from '../servers/certificates.ts';
import { listening, type Script } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, asking } from './run.ts';

const FILE = content(1_000_000);
const SHA256 = createHash('sha256').update(FILE).digest('hex');

const file: Script = (socket, request) => sendFile(socket, request, FILE, '"v1"');

/** A workplace with a service that speaks TLS. `download` writes a report. */
async function secure(script: Script, certificate: Certificate = 'own-name') {
  const place = await asking(script, tlsWith(certificate));
  return {
    ...place,
    names: async () => (await place.names()).filter((name) => name !== 'report'),
    download: (args: string[], url = place.url) =>
      place.filings(['download', ACCESSION, ...args, '--report', 'report'], { FILINGS_BASE_URL: url }),
  };
}

/** The URL of a listener in front of a server that speaks TLS, or in its place. */
const listeningAt = async (onConnection: (near: Socket) => void) =>
  `https://127.0.0.1:${await listening(onConnection)}`;

test('downloads several files over few connections, by address and by name', async () => {
  const { connections, download, read, url } = await secure(file);
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const host of ['127.0.0.1', 'localhost']) {
    const args = [...names, '-j', '2', '-d', host];
    const { exitCode, stderr } = await download(args, url.replace('127.0.0.1', host));
    expect(exitCode, stderr).toBe(0);
    for (const name of names) expect((await read(`${host}/${name}`)).equals(FILE)).toBe(true);
  }
  // Two jobs, and two origins.
  expect(connections()).toBe(4);
});

test('a certificate for another name is refused by each connection, even if Node is told not to check any', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  // Node warns of it once.
  using _warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  onTestFinished(() => void vi.unstubAllEnvs());
  const { download, requests } = await secure(file, 'other-name');
  expect([(await download(['a'])).exitCode, requests]).toEqual([7, []]);
});

test.each(['length', 'chunked'] as const)('a body (%s) that is cut below TLS exits with 9', async (framing) => {
  const { download, names, port } = await secure((socket) => void socket.write(framed(FILE, framing).bytes));
  const url = await listeningAt((near) => {
    const far = connect(port, '127.0.0.1');
    let relayed = 0;
    near.on('close', () => far.destroy()).pipe(far.on('error', () => {}));
    far.on('data', (data) => {
      relayed += data.length;
      if (relayed < 500_000) near.write(data);
      else if (!near.writableEnded) near.end(data.subarray(0, data.length - (relayed - 500_000)));
    });
  });
  const { exitCode, stderr } = await download(['a', '--retries', '0'], url);
  expect([exitCode, await names()], stderr).toEqual([9, []]);
});

const http = () => listeningAt((near) => void near.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
test.each`
  what                                 | certificate      | where        | words
  ${'an untrusted certificate'}        | ${'api-example'} | ${undefined} | ${/cannot verify .*\n +hint: set NODE_EXTRA_CA_CERTS/}
  ${'an expired certificate'}          | ${'expired'}     | ${undefined} | ${/certificate has expired\n +hint: .*this machine's clock/}
  ${'a server that speaks plain HTTP'} | ${'own-name'}    | ${http}      | ${/127\.0\.0\.1.*TLS.*\n +hint: /}
`('exits with 7 after one try, with a hint: $what', async ({ certificate, where, words }) => {
  const { download, names, requests } = await secure(file, certificate);
  const { exitCode, stderr } = await download(['a', ...(where ? ['--retries', '0'] : [])], await where?.());
  expect([exitCode, await names(), requests, stderr]).toEqual([7, [], [], expect.stringMatching(words)]);
});

// The end of such a body looks the same as a cut (RFC 9112 section 9.8).
describe('a body without a length over TLS', () => {
  const untilClose: Script = (socket) => sendAndEnd(socket, framed(FILE, 'until-close').bytes, 'FIN');

  test('is an error without a retry', async () => {
    const { download, names, requests } = await secure(untilClose);
    const { exitCode, stderr } = await download(['a']);
    expect([exitCode, await names(), requests.length], stderr).toEqual([9, [], 1]);
    expect(stderr).toMatch(/received 1\.0 MB over TLS without a length[\s\S]*--sha256/);
  });

  test('is an error in a listing, too', async () => {
    const { filings } = await secure((socket) => void socket.end(`${head(200)}["a.htm"]`));
    expect(await filings(['list', ACCESSION])).toMatchObject({ exitCode: 9, stdout: Buffer.from('') });
  });

  test('is accepted with --sha256 only if the hash matches, on disk and in a pipe', async () => {
    const { download, names, read } = await secure(untilClose);
    for (const args of [[], ['-o', '-']])
      expect((await download(['a', ...args, '--sha256', '0'.repeat(64)])).exitCode).toBe(9);
    expect(await names()).toEqual([]);
    const piped = await download(['a', '-o', '-', '--sha256', SHA256]);
    expect([piped.exitCode, piped.stdout.equals(FILE)], piped.stderr).toEqual([0, true]);
    expect((await download(['a', '--sha256', SHA256])).exitCode).toBe(0);
    expect((await read('a')).equals(FILE)).toBe(true);
  });

  test('is accepted with --sha256 if it is empty', async () => {
    const { download } = await secure((socket) => void socket.end(head(200)));
    expect((await download(['a', '--sha256', createHash('sha256').digest('hex')])).exitCode).toBe(0);
  });
});
