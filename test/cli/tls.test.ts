import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FRAMINGS, framed, sendAndEnd, sendFile } from '../servers/answers.ts';
import { type Certificate, certificatePath, tlsWith } from '../servers/certificates.ts';
import { type Script, type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './program.ts';

const FILE = content(2_500_000);
const TRUSTED = { NODE_EXTRA_CA_CERTS: certificatePath('own-name') };

async function secure(script: Script, certificate: Certificate = 'own-name') {
  const server = await startScripted(script, tlsWith(certificate));
  onTestFinished(() => server.close());
  return server;
}

async function download(url: string, env: Record<string, string> = {}, more: string[] = []) {
  const place = await workplace();
  const ended = await place.filings(['download', ACCESSION, 'a.htm', ...more], { ...serviceAt(url), ...env });
  return { ...ended, place, names: await place.names() };
}

/** A relay that ends the connection below TLS behind 1,000,000 bytes, as anybody on the way can. */
async function cutBelow({ port }: ScriptedServer): Promise<string> {
  const relay = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    let relayed = 0;
    near.on('error', () => {}).on('close', () => far.destroy());
    near.pipe(far.on('error', () => {}));
    far.on('data', (data) => {
      relayed += data.length;
      if (relayed < 1_000_000) near.write(data);
      else if (!near.writableEnded) near.end(data.subarray(0, data.length - (relayed - 1_000_000)));
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void relay.close());
  return `https://127.0.0.1:${(relay.address() as AddressInfo).port}`;
}

const file: Script = (socket, request) => sendFile(socket, request, FILE, '"v1"');

describe('a trusted server', () => {
  test('by address and by name', async () => {
    const server = await secure(file);
    for (const url of [server.url, server.url.replace('127.0.0.1', 'localhost')]) {
      const { exitCode, stderr, place } = await download(url, TRUSTED);
      expect(exitCode, stderr).toBe(0);
      expect((await place.read('a.htm')).equals(FILE)).toBe(true);
    }
  });

  test.each(FRAMINGS)('%s, behind a slow reader', async (framing) => {
    const server = await secure((socket) => sendAndEnd(socket, framed(FILE, framing).bytes, 'FIN'));
    const place = await workplace();
    const line = `set -o pipefail; $FILINGS download ${ACCESSION} a.htm -o - | (sleep 0.3; cat)`;
    const { exitCode, stdout, stderr } = await place.shell(line, { ...serviceAt(server.url), ...TRUSTED });
    expect([exitCode, stdout.equals(FILE)], stderr).toEqual([framing === 'until-close' ? 9 : 0, true]);
  });

  test.each(['length', 'chunked'] as const)('%s, cut in the middle: exit 9, no file', async (framing) => {
    const server = await secure((socket) => void socket.write(framed(FILE, framing).bytes));
    const { exitCode, stderr, names } = await download(await cutBelow(server), TRUSTED, ['--retries', '0']);
    expect([exitCode, names], stderr).toEqual([9, []]);
  });

  test('several files over its connections', async () => {
    const server = await secure(file);
    const place = await workplace();
    const args = ['download', ACCESSION, 'a', 'b', 'c', 'd', 'e', '-j', '2'];
    const { exitCode, stderr } = await place.filings(args, { ...serviceAt(server.url), ...TRUSTED });
    expect(exitCode, stderr).toBe(0);
    for (const name of ['a', 'b', 'c', 'd', 'e']) expect((await place.read(name)).equals(FILE)).toBe(true);
    expect(server.connections()).toBeLessThanOrEqual(2);
  });
});

describe('exit 7 at the first try, one plain line and a hint', () => {
  test.each<[string, Certificate, Record<string, string>, RegExp]>([
    ['an untrusted certificate', 'own-name', {}, /not from a trusted authority/],
    [
      'an untrusted one, checks switched off',
      'own-name',
      { NODE_TLS_REJECT_UNAUTHORIZED: '0' },
      /not from a trusted authority/,
    ],
    ['for another name', 'other-name', { NODE_EXTRA_CA_CERTS: certificatePath('other-name') }, /another name/],
    ['an expired one', 'expired', { NODE_EXTRA_CA_CERTS: certificatePath('expired') }, /expired/],
  ])('%s', async (_, certificate, env, words) => {
    const server = await secure(file, certificate);
    const { exitCode, stderr, names } = await download(server.url, env);
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(words);
    expect(stderr.trimEnd().split('\n')).toHaveLength(2);
    expect(stderr).toMatch(/\n +hint: /);
    expect(names).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  test('TLS to a server that speaks plain HTTP', async () => {
    const plain = createServer((socket) => void socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void plain.close());
    const { port } = plain.address() as { port: number };
    const { exitCode, stderr } = await download(`https://127.0.0.1:${port}`, {}, ['--retries', '0']);
    expect(exitCode, stderr).toBe(7);
    expect(stderr).toMatch(/TLS/);
  });
});
