import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../cli/program.ts';
import { framed, head, rangeStart, sendFile } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content, memoryWriter, startRun } from './transfer-fixture.ts';

// Bytes behind an answer's end: a length that is counted wrongly leaves some over, and would cut every file.
const FILES: readonly (readonly [string, Buffer])[] = [
  ['a small file', content(5)],
  ['a file that ends in line breaks', Buffer.from('text\r\n\r\n\r\n')],
  ['a file of several reads', content(200_000)],
  ['an empty file', Buffer.alloc(0)],
];
const SURPLUS = ['x', '\r', '\r\n\r\n', '\n\n', '\r\nx', '\0', ' ', head(200, { 'Content-Length': 0 })];
const CONNECTIONS = ['close', 'keep-alive'] as const;

async function against(script: Script, retries = 2) {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return { server, run: await startRun(server.url, { retries }) };
}

/** In one write, and so in one read of what ends the body. */
const inOne = (file: Buffer, framing: 'length' | 'chunked', connection: string, behind: string) =>
  Buffer.concat([framed(file, framing, { Connection: connection }).bytes, Buffer.from(behind)]);

describe.each(CONNECTIONS)('on a connection to %s', (connection) => {
  describe.each(['length', 'chunked'] as const)('%s', (framing) => {
    const files = FILES.filter(([, file]) => framing === 'length' || file.length > 0);

    test.each(files)('%s, and more: exit 9 at the first try, no file', async (_, file) => {
      for (const surplus of SURPLUS) {
        const { server, run } = await against((socket) => void socket.write(inOne(file, framing, connection, surplus)));
        const { error } = await run.save();
        expect(error, JSON.stringify(surplus)).toMatchObject({ exitStatus: 9, message: /more bytes came/ });
        expect(error?.hint).toMatch(/--sha256/);
        expect(await run.names()).toEqual([]);
        expect(server.requests).toHaveLength(1);
        await server.close();
      }
    });

    test.each(files)('%s, and a lone line break: passed over', async (_, file) => {
      for (const lineBreak of ['\n', '\r\n']) {
        const { server, run } = await against((socket) => {
          socket.write(inOne(file, framing, connection, lineBreak));
        });
        for (const name of ['a', 'b']) {
          expect((await run.save(name)).error).toBeUndefined();
          expect((await readFile(join(run.directory, name))).equals(file)).toBe(true);
        }
        expect(server.connections()).toBe(connection === 'close' ? 2 : 1);
        await server.close();
      }
    });
  });

  test('the rest of a file, and more: exit 9', async () => {
    const file = content(1_400_000);
    const { server, run } = await against((socket, request) => {
      const start = rangeStart(request);
      if (start === undefined) {
        socket.end(framed(file, 'length', { ETag: '"v1"' }).bytes.subarray(0, 1_200_000));
        return;
      }
      const fields = {
        Connection: connection,
        ETag: '"v1"',
        'Content-Length': file.length - start,
        'Content-Range': `bytes ${start}-${file.length - 1}/${file.length}`,
      };
      socket.write(Buffer.concat([Buffer.from(head(206, fields)), file.subarray(start), Buffer.from('more')]));
    });
    expect((await run.save()).error).toMatchObject({ exitStatus: 9, message: /more bytes came/ });
    expect(server.requests).toHaveLength(2);
    expect(await run.names()).toEqual([]);
  });
});

test.each(['length', 'chunked'] as const)(
  '%s, line breaks behind it and a reset at once: never a file',
  async (framing) => {
    const { run } = await against((socket) => {
      socket.write(inOne(content(5), framing, 'keep-alive', '\r\n\r\n'));
      socket.resetAndDestroy();
    }, 0);
    for (let nth = 0; nth < 40; nth += 1) expect((await run.save(`f${nth}`)).error).toBeDefined();
    expect(await run.names()).toEqual([]);
  },
);

test('an error’s text is read all the same', async () => {
  const body = '{"title":"Gone fishing"}';
  const { run } = await against((socket) => {
    socket.write(
      `${head(404, { 'Content-Type': 'application/problem+json', 'Content-Length': body.length })}${body}xyz`,
    );
  });
  expect((await run.save()).error).toMatchObject({ exitStatus: 5, problem: { title: 'Gone fishing' } });
});

// What comes later can't be told from an answer to come: it is never part of this one, and a connection on which it
// came before the next request is not used again.
test.each(['more', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong'])(
  'in a later read, %j: this file stands, the next one comes over another connection',
  async (late) => {
    const file = content(1000);
    let kept: Socket | undefined;
    const { server, run } = await against((socket, request) => {
      sendFile(socket, request, file, '"v1"');
      kept ??= socket;
    });
    expect((await run.save('a')).error).toBeUndefined();
    kept?.write(late);
    await until(() => kept?.destroyed === true);
    expect((await run.save('b')).error).toBeUndefined();
    for (const name of ['a', 'b']) expect((await readFile(join(run.directory, name))).equals(file)).toBe(true);
    expect(server.connections()).toBe(2);
  },
);

test('into a pipe: exit 9, though the bytes are out', async () => {
  const file = content(5000);
  const { run } = await against((socket) => void socket.write(inOne(file, 'length', 'close', 'x')));
  const writer = memoryWriter();
  expect((await run.pipe(writer)).error).toMatchObject({ exitStatus: 9, message: /more bytes came/ });
  expect(writer.bytes().equals(file)).toBe(true);
});
