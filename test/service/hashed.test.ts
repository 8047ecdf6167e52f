import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { first, framed, whole } from '../servers/answers.ts';
import type { Script } from '../servers/scripted.ts';
import { content, runAgainst, startRun } from './transfer-fixture.ts';

// The SHA-256 of an outcome is that of the whole file, even if the file was downloaded in parts.
const SMALL = content(300_000);
const LARGE = content((4 << 20) + 12_345);
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
/** Returns a script that answers even a range with the whole of another version. */
const other =
  (file: Buffer): Script =>
  (socket) =>
    void socket.write(framed(file, 'length', { ETag: '"v2"' }).bytes);
const cutAt = (bytes: number, file: Buffer, then: Script) =>
  first(framed(file, 'length', { ETag: '"v1"' }).upTo(bytes), then);

describe('with hasChecksums, the outcome has the hash of the whole file', () => {
  test.each<[string, Script, Buffer]>([
    ['a large file without a length', (socket) => void socket.end(framed(LARGE, 'chunked').bytes), LARGE],
    ['a large file, resumed late', cutAt(4 << 20, LARGE, whole(LARGE)), LARGE],
    ['a small file after much of a large one', cutAt(4 << 20, LARGE, other(SMALL)), SMALL],
    ['a large file after some of a small one', cutAt(100_000, SMALL, other(LARGE)), LARGE],
  ])('for %s', async (_, script, file) => {
    const { run } = await runAgainst(script, { hasChecksums: true, retries: 1 });
    expect(await run.save()).toMatchObject({ bytes: file.length, sha256: sha256(file) });
  });

  test('for a file that an earlier run began', async () => {
    const script = cutAt(1_400_000, LARGE, whole(LARGE));
    const { server, run: firstRun } = await runAgainst(script, { hasChecksums: true });
    expect(await firstRun.save()).toMatchObject({ result: 'failed' });
    firstRun.die();
    const run = await startRun(server.url, { hasChecksums: true, directory: firstRun.directory });
    expect(await run.save()).toMatchObject({ result: 'resumed', resumedBytes: 1_400_000, sha256: sha256(LARGE) });
  });
});

test('without hasChecksums, the outcome has no hash', async () => {
  const { run } = await runAgainst(whole(SMALL));
  expect((await run.save()).sha256).toBeUndefined();
});
