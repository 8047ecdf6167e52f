import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { framed, sendAndEnd, sendFile } from '../servers/answers.ts';
import { type Script, startScripted } from '../servers/scripted.ts';
import { content, mortal, startRun } from './transfer-fixture.ts';

// The SHA-256 that an outcome tells: of the whole file, however it came to be there.
const SMALL = content(300_000);
const LARGE = content((16 << 20) + 12_345);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const whole =
  (file: Buffer): Script =>
  (socket, request) =>
    sendFile(socket, request, file, '"v1"');
const unlengthed =
  (file: Buffer): Script =>
  (socket) =>
    void socket.end(framed(file, 'chunked', { ETag: '"v1"' }).bytes);
/** Cuts the first answer, and answers each further one whole or from where it is asked. */
const cutAt =
  (bytes: number, first: Buffer, then: Script): Script =>
  (socket, request) => {
    if (request.index > 0) return then(socket, request);
    const answer = framed(first, 'length', { ETag: '"v1"' });
    sendAndEnd(socket, answer.bytes.subarray(0, answer.headBytes + bytes), 'FIN');
  };

async function serve(script: Script): Promise<string> {
  const server = await startScripted(script);
  onTestFinished(() => server.close());
  return server.url;
}

describe('asked for, the outcome has the hash of the whole file', () => {
  test.each<[string, Script, Buffer]>([
    ['a small file', whole(SMALL), SMALL],
    ['an empty file', whole(Buffer.alloc(0)), Buffer.alloc(0)],
    ['a large file', whole(LARGE), LARGE],
    ['a large file without a length', unlengthed(LARGE), LARGE],
    ['a small file, gone on with', cutAt(100_000, SMALL, whole(SMALL)), SMALL],
    ['a large file, gone on with', cutAt(100_000, LARGE, whole(LARGE)), LARGE],
    ['a large file, gone on with late', cutAt(16 << 20, LARGE, whole(LARGE)), LARGE],
    ['a small file, begun anew as another version', cutAt(100_000, content(200_000), sendOther(SMALL)), SMALL],
    ['a small file after the beginning of a large one', cutAt(100_000, LARGE, sendOther(SMALL)), SMALL],
    ['a small file after much of a large one', cutAt(16 << 20, LARGE, sendOther(SMALL)), SMALL],
  ])('%s', async (_, script, file) => {
    const run = await startRun(await serve(script), { hashed: true, retries: 1 });
    expect(await run.save()).toMatchObject({ bytes: file.length, sha256: sha256(file) });
  });

  test('a file that an earlier run began', async () => {
    const url = await serve(cutAt(1_400_000, LARGE, whole(LARGE)));
    const process = mortal();
    const broken = await startRun(url, { hashed: true, pid: process.pid });
    expect(await broken.save()).toMatchObject({ result: 'failed' });
    await process.die();
    const run = await startRun(url, { hashed: true, directory: broken.directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', resumedBytes: 1_400_000, sha256: sha256(LARGE) });
  });

  test('a file that was there, and is skipped, is not read for it, but where it must have one', async () => {
    const run = await startRun(await serve(whole(LARGE)), { hashed: true });
    await writeFile(join(run.directory, 'primary.htm'), SMALL);
    const outcome = await run.save();
    expect(outcome).toMatchObject({ result: 'skipped', bytes: SMALL.length });
    expect(outcome.sha256).toBeUndefined();
    expect(await run.save('primary.htm', sha256(SMALL))).toMatchObject({ result: 'skipped', sha256: sha256(SMALL) });
  });

  test('not asked for, it is not told', async () => {
    const run = await startRun(await serve(whole(SMALL)));
    const outcome = await run.save();
    expect(outcome).toMatchObject({ result: 'downloaded' });
    expect(outcome.sha256).toBeUndefined();
  });
});

/** The answer to a range under another version: the whole file. */
function sendOther(file: Buffer): Script {
  return (socket) => void socket.write(framed(file, 'length', { ETag: '"v2"' }).bytes);
}
