import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { until } from '../cli/program.ts';
import { framed, head, sendFile } from '../servers/answers.ts';
import { content, type Run, runAgainst } from './transfer-fixture.ts';

// Bytes after the end of a response belong to no file. They are ignored, as in curl, and never become part of this file
// or the next.
const FILE = content(1000);
const SMUGGLED = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong';

async function expectFile(run: Run, name: string): Promise<void> {
  expect((await run.save(name)).error).toBeUndefined();
  expect((await run.read(name)).equals(FILE)).toBe(true);
}

describe.each(['close', 'keep-alive'])('on a connection to %s', (connection) => {
  test.each(['length', 'chunked'] as const)('bytes after a %s body in the same read are ignored', async (framing) => {
    for (const surplus of ['x', '\r', '\r\n', '\r\n\r\nx', '\0', head(200, { 'Content-Length': 0 }), SMUGGLED]) {
      const { run } = await runAgainst((socket) => {
        const { bytes } = framed(FILE, framing, { Connection: connection });
        socket.write(Buffer.concat([bytes, Buffer.from(surplus)]));
      });
      for (const name of ['a', 'b']) await expectFile(run, name);
    }
  });
});

test.each(['more', SMUGGLED])('bytes in a later read, %j, make the next file use another connection', async (late) => {
  let firstSocket: Socket | undefined;
  const { server, run } = await runAgainst((socket, request) => {
    sendFile(socket, request, FILE, '"v1"');
    firstSocket ??= socket;
  });
  await expectFile(run, 'a');
  firstSocket?.write(late);
  await until(() => firstSocket?.destroyed === true);
  await expectFile(run, 'b');
  expect(server.connections()).toBe(2);
});
