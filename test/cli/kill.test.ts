import { expect, test } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { argumentsFor, expectSoundThenComplete, FILE, placeOf } from './killed-download.ts';
import { serviceAt, until } from './program.ts';

// Here the kill falls into the body. test/prove/failing-calls.test.ts kills the program at each kind of system call.
test.each([
  { what: 'without an old file', old: false },
  { what: 'over an old file', old: true },
])('SIGKILL during a body $what leaves no torn file, and the next run completes the download', async ({ old }) => {
  const server = await scripted((socket, request) => {
    if (request.index > 0) return sendFile(socket, request, FILE, '"v1"');
    socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
    socket.write(FILE.subarray(0, 3_000_000));
  });
  const place = await placeOf(old);
  const running = place.start(argumentsFor(old), serviceAt(server.url));
  const part = async () => (await place.names()).find((name) => name.endsWith('.filings-part'));
  await until(async () => {
    const name = await part();
    return name !== undefined && (await place.read(name)).length > 0;
  });
  running.kill('SIGKILL');
  expect((await running.ended).killedBy).toBe('SIGKILL');
  expect(await part()).toBeDefined();
  await expectSoundThenComplete(place, old, serviceAt(server.url));
});
