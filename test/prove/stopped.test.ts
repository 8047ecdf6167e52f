import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ACCESSION, serviceAt, until, workplace } from '../cli/program.ts';
import { head } from '../servers/answers.ts';
import { certificatePath, tlsWith } from '../servers/certificates.ts';
import { startScripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';

// A process that was stopped (SIGSTOP, Ctrl-Z, a frozen container) has not waited meanwhile: its timers prove nothing.
const FILE = content(3_000_000);
const PIECE = 20_000;

/** Sends a file in pieces, so that it is never silent, until told to send the rest. */
async function dripping() {
  let sent = 0;
  let hurry = false;
  const server = await startScripted(async (socket) => {
    socket.write(head(200, { 'Content-Length': FILE.length }));
    for (; sent < FILE.length && !socket.destroyed; sent += PIECE) {
      socket.write(FILE.subarray(sent, sent + PIECE));
      if (!hurry) await sleep(50);
    }
  });
  onTestFinished(() => server.close());
  const finish = () => {
    hurry = true;
  };
  return { server, sent: () => sent, finish };
}

describe('stopped for longer than the idle time, it goes on', () => {
  test.each<[string, string[]]>([
    ['to disk', []],
    ['into a pipe', ['-o', '-']],
  ])('%s', async (_, more) => {
    const { server, sent, finish } = await dripping();
    const place = await workplace();
    const limits = ['--idle-timeout', '1s', '--retries', '0'];
    const running = place.start(['download', ACCESSION, 'a.htm', ...limits, ...more], serviceAt(server.url));
    await until(() => sent() > 5 * PIECE);
    running.kill('SIGSTOP');
    await sleep(3000);
    finish();
    running.kill('SIGCONT');
    const { exitCode, stderr, stdout } = await running.ended;
    expect(exitCode, stderr).toBe(0);
    const got = more.length > 0 ? stdout : await place.read('a.htm');
    expect(got.equals(FILE)).toBe(true);
    expect(server.requests).toHaveLength(1);
  });
});

test('stopped for longer than the connect timeout, it goes on', async () => {
  const server = await startScripted(
    (socket) => void socket.write(`${head(200, { 'Content-Length': 5 })}hello`),
    tlsWith('own-name'),
  );
  const waiting: Socket[] = [];
  const gate = createServer((near) => waiting.push(near.on('error', () => {})));
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    gate.close();
    return server.close();
  });
  const url = `https://127.0.0.1:${(gate.address() as AddressInfo).port}`;
  const place = await workplace();
  const limits = ['--connect-timeout', '4s', '--retries', '0'];
  const env = { ...serviceAt(url), NODE_EXTRA_CA_CERTS: certificatePath('own-name') };
  const running = place.start(['download', ACCESSION, 'a.htm', ...limits], env);
  await until(() => waiting.length > 0);
  running.kill('SIGSTOP');
  await sleep(6000);
  for (const near of waiting) near.pipe(connect(server.port, '127.0.0.1').on('error', () => {})).pipe(near);
  running.kill('SIGCONT');
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(0);
});
