import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { first, framed, whole } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { content, runAgainst, startRun } from './transfer-fixture.ts';

// The SHA-256 that an outcome tells: of the whole file, however it came to be there.
const SMALL = content(300_000);
const LARGE = content((4 << 20) + 12_345);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
/** Answers a range, too, with the whole of another version. */
const other =
  (file: Buffer): Script =>
  (socket) =>
    void socket.write(framed(file, 'length', { ETag: '"v2"' }).bytes);
const cutAt = (bytes: number, file: Buffer, then: Script) =>
  first(framed(file, 'length', { ETag: '"v1"' }).upTo(bytes), then);

describe('asked for, the outcome has the hash of the whole file', () => {
  test.each<[string, Script, Buffer]>([
    ['a large file without a length', (socket) => void socket.end(framed(LARGE, 'chunked').bytes), LARGE],
    ['a large file, resumed late', cutAt(4 << 20, LARGE, whole(LARGE)), LARGE],
    ['a small file after much of a large one', cutAt(4 << 20, LARGE, other(SMALL)), SMALL],
    ['a large file after some of a small one', cutAt(100_000, SMALL, other(LARGE)), LARGE],
  ])('%s', async (_, script, file) => {
    const { run } = await runAgainst(script, { hasChecksums: true, retries: 1 });
    expect(await run.save()).toMatchObject({ bytes: file.length, sha256: sha256(file) });
  });

  test('a file that an earlier run began', async () => {
    const script = cutAt(1_400_000, LARGE, whole(LARGE));
    const { server, run: broken } = await runAgainst(script, { hasChecksums: true });
    expect(await broken.save()).toMatchObject({ result: 'failed' });
    broken.die();
    const run = await startRun(server.url, { hasChecksums: true, directory: broken.directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', resumedBytes: 1_400_000, sha256: sha256(LARGE) });
  });
});

test('not asked for, it is not told', async () => {
  const { run } = await runAgainst(whole(SMALL));
  expect((await run.save()).sha256).toBeUndefined();
});
