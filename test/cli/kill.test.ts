import { expect, test } from 'vitest';
import { head, sendFile } from '../servers/answers.ts';
import { scripted } from '../servers/scripted.ts';
import { argumentsFor, expectSoundThenComplete, FILE, placeOf } from './killed-download.ts';
import { serviceAt } from './program.ts';

// Here the kill falls into the body. test/prove/failing-calls.test.ts kills the program at each kind of system call.
test.for([
  { what: 'without an old file', old: false },
  { what: 'over an old file', old: true },
])('SIGKILL during a body $what leaves no torn file, and the next run completes the download', async ({ old }) => {
  const place = await placeOf(old);
  const server = await scripted((socket, request) => {
    if (request.index > 0) return sendFile(socket, request, FILE, '"v1"');
    socket.write(head(200, { 'Content-Length': FILE.length, ETag: '"v1"' }));
    socket.write(FILE.subarray(0, 3_000_000));
  });
  const running = place.start(argumentsFor(old), serviceAt(server.url));
  await place.haveParts(running, 3_000_000);
  running.kill('SIGKILL');
  expect((await running.ended).killedBy).toBe('SIGKILL');
  expect(await place.parts()).toHaveLength(1);
  await expectSoundThenComplete(place, old, serviceAt(server.url));
});
