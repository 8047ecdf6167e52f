import type { Socket } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { type Sleep, sleep } from '../../src/abort.ts';
import { head, rangeStart } from '../servers/answers.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { ACCESSION, serviceAt, workplace } from './run.ts';

// The rest of an answer that is not wanted may have no end. Its connection is dropped, or the service would go on
// sending and the process would not end.

const FILE = Buffer.alloc(2_000_000, 'x');
/** The beginning of an answer of a billion bytes. */
const endless = (socket: Socket, status: number, fields = {}, body: Buffer | string = 'x') => {
  socket.write(head(status, { 'Content-Length': 1_000_000_000, ...fields }));
  socket.write(body);
};
const FILE_HEAD = head(200, { 'Content-Length': FILE.length, ETag: '"v1"' });

/** Shortens the waits before a retry, and not those for a body. */
const quick: Sleep = (ms, signal) => sleep(ms < 5000 ? 10 : ms, signal);

/** The first answer is cut; the rest of the file is requested, and is answered by `rest`. */
const behindCut =
  (rest: (socket: Socket) => void): Script =>
  (socket, request) => {
    if (rangeStart(request) === undefined) socket.end(Buffer.concat([Buffer.from(FILE_HEAD), FILE.subarray(0, -1)]));
    else rest(socket);
  };

/** The rest of a cut file has a head with these fields and no end. */
const endlessRest = (status: number, fields: Record<string, string>): Script =>
  behindCut((socket) => endless(socket, status, { ETag: '"v1"', ...fields }));
/** Only the chunks show that more comes than the one byte of the range. */
const tooMuch = behindCut((socket) => {
  const range = `bytes ${FILE.length - 1}-${FILE.length - 1}/${FILE.length}`;
  const fields = { 'Transfer-Encoding': 'chunked', 'Content-Range': range, ETag: '"v1"' };
  socket.write(`${head(206, fields)}5\r\nxxxxx\r\n`);
});
const redirecting: Script = (socket, { index, path }) => {
  if (index === 0) endless(socket, 302, { Location: `${path}&hop` });
  else socket.write(Buffer.concat([Buffer.from(FILE_HEAD), FILE]));
};
/** All bytes come, but not the end of the chunks; and then the range after them is empty. */
const nothingLeft: Script = (socket, request) => {
  const end = { 'Content-Range': `bytes */${FILE.length}`, ETag: '"v1"' };
  if (rangeStart(request) !== undefined) return endless(socket, 416, end);
  socket.write(`${head(200, { 'Transfer-Encoding': 'chunked', ETag: '"v1"' })}${FILE.length.toString(16)}\r\n`);
  socket.end(FILE);
};

const LIST = ['download', ACCESSION, '--all'];
const GET = ['download', ACCESSION, 'a.htm', '--retries', '1'];

describe('the connection of a response is dropped', () => {
  test.each<[what: string, args: readonly string[], status: number, script: Script]>([
    ['that redirects', GET, 0, redirecting],
    ['that is a part of a listing', LIST, 9, (socket) => endless(socket, 200, { 'Content-Range': 'items 0-9/20' })],
    ['that is a listing beyond all bounds', LIST, 9, (socket) => endless(socket, 200)],
    ['that is compressed', GET, 9, (socket) => endless(socket, 200, { 'Content-Encoding': 'gzip' })],
    ['that is an error', GET, 5, (socket) => endless(socket, 404, {}, Buffer.alloc(1_100_000, 'x'))],
    ['that says that nothing is left', GET, 0, nothingLeft],
    ['that is another range', GET, 9, endlessRest(206, { 'Content-Range': 'bytes 0-9/2000000' })],
    ['that restarts a file in a pipe', [...GET, '-o', '-'], 9, endlessRest(200, { ETag: '"v2"' })],
    ['that has more than its range', GET, 9, tooMuch],
  ])('%s', async (_, args, status, script) => {
    const open = new Set<Socket>();
    const server = await scripted((socket, request) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      return script(socket, request);
    });
    const place = await workplace();
    const { exitCode, stderr } = await place.filings(args, serviceAt(server.url), { sleep: quick });
    expect(exitCode, stderr).toBe(status);
    await vi.waitFor(() => expect(open.size).toBe(0), { timeout: 10_000 });
  });
});
