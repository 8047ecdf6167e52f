import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesIn, filesWithin, threadCode } from '../../src/own-files.ts';
import { sampleFilings } from '../../src/sandbox/archive/samples.ts';
import { newConfig } from '../../src/settings/file/edit.ts';
import { ACCESSION, download, json, KEY, sandbox } from './sandbox-fixture.ts';

const ROOT = join(import.meta.dirname, '../..');
const beside = filesIn(ROOT);

/** As an executable has them: what it brings along, and nothing else. */
const brought = ['package.json', ...beside.below('samples'), ...beside.below('man')];
const within = filesWithin((path) => {
  if (path === 'contents.json') return new TextEncoder().encode(JSON.stringify(brought)).buffer;
  if (!brought.includes(path)) throw new Error(`no asset ${path}`);
  return new Uint8Array(beside.read(path)).buffer;
});

test('what is below a folder is the same beside the program and within it', () => {
  expect(beside.below('samples')).toContain('samples/0001234567-24-000003/übersicht.htm');
  for (const folder of ['samples', 'samples/0001234567-24-000003', 'man']) {
    expect(within.below(folder)).toEqual(beside.below(folder));
  }
  expect(within.below('sam')).toEqual([]);
});

test('a thread is a file beside the program, and a text within it', () => {
  expect(threadCode('hash-worker', beside)).toEqual({ code: join(ROOT, 'dist/hash-worker.js'), eval: false });
  const text = filesWithin(() => new TextEncoder().encode('code').buffer);
  expect(threadCode('hash-worker', text)).toEqual({ code: 'code', eval: true });
});

test('a new config file names the schema where there is a place for it', async () => {
  const { $schema } = newConfig({ own: beside });
  expect((await stat(new URL(String($schema)))).isFile()).toBe(true);
  expect(newConfig({ own: within })).toEqual({});
});

describe('the samples within the program', () => {
  test('are served as those beside it, but for the time of a change', async () => {
    const [outer, inner] = [await sandbox({}, sampleFilings(beside)), await sandbox({}, sampleFilings(within))];
    for (const accession of await readdir(join(ROOT, 'samples'))) {
      const listing = `/v1/filings?accession_no=${accession}`;
      const files = json(await inner.get(listing));
      expect(files).toEqual(json(await outer.get(listing)));
      for (const { file_name } of Object.values(files) as { file_name: string }[]) {
        const target = download(file_name, accession);
        const [theirs, ours] = [await outer.get(target), await inner.get(target)];
        expect([ours.status, ours.body]).toEqual([200, theirs.body]);
        expect(ours.headers['content-type']).toBe(theirs.headers['content-type']);
        expect(ours.headers['last-modified']).toBeUndefined();
      }
    }
  });

  test('are gone on with under their ETag', async () => {
    const { get } = await sandbox({}, sampleFilings(within));
    const whole = await get(download('primary.htm'));
    const key = { 'X-Service-Key': KEY };
    const rest = await get(download('primary.htm'), {
      ...key,
      Range: 'bytes=100-',
      'If-Range': String(whole.headers.etag),
    });
    expect([rest.status, rest.body]).toEqual([206, whole.body.subarray(100)]);
    const other = await get(download('R1.htm'));
    expect(other.headers.etag).not.toBe(whole.headers.etag);
  });

  test.each([
    ['nope.htm', ACCESSION, 404],
    ['primary.htm', '0009999999-24-000001', 404],
    ['../0001234567-24-000002/primary.htm', ACCESSION, 400],
  ])('%s of %s is not there: %i', async (name, accession, status) => {
    const { get } = await sandbox({}, sampleFilings(within));
    expect((await get(download(name, accession))).status).toBe(status);
  });

  test('are introduced with a filing of theirs', () => {
    expect(sampleFilings(within).look).toEqual({ accession: ACCESSION });
  });
});
