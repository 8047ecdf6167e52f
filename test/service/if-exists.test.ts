import { createHash } from 'node:crypto';
import { mkdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { IfExists } from '../../src/transfer/plan.ts';
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

type Exists = { ifExists: IfExists; exists: Buffer; result: string; requests: number; message?: string };

describe('a file that exists', () => {
  test.each`
    ifExists       | content     | exists             | result          | requests | message
    ${'skip'}      | ${'other'}  | ${LONGER}          | ${'skipped'}    | ${0}     | ${undefined}
    ${'compare'}   | ${'same'}   | ${FILE}            | ${'skipped'}    | ${1}     | ${undefined}
    ${'compare'}   | ${'equal'}  | ${SAME_SIZE}       | ${'failed'}     | ${1}     | ${'both have 1.5 MB'}
    ${'compare'}   | ${'longer'} | ${LONGER}          | ${'failed'}     | ${1}     | ${'it has 1,500,004 B, but the download has 1,500,000 B'}
    ${'compare'}   | ${'empty'}  | ${Buffer.alloc(0)} | ${'failed'}     | ${1}     | ${'it has 0 B, but the download has 1.5 MB'}
    ${'overwrite'} | ${'other'}  | ${LONGER}          | ${'downloaded'} | ${1}     | ${undefined}
    ${'error'}     | ${'same'}   | ${FILE}            | ${'failed'}     | ${0}     | ${'already exists'}
  `('with $content content is $result by $ifExists', async (row: Exists) => {
    const { ifExists, exists, result, requests, message = '' } = row;
    for (const script of [whole(FILE), chunked]) {
      const { run, server } = await startIn(exists, { ifExists }, { script });
      const outcome = await run.save();
      expect([outcome.result, server.requests.length, await run.names()]).toEqual([result, requests, [NAME]]);
      if (result === 'failed') expect(outcome.error).toMatchObject({ code: 'local_io', stopsRun: false });
      else expect(outcome.bytes).toBe(result === 'skipped' ? exists.length : FILE.length);
      expect(outcome.error?.message ?? '').toContain(message);
      expect((await run.read()).equals(result === 'downloaded' ? FILE : exists)).toBe(true);
    }
  });

  test('of another length is compared without the body', async () => {
    // The rest of the body never comes.
    const script: Script = (socket) => void socket.write(framed(FILE, 'length', {}).upTo(10));
    const { run } = await startIn(LONGER, { ifExists: 'compare' }, { script });
    expect((await run.save()).error?.message).toContain('it has 1,500,004 B, but the download has 1,500,000 B');
    expect(await run.names()).toEqual([NAME]);
  });

  test('is hashed with skip and compare if it must have a certain hash', async () => {
    for (const ifExists of ['skip', 'compare'] as const) {
      const { run, server } = await startIn(FILE, { ifExists });
      expect(await run.save(NAME, SHA256)).toMatchObject({ result: 'skipped', sha256: SHA256 });
      const other = await startIn(SAME_SIZE, { ifExists });
      expect((await other.run.save(NAME, SHA256)).error?.code).toBe('integrity');
      expect([...server.requests, ...other.server.requests]).toEqual([]);
    }
  });
});

test.each`
  what                           | says                 | plant
  ${'a link to a file'}          | ${'a symbolic link'} | ${(path: string) => writeFile(`${path}.x`, FILE).then(() => symlink(`${path}.x`, path))}
  ${'a link that leads nowhere'} | ${'a symbolic link'} | ${(path: string) => symlink('nowhere', path)}
  ${'a directory'}               | ${'a directory'}     | ${(path: string) => mkdir(path)}
  ${'a socket'}                  | ${'a special file'}  | ${socketAt}
`('$what at the final path is never followed, and is an error unless overwrite replaces a link', async (row) => {
  const { what, says, plant }: { what: string; says: string; plant: (path: string) => Promise<unknown> } = row;
  for (const ifExists of ['skip', 'compare', 'error', 'overwrite'] as const) {
    for (const before of [true, false]) {
      const { run, path } = await startIn(undefined, { ifExists }, before ? {} : { meanwhile: plant });
      if (before) await plant(path);
      const { result, error } = await run.save();
      if (ifExists === 'overwrite') await expect(readlink(path)).rejects.toMatchObject({ code: 'EINVAL' });
      if (ifExists === 'overwrite' && what.startsWith('a link')) {
        expect([result, (await run.read()).equals(FILE)]).toEqual(['downloaded', true]);
      } else {
        expect([result, error?.code, error?.exitStatus]).toEqual(['failed', 'local_io', 8]);
        expect(error?.message).toContain(ifExists === 'error' ? 'it already exists' : `${says} already exists there`);
      }
      expect((await run.names()).filter((name) => name.startsWith('.'))).toEqual([]);
    }
  }
});

test.each`
  ifExists       | appears      | result
  ${'skip'}      | ${FILE}      | ${'skipped'}
  ${'compare'}   | ${FILE}      | ${'skipped'}
  ${'compare'}   | ${SAME_SIZE} | ${'failed'}
  ${'error'}     | ${FILE}      | ${'failed'}
  ${'overwrite'} | ${SAME_SIZE} | ${'downloaded'}
`('a file that appears during the download is $result by $ifExists', async ({ ifExists, appears, result }) => {
  const { run } = await startIn(undefined, { ifExists }, { meanwhile: (final) => writeFile(final, appears) });
  expect(await run.save()).toMatchObject({ result });
  expect((await run.read()).equals(result === 'downloaded' ? FILE : appears)).toBe(true);
  expect(await run.names()).toEqual([NAME]);
});

describe('a file that appears during the download', () => {
  test('must have the expected hash with skip and compare', async () => {
    for (const ifExists of ['skip', 'compare'] as const) {
      const { run } = await startIn(undefined, { ifExists }, { meanwhile: (final) => writeFile(final, SAME_SIZE) });
      expect(await run.save(NAME, SHA256)).toMatchObject({ result: 'failed', error: { code: 'integrity' } });
      expect((await run.read()).equals(SAME_SIZE)).toBe(true);
      expect(await run.names()).toEqual([NAME]);
    }
  });

  test('is reported without the hash and the ETag of the download, unless it was compared', async () => {
    for (const [ifExists, exists, expected] of [
      ['skip', LONGER, {}],
      ['compare', FILE, { sha256: SHA256, etag: '"v1"' }],
    ] as const) {
      const { run } = await startIn(undefined, { ifExists }, { meanwhile: (final) => writeFile(final, exists) });
      const { result, bytes, sha256, etag } = await run.save();
      expect({ result, bytes, sha256, etag }).toEqual({ result: 'skipped', bytes: exists.length, ...expected });
    }
  });

  test('is listed with its own hash', async () => {
    const meanwhile = (final: string) => writeFile(final, LONGER);
    const { run } = await startIn(undefined, { ifExists: 'skip', writesChecksums: true }, { meanwhile });
    const sha256 = createHash('sha256').update(LONGER).digest('hex');
    expect(await run.save()).toMatchObject({ result: 'skipped', sha256 });
    expect(`${await run.read('SHA256SUMS')}`).toBe(`${sha256}  ${NAME}\n`);
  });
});

test('a file that is only compared is downloaded in parts and resumed, too', async () => {
  const script = first(framed(FILE, 'length', { ETag: '"v1"' }).upTo(1_200_000), whole(FILE));
  const { run, server } = await startIn(FILE, { ifExists: 'compare', retries: 1 }, { script });
  expect(await run.save()).toMatchObject({ result: 'skipped', attempts: 2 });
  expect(server.requests.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=1200000-']);
});
