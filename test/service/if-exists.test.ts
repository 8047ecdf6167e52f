import { createHash } from 'node:crypto';
import { mkdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { IfExists } from '../../src/transfer/file-plan.ts';
import { first, framed, whole } from '../servers/answers.ts';
import { type Script, scripted } from '../servers/scripted.ts';
import { content, type RunOptions, socketAt, startRun, temporaryDirectory } from './transfer-fixture.ts';

// The final name exists already or appears during the download.
const NAME = 'primary.htm';
const FILE = content(1_500_000);
const SAME_SIZE = content(FILE.length);
const LONGER = Buffer.concat([FILE, Buffer.from('more')]);
const SHA256 = createHash('sha256').update(FILE).digest('hex');

/** Starts a run in a directory where something exists. `meanwhile` runs when the file is requested. */
async function startIn(
  exists: Buffer | undefined,
  options: RunOptions,
  more: { readonly script?: Script; readonly meanwhile?: (path: string) => Promise<unknown> } = {},
) {
  const { script = whole(FILE), meanwhile = async () => {} } = more;
  const directory = await temporaryDirectory();
  const path = join(directory, NAME);
  const server = await scripted(async (socket, request) => {
    await meanwhile(path);
    await script(socket, request);
  });
  if (exists) await writeFile(path, exists);
  return { run: await startRun(server.url, { directory, ...options }), path, server };
}

const chunked: Script = (socket) => void socket.end(framed(FILE, 'chunked', {}).bytes);

describe('a file that exists', () => {
  // The columns are the case, the existing file, the option, the result and the number of requests.
  test.each<[string, Buffer, IfExists, 'skipped' | 'downloaded' | RegExp, number]>([
    ['skip, same file', FILE, 'skip', 'skipped', 0],
    ['skip, other file', LONGER, 'skip', 'skipped', 0],
    ['compare, same file', FILE, 'compare', 'skipped', 1],
    ['compare, equal size', SAME_SIZE, 'compare', /a different file already exists: both have 1500000 bytes/, 1],
    ['compare, other size', LONGER, 'compare', /already exists: it has 1500004 bytes, this one 1500000/, 1],
    ['compare, empty file', Buffer.alloc(0), 'compare', /already exists: it has 0 bytes, this one 1500000/, 1],
    ['overwrite, same file', FILE, 'overwrite', 'downloaded', 1],
    ['overwrite, other file', LONGER, 'overwrite', 'downloaded', 1],
    ['error, same file', FILE, 'error', /already exists/, 0],
  ])('is treated as --if-exists says: %s', async (_, exists, ifExists, expected, requests) => {
    for (const script of [undefined, chunked]) {
      const { run, server } = await startIn(exists, { ifExists }, script && { script });
      const outcome = await run.save();
      if (typeof expected === 'string') {
        const bytes = expected === 'skipped' ? exists.length : FILE.length;
        expect(outcome).toMatchObject({ result: expected, bytes });
      } else {
        expect(outcome.error).toMatchObject({ code: 'local_io', stopsRun: false });
        expect(outcome.error?.message).toMatch(expected);
        if (ifExists === 'compare')
          expect(outcome.error?.hint).toEqual(
            'choose another place with -o, --layout or -d, or replace it with --if-exists overwrite',
          );
      }
      expect((await run.read()).equals(expected === 'downloaded' ? FILE : exists)).toBe(true);
      expect([await run.names(), server.requests.length]).toEqual([[NAME], requests]);
    }
  });

  test.each(['skip', 'compare'] as const)(
    'is hashed with --if-exists %s if it must have a certain hash',
    async (ifExists) => {
      for (const [exists, outcome] of [
        [FILE, { result: 'skipped', sha256: SHA256 }],
        [SAME_SIZE, { error: { code: 'integrity' } }],
      ] as const) {
        const { run, server } = await startIn(exists, { ifExists });
        expect(await run.save(NAME, SHA256)).toMatchObject(outcome);
        expect(server.requests).toHaveLength(0);
      }
    },
  );
});

test.each<[string, (path: string) => Promise<unknown>]>([
  ['a link to a file', async (path) => writeFile(`${path}.x`, FILE).then(() => symlink(`${path}.x`, path))],
  ['a link that leads nowhere', (path) => symlink('nowhere', path)],
  ['a directory', (path) => mkdir(path)],
  ['a socket', socketAt],
])('%s at the final path is never followed, and is an error unless overwrite replaces a link', async (what, plant) => {
  for (const ifExists of ['skip', 'compare', 'error', 'overwrite'] as const) {
    for (const before of [true, false]) {
      const { run, path } = await startIn(undefined, { ifExists }, before ? {} : { meanwhile: plant });
      if (before) await plant(path);
      const { result, error } = await run.save();
      if (ifExists === 'overwrite') await expect(readlink(path)).rejects.toMatchObject({ code: 'EINVAL' });
      if (ifExists === 'overwrite' && what.startsWith('a link')) {
        expect([result, (await run.read()).equals(FILE)]).toEqual(['downloaded', true]);
      } else expect([result, error?.code, error?.exitStatus]).toEqual(['failed', 'local_io', 8]);
      expect((await run.names()).filter((name) => name.startsWith('.'))).toEqual([]);
    }
  }
});

test.each<[IfExists, Buffer, 'skipped' | 'downloaded' | 'failed']>([
  ['skip', FILE, 'skipped'],
  ['compare', FILE, 'skipped'],
  ['compare', SAME_SIZE, 'failed'],
  ['error', FILE, 'failed'],
  ['overwrite', SAME_SIZE, 'downloaded'],
])('a file that appears during the download is treated as --if-exists %s says', async (ifExists, appears, result) => {
  const { run } = await startIn(undefined, { ifExists }, { meanwhile: (final) => writeFile(final, appears) });
  expect(await run.save()).toMatchObject({ result });
  expect((await run.read()).equals(result === 'downloaded' ? FILE : appears)).toBe(true);
  expect(await run.names()).toEqual([NAME]);
});

describe('a file that appears during the download', () => {
  test.each(['skip', 'compare'] as const)('must have the expected hash with %s', async (ifExists) => {
    const { run } = await startIn(undefined, { ifExists }, { meanwhile: (final) => writeFile(final, SAME_SIZE) });
    expect(await run.save(NAME, SHA256)).toMatchObject({ result: 'failed', error: { code: 'integrity' } });
    expect((await run.read()).equals(SAME_SIZE)).toBe(true);
    expect(await run.names()).toEqual([NAME]);
  });

  test('is reported without the hash and the ETag of the download, unless it was compared', async () => {
    const script = whole(FILE);
    const meanwhile = (final: string) => writeFile(final, FILE);
    for (const [ifExists, sha256] of [
      ['skip', undefined],
      ['compare', SHA256],
    ] as const) {
      const { run } = await startIn(undefined, { ifExists, hasChecksums: true }, { script, meanwhile });
      const outcome = await run.save();
      expect(outcome).toMatchObject({ result: 'skipped', bytes: FILE.length });
      expect([outcome.sha256, outcome.etag === undefined]).toEqual([sha256, ifExists === 'skip']);
    }
  });
});

test('a file that is only compared is downloaded in parts and resumed, too', async () => {
  const script = first(framed(FILE, 'length', { ETag: '"v1"' }).upTo(1_200_000), whole(FILE));
  const { run, server } = await startIn(FILE, { ifExists: 'compare', retries: 1 }, { script });
  expect(await run.save()).toMatchObject({ result: 'skipped', attempts: 2 });
  expect(server.requests.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=1200000-']);
});
