import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { head } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, serviceAt, workplace } from './program.ts';

// Another user of the pool is in the same process here, because memory that is overwritten shows only where it is used.
const FILE = content(6_000_000);
const POOLED_MEMORY = join(import.meta.dirname, 'pooled-memory.cjs');

test('a pipe gets small chunks whole, and the memory that other code of the process uses stays as it is', async () => {
  const server = await scripted(async (socket) => {
    const start = head(200, { 'Transfer-Encoding': 'chunked' });
    // The program joins a status line that comes in two reads with the chunks behind it, in pooled memory.
    socket.write(start.slice(0, 10));
    await sleep(100);
    socket.write(start.slice(10) + chunksOf(FILE.subarray(0, 6000)), 'latin1');
    for (let at = 6000; at < FILE.length; at += 6000) {
      const text = chunksOf(FILE.subarray(at, at + 6000));
      if (!socket.write(text, 'latin1')) await once(socket, 'drain');
      else await setImmediate();
    }
    socket.write('0\r\n\r\n');
  });
  const place = await workplace();
  const script = `set -o pipefail; exec $FILINGS download ${ACCESSION} a -o - | cat`;
  const env = { ...serviceAt(server.url), NODE_OPTIONS: `--require "${POOLED_MEMORY}"` };
  const { exitCode, stdout, stderr } = await place.shell(script, env);
  expect([exitCode, stdout.equals(FILE)], stderr).toEqual([0, true]);
});

/** Returns bytes as chunks of 100 to 6,000 bytes. */
function chunksOf(bytes: Buffer): string {
  const size = 100 + (bytes[0] ?? 0) * 30;
  let text = '';
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = bytes.subarray(at, at + size);
    text += `${chunk.length.toString(16)}\r\n${chunk.toString('latin1')}\r\n`;
  }
  return text;
}
