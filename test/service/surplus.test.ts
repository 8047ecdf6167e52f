import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { until } from '../cli/program.ts';
import { framed, head, sendFile } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { content, runAgainst } from './transfer-fixture.ts';

// Bytes behind an answer's end are nobody's: passed over as curl does, and never part of this file or the next.
const FILE = content(1000);
const SMUGGLED = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong';

async function against(script: Script) {
  const { server, run } = await runAgainst(script, { retries: 2 });
  const expectBoth = async () => {
    for (const name of ['a', 'b']) expect((await run.read(name)).equals(FILE)).toBe(true);
  };
  return { server, run, expectBoth };
}

describe.each(['close', 'keep-alive'])('on a connection to %s', (connection) => {
  test.each(['length', 'chunked'] as const)('behind %s, in the same read', async (framing) => {
    for (const surplus of ['x', '\r', '\r\n', '\r\n\r\nx', '\0', head(200, { 'Content-Length': 0 }), SMUGGLED]) {
      const { run, server, expectBoth } = await against((socket) => {
        const { bytes } = framed(FILE, framing, { Connection: connection });
        socket.write(Buffer.concat([bytes, Buffer.from(surplus)]));
      });
      for (const name of ['a', 'b']) expect((await run.save(name)).error, surplus).toBeUndefined();
      await expectBoth();
      await server.close();
    }
  });
});

test.each(['more', SMUGGLED])('in a later read, %j: the next file comes over another connection', async (late) => {
  let kept: Socket | undefined;
  const { server, run, expectBoth } = await against((socket, request) => {
    sendFile(socket, request, FILE, '"v1"');
    kept ??= socket;
  });
  expect((await run.save('a')).error).toBeUndefined();
  kept?.write(late);
  await until(() => kept?.destroyed === true);
  expect((await run.save('b')).error).toBeUndefined();
  await expectBoth();
  expect(server.connections()).toBe(2);
});
