// The rest of a response that is not wanted may have no end. Its connection is dropped, or the service would go on
// sending and the process would not end.
import type { Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { type Sleep, sleep } from '../../src/abort.ts';
import { type Fields, head, rangeStart } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { ACCESSION, asking } from './run.ts';

const SIZE = 900_000;
const TAG = { ETag: '"v1"' };
const FILE = Buffer.concat([Buffer.from(head(200, { 'Content-Length': SIZE, ...TAG })), Buffer.alloc(SIZE, 'x')]);

/** The beginning of a response of a billion bytes. */
const endless =
  (status: number, fields: Fields = {}, bytes = 1) =>
  (socket: Socket) =>
    void socket.write(head(status, { 'Content-Length': 1e9, ...fields }) + 'x'.repeat(bytes));

const cut: Script = (socket) => void socket.end(FILE.subarray(0, -1));
/** Sends `whole`, which is the file without its last byte, and answers the request for the rest by `rest`. */
const thenRest =
  (rest: Script, whole = cut): Script =>
  (socket, request) =>
    (rangeStart(request) === undefined ? whole : rest)(socket, request);

const redirect: Script = (socket, { index, path }) =>
  index > 0 ? void socket.write(FILE) : endless(302, { Location: `${path}&hop` })(socket);
/** All bytes come, but not the end of the chunks. */
const withoutEnd: Script = (socket) => {
  const chunk = `${SIZE.toString(16)}\r\n${'x'.repeat(SIZE)}`;
  socket.end(head(200, { 'Transfer-Encoding': 'chunked', ...TAG }) + chunk);
};
/** Only the chunks show that more comes than the one byte of the range. */
const tooMuch: Script = (socket, request) => {
  const range = { 'Content-Range': `bytes ${rangeStart(request)}-${SIZE - 1}/${SIZE}` };
  socket.write(`${head(206, { 'Transfer-Encoding': 'chunked', ...range, ...TAG })}5\r\nxxxxx\r\n`);
};
const noneLeft = endless(416, { 'Content-Range': `bytes */${SIZE}`, ...TAG });
const otherRange = endless(206, { 'Content-Range': `bytes 0-9/${SIZE}`, ...TAG });

test.each`
  response                             | args            | exit | asked | service
  ${'that redirects'}                  | ${'a.htm'}      | ${0} | ${2}  | ${redirect}
  ${'that is a part of a listing'}     | ${'--all'}      | ${9} | ${1}  | ${endless(200, { 'Content-Range': 'items 0-9/20' })}
  ${'that is too large for a listing'} | ${'--all'}      | ${9} | ${1}  | ${endless(200)}
  ${'that is compressed'}              | ${'a.htm'}      | ${9} | ${1}  | ${endless(200, { 'Content-Encoding': 'gzip' })}
  ${'that is an error'}                | ${'a.htm'}      | ${5} | ${1}  | ${endless(404, {}, 1_100_000)}
  ${'that says that nothing is left'}  | ${'a.htm'}      | ${0} | ${2}  | ${thenRest(noneLeft, withoutEnd)}
  ${'that is another range'}           | ${'a.htm'}      | ${9} | ${3}  | ${thenRest(otherRange)}
  ${'that restarts a file in a pipe'}  | ${'a.htm -o -'} | ${9} | ${2}  | ${thenRest(endless(200, { ETag: '"v2"' }))}
  ${'that has more than its range'}    | ${'a.htm'}      | ${9} | ${2}  | ${thenRest(tooMuch)}
`('the connection of a response $response is dropped', async ({ args, exit, asked, service }) => {
  const open = new Set<Socket>();
  const { filings, requests } = await asking((socket, request) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    return service(socket, request);
  });
  // Waits before a retry take no time. Those for the body of an error, and for silence, never end.
  const quick: Sleep = (ms, signal) => sleep(ms < 5000 ? 0 : 1e9, signal);
  const line = ['download', ACCESSION, ...args.split(' '), '--retries', '1'];
  const { exitCode, stderr } = await filings(line, {}, { sleep: quick });
  expect([exitCode, requests.length], stderr).toEqual([exit, asked]);
  await vi.waitFor(() => expect(open.size).toBe(0), { timeout: 10_000 });
});
