import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { head, nothingLeft, rangeStart } from '../servers/answers.ts';
import { type ScriptedServer, startScripted } from '../servers/scripted.ts';
import { argumentsFor, expectSoundThenComplete, FILE, placeOf } from './killed-download.ts';
import { proving, serviceAt, until } from './program.ts';

// After a kill, the final name is absent, old or complete, and the next run completes the download.
const ROUNDS = proving ? 25 : 1;
const PIECE = 500_000;
const PIECES = FILE.length / PIECE;
let server: ScriptedServer;
/** Called with the number of pieces that were sent. The server sends no more until its result resolves. */
let onSent = (_pieces: number): Promise<void> | undefined => undefined;

/** The file is sent in pieces, some milliseconds apart, so that a kill can fall between them. */
beforeAll(async () => {
  server = await startScripted(async (socket, request) => {
    const start = request.headers['if-range'] === '"v1"' ? rangeStart(request) : undefined;
    if ((start ?? 0) >= FILE.length) {
      socket.write(nothingLeft(FILE, '"v1"'));
      return;
    }
    const range = { 'Content-Range': `bytes ${start}-${FILE.length - 1}/${FILE.length}` };
    const fields = { ETag: '"v1"', 'Content-Length': FILE.length - (start ?? 0) };
    socket.write(start === undefined ? head(200, fields) : head(206, { ...fields, ...range }));
    await onSent(0);
    for (let at = start ?? 0, sent = 1; at < FILE.length && !socket.destroyed; at += PIECE, sent += 1) {
      socket.write(FILE.subarray(at, at + PIECE));
      await onSent(sent);
      await sleep(8);
    }
  });
});
afterAll(() => server.close());

/**
 * Resolves when the server has sent `pieces` pieces. With `holdBack`, the server waits for `goOn` before the next one.
 */
function sent(pieces: number, holdBack: boolean): { moment: Promise<void>; goOn: () => void } {
  let goOn = () => {};
  const resumed = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const moment = new Promise<void>((resolve) => {
    onSent = (now) => {
      if (now >= pieces) resolve();
      return holdBack && now >= pieces ? resumed : undefined;
    };
  });
  return { moment, goOn };
}

test(`leaves no torn file after SIGKILL at ${ROUNDS} moments`, { timeout: 180_000 + ROUNDS * 10_000 }, async () => {
  let [broken, certain] = [0, 0];
  // The first round is held back in the middle of a file that replaces another.
  for (let round = 3; round < 3 + ROUNDS; round += 1) {
    const old = round % 2 === 1;
    const place = await placeOf(old);
    // The kill falls between the head and the last piece. Before the head no file exists.
    const pieces = round % (PIECES + 1);
    // In every third round the download cannot be complete before the kill.
    const holdBack = round % 3 === 0 && pieces < PIECES;
    const { moment, goOn } = sent(pieces, holdBack);
    const running = place.start(argumentsFor(old), serviceAt(server.url));
    await Promise.race([moment, running.ended]);
    const hasPart = async () => (await place.names()).some((name) => name.endsWith('.filings-part'));
    if (holdBack && pieces > 0) await until(hasPart);
    await sleep(Math.random() * 20);
    running.kill('SIGKILL');
    const { killedBy } = await running.ended;
    onSent = () => undefined;
    goOn();
    if (holdBack) certain += 1;
    if (killedBy === 'SIGKILL' && (await hasPart())) broken += 1;
    await expectSoundThenComplete(place, old, serviceAt(server.url));
  }
  expect(broken).toBeGreaterThanOrEqual(Math.max(1, certain));
});
