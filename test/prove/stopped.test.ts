import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { ACCESSION, serviceAt, test, until } from '../cli/program.ts';
import { head } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';

// A stopped process (SIGSTOP, Ctrl-Z, a frozen container) did not wait, so that its expired timers prove nothing.
const FILE = content(3_000_000);
const PIECE = 20_000;
const GET = ['download', ACCESSION, 'a.htm', '--retries', '0'];

test('continues a download after a SIGSTOP that is longer than the idle timeout', async ({ place }) => {
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
  const running = place.start([...GET, '--idle-timeout', '1s'], serviceAt(server.url));
  await until(() => sent > 5 * PIECE);
  running.kill('SIGSTOP');
  await sleep(3000);
  hurry = true;
  running.kill('SIGCONT');
  const { exitCode, stderr } = await running.ended;
  expect(exitCode, stderr).toBe(0);
  expect((await place.read('a.htm')).equals(FILE)).toBe(true);
  expect(server.requests).toHaveLength(1);
});
