import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ACCESSION, serviceAt, until, workplace } from '../cli/program.ts';
import { head } from '../servers/answers.ts';
import { certificatePath, tlsWith } from '../servers/certificates.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';

// A stopped process (SIGSTOP, Ctrl-Z, a frozen container) did not wait, so that its expired timers prove nothing.
const FILE = content(3_000_000);
const PIECE = 20_000;
const GET = ['download', ACCESSION, 'a.htm', '--retries', '0'];

test.each([
  ['to disk', []],
  ['into a pipe', ['-o', '-']],
])('continues a download after a SIGSTOP that is longer than the idle timeout: %s', async (_, more) => {
  let sent = 0;
  let hurry = false;
  // The body is sent in pieces without a long pause, and all at once when `hurry` is true.
  const server = await scripted(async (socket) => {
    socket.write(head(200, { 'Content-Length': FILE.length }));
    for (; sent < FILE.length && !socket.destroyed; sent += PIECE) {
      socket.write(FILE.subarray(sent, sent + PIECE));
      if (!hurry) await sleep(50);
    }
  });
  const place = await workplace();
  const running = place.start([...GET, '--idle-timeout', '1s', ...more], serviceAt(server.url));
  await until(() => sent > 5 * PIECE);
  running.kill('SIGSTOP');
  await sleep(3000);
  hurry = true;
  running.kill('SIGCONT');
  const { exitCode, stderr, stdout } = await running.ended;
  expect(exitCode, stderr).toBe(0);
  const got = more.length > 0 ? stdout : await place.read('a.htm');
  expect(got.equals(FILE)).toBe(true);
  expect(server.requests).toHaveLength(1);
});

test('connects after a SIGSTOP that is longer than the connect timeout', async () => {
  const answer = `${head(200, { 'Content-Length': 5 })}hello`;
  const { port } = await scripted((socket) => void socket.write(answer), tlsWith('own-name'));
  const waiting: Socket[] = [];
  const gate = createServer((near) => waiting.push(near.on('error', () => {})));
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void gate.close());
  const url = `https://127.0.0.1:${(gate.address() as AddressInfo).port}`;
  const env = { ...serviceAt(url), NODE_EXTRA_CA_CERTS: certificatePath('own-name') };
  const running = (await workplace()).start([...GET, '--connect-timeout', '4s'], env);
  await until(() => waiting.length > 0);
  running.kill('SIGSTOP');
  await sleep(6000);
  for (const near of waiting) near.pipe(connect(port, '127.0.0.1').on('error', () => {})).pipe(near);
  running.kill('SIGCONT');
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(0);
});
