import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../cli/program.ts';
import { type Framing, framed, head, sendFile } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { content, type Run, runAgainst, startRun } from './transfer-fixture.ts';

const FILE = content(1000);

/** Requests a file that must not be saved, although there are retries. */
async function refuse(bytes: string) {
  const { run } = await runAgainst((socket) => void socket.end(bytes), { retries: 2 });
  const outcome = await run.save();
  expect(await run.names()).toEqual([]);
  return outcome;
}

const answer = (fields: string, body = 'hello') => `HTTP/1.1 200 OK\r\nConnection: close\r\n${fields}\r\n\r\n${body}`;

const HELLO = '5\r\nhello\r\n0\r\n\r\n';
const chunked = (chunks: string) => answer('Transfer-Encoding: chunked', chunks);

// These responses break the rules of HTTP. More of them are in the corpus below.
test.each`
  what                                                | bytes
  ${'xchunked'}                                       | ${answer('Transfer-Encoding: xchunked', HELLO)}
  ${'chunked and a blank'}                            | ${answer('Transfer-Encoding: chunked ', HELLO)}
  ${'two lengths that differ'}                        | ${answer('Content-Length: 5\r\nContent-Length: 6')}
  ${'HTTP/2.0 in the form of HTTP/1'}                 | ${'HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello'}
  ${'status 099'}                                     | ${'HTTP/1.1 099 OK\r\nContent-Length: 5\r\n\r\nhello'}
  ${'a header of 20 kB'}                              | ${answer(`X: ${'y'.repeat(20_000)}`)}
  ${'20 kB of headers'}                               | ${answer(`${`X: ${'y'.repeat(500)}\r\n`.repeat(40)}Content-Length: 5`)}
  ${'a blank line of a blank at the end of the head'} | ${answer('X: y\r\n ')}
  ${'bare line feeds'}                                | ${'HTTP/1.1 200 OK\nContent-Length: 5\n\nhello'}
`('refuses an invalid response after one attempt: $what', async ({ bytes }: { bytes: string }) => {
  const { error, attempts } = await refuse(bytes);
  expect([error?.exitStatus, attempts], error?.message).toEqual([9, 1]);
});

test.each`
  what                                     | chunks
  ${'a size that is not a number'}         | ${'hello\r\n'}
  ${'a size that is too large'}            | ${'ffffffffffffffffffff\r\nhello\r\n'}
  ${'a bare line feed after the size'}     | ${'5\nhello\r\n0\r\n\r\n'}
  ${'a chunk longer than its size'}        | ${'4\r\nhello\r\n0\r\n\r\n'}
  ${'an invalid size in the second chunk'} | ${'5\r\nhello\r\nzz\r\n'}
  ${'a length after the chunks'}           | ${'5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n'}
  ${'a field of 17 kB after the chunks'}   | ${`5\r\nhello\r\n0\r\nX: ${'y'.repeat(17_000)}\r\n\r\n`}
  ${'a folded field after the chunks'}     | ${'5\r\nhello\r\n0\r\nX: y\r\n z\r\n\r\n'}
`('reports invalid chunks as such after one attempt: $what', async ({ chunks }: { chunks: string }) => {
  for (const connection of ['close', 'keep-alive']) {
    const bytes = chunked(chunks).replace('Connection: close', `Connection: ${connection}`);
    const { error, attempts } = await refuse(bytes);
    const message = expect.stringContaining('invalid HTTP response');
    expect([attempts, error]).toMatchObject([1, { exitStatus: 9, retryable: false, message }]);
  }
});

// A search with curl as the judge found most of these responses: each is refused, or saved with the same bytes as by curl.
const CORPUS: readonly { sent: string[]; saved?: string; refused?: string }[] = readFileSync(
  join(import.meta.dirname, '../fixtures/hostile-answers.jsonl'),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

test('saves or refuses each response of the corpus as it should', async () => {
  const server = await scripted(async (socket, { path }) => {
    for (const part of CORPUS[Number(/\d+$/.exec(path))]?.sent ?? []) {
      socket.write(part, 'latin1');
      await turn();
    }
    socket.end();
  });
  const rows = CORPUS.map(async (row, index) => {
    const run = await startRun(server.url);
    const { error } = await run.save(`${index}`);
    const saved = error ? undefined : (await run.read(`${index}`)).toString('latin1');
    expect({ ...row, saved, refused: error?.code }).toEqual({ saved: undefined, refused: undefined, ...row });
    expect(await run.names()).toHaveLength(error ? 0 : 1);
  });
  await Promise.all(rows);
});

// Bytes after the end of a response belong to no file. They are ignored, as in curl, and never become part of this file
// or the next.
// That their connection is replaced at once is tested in connect.test.ts.
const RETRIED = { retries: 1 };
const SMUGGLED = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong';

async function expectFile(run: Run, name: string): Promise<void> {
  expect((await run.save(name)).error).toBeUndefined();
  expect((await run.read(name)).equals(FILE)).toBe(true);
}

test.each`
  framing      | connection
  ${'length'}  | ${'close'}
  ${'length'}  | ${'keep-alive'}
  ${'chunked'} | ${'close'}
  ${'chunked'} | ${'keep-alive'}
`('after a body with $framing, bytes in the same read on a connection to $connection are ignored', async (row) => {
  const { framing, connection }: { framing: Framing; connection: string } = row;
  for (const surplus of ['x', '\r', '\r\n', '\r\n\r\nx', '\0', head(200, { 'Content-Length': 0 }), SMUGGLED]) {
    const { run } = await runAgainst((socket) => {
      const { bytes } = framed(FILE, framing, { Connection: connection });
      socket.write(Buffer.concat([bytes, Buffer.from(surplus)]));
    }, RETRIED);
    for (const name of ['a', 'b']) await expectFile(run, name);
  }
});

test.each(['more', SMUGGLED])('bytes in a later read, %j, make the next file use another connection', async (late) => {
  let firstSocket: Socket | undefined;
  const { server, run } = await runAgainst((socket, request) => {
    sendFile(socket, request, FILE, '"v1"');
    firstSocket ??= socket;
  }, RETRIED);
  await expectFile(run, 'a');
  firstSocket?.write(late);
  await until(() => firstSocket?.destroyed === true);
  await expectFile(run, 'b');
  expect(server.connections()).toBe(2);
});
