import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DoneList, type DoneListOptions, selectionId } from '../../src/batch/done-list.ts';
import { parseAccession } from '../../src/service/accession.ts';

const id = '0123456789abcdef';
const never = new AbortController().signal;
const filing = (n: number) => parseAccession(`0001234567-24-${String(n).padStart(6, '0')}`);
const entry = (n: number, selection = id) => `${filing(n)}\t${selection}\t2024-05-01T00:00:00Z\t3\n`;
const three = (...numbers: number[]) => numbers.map((n) => ({ accession: filing(n), files: 3 }));

let place: string;
let serial = 0;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'filings-done-'));
  await build({
    entryPoints: [join(import.meta.dirname, '../../src/batch/done-list.ts')],
    outfile: join(place, 'done-list.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
});
afterAll(() => rm(place, { recursive: true }));

function newPath(): string {
  serial += 1;
  return join(place, `list-${serial}`);
}

function opened(path: string, more: Partial<DoneListOptions> = {}, signal = never): Promise<DoneList> {
  const now = () => Date.UTC(2024, 4, 1);
  return DoneList.open({ path, selection: id, now, readOnly: false, ...more }, signal);
}

async function withLines(text: string): Promise<DoneList> {
  const path = newPath();
  await writeFile(path, text);
  const list = await opened(path);
  await list.close();
  return list;
}

const known = (list: DoneList, ...numbers: number[]) => numbers.filter((n) => list.has(filing(n)));

describe('selectionId', () => {
  const selection: Parameters<typeof selectionId>[0] = {
    service: 'https://archive.example/',
    include: ['ex*', '*.xml'],
    exclude: [],
    layout: '{accession_no}/{file_name}',
    directory: '/data/exhibits',
    query: [],
  };

  test('is 16 hex digits of SHA-256', () => {
    const json = '["https://archive.example/",["*.xml","ex*"],[],"{accession_no}/{file_name}","/data/exhibits",[]]';
    expect(selectionId(selection)).toBe(createHash('sha256').update(json).digest('hex').slice(0, 16));
  });

  test('the order of globs and one typed twice change nothing, everything else does', () => {
    expect(selectionId({ ...selection, include: ['*.xml', 'ex*', '*.xml'] })).toBe(selectionId(selection));
    const others: Parameters<typeof selectionId>[0][] = [
      selection,
      { ...selection, service: 'https://archive.example/x/' },
      { ...selection, include: ['ex*'] },
      { ...selection, include: [], exclude: ['ex*', '*.xml'] },
      { ...selection, layout: '{accession_no}-{file_name}' },
      { ...selection, directory: '/data/exhibits2' },
      { ...selection, query: [['page_size', '200']] },
      { ...selection, query: [['page_size', '100']] },
    ];
    expect(new Set(others.map(selectionId)).size).toBe(others.length);
  });
});

describe('reading', () => {
  test('read only, nothing is made and nothing is written', async () => {
    const path = newPath();
    const missing = await opened(path, { readOnly: true });
    await missing.add(three(1));
    await missing.close();
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
    await writeFile(path, entry(1));
    const list = await opened(path, { readOnly: true });
    expect(known(list, 1, 2)).toEqual([1]);
    await list.add(three(2));
    await list.close();
    expect(await readFile(path, 'utf8')).toBe(entry(1));
  });

  test('entries of other selections, garbage and torn lines are ignored; a line break at the end may be missing', async () => {
    const long = 'x'.repeat(700_000);
    const torn = entry(7).slice(0, 40);
    const text = `${entry(1)}\n\r\n# x\n${torn}\n${torn}${entry(8)}\0\0\0${entry(9)}${long}\n${long}${entry(4)}`;
    const list = await withLines(`${text}v2\t${entry(5)}${entry(2)}${entry(6, 'f'.repeat(16))}${entry(3).trimEnd()}`);
    expect(known(list, 1, 2, 3, 4, 5, 6, 7, 8, 9)).toEqual([1, 2, 3]);
  });

  const whole = entry(1).trimEnd();
  test.each([
    '',
    whole.replace('\t3', ''),
    `${whole}\tmore`,
    ` ${whole}`,
    whole.replace(id, id.toUpperCase()),
    whole.replace(id, id.slice(1)),
    whole.replaceAll('\t', ' '),
    whole.replace('\t3', '\t-1'),
    whole.replace('0001234567', '000123456'),
    ...Array.from({ length: whole.length - 1 }, (_, length) => whole.slice(0, length)),
  ])('%j is no entry', async (line) => {
    expect(known(await withLines(`${line}\n`), 1)).toEqual([]);
  });

  test('a signal ends it with its reason', async () => {
    const reason = new Error('enough');
    const path = newPath();
    await writeFile(path, entry(1));
    await expect(opened(path, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test.each<[what: string, make: (path: string) => Promise<unknown>, why: string]>([
    ['a directory', (path) => mkdir(path), 'it is a directory'],
    ['a link to a device', (path) => symlink('/dev/null', path), 'it is not a regular file'],
  ])('%s is refused', async (_what, make, why) => {
    for (const readOnly of [false, true]) {
      const path = newPath();
      await make(path);
      const message = `--done ${path}: cannot ${readOnly ? 'read' : 'write'}: ${why}`;
      await expect(opened(path, { readOnly })).rejects.toMatchObject({ code: 'local_io', message });
    }
  });
});

describe('appending', () => {
  test('what was added is known, and is there for the next run', async () => {
    const path = newPath();
    const list = await opened(path);
    expect(known(list, 1)).toEqual([]);
    await Promise.all([list.add(three(1, 3)), list.add(three(2))]);
    expect(known(list, 1, 2, 3, 4)).toEqual([1, 2, 3]);
    await list.close();
    expect(await readFile(path, 'utf8')).toBe(entry(1) + entry(3) + entry(2));
    const next = await opened(path);
    expect(known(next, 1, 2, 3, 4)).toEqual([1, 2, 3]);
    await next.close();
  });

  test.each(['torn', '\0\0', `${entry(5).trimEnd()}`])(
    'after the torn line %j it begins with a line break',
    async (torn) => {
      const path = newPath();
      await writeFile(path, entry(1) + torn);
      const list = await opened(path);
      await list.add(three(2));
      // Another process may be cut off meanwhile.
      await appendFile(path, torn);
      await list.add(three(3));
      await list.close();
      expect(await readFile(path, 'utf8')).toBe(`${entry(1)}${torn}\n${entry(2)}${torn}\n${entry(3)}`);
      expect(known(await withLines(await readFile(path, 'utf8')), 1, 2, 3)).toEqual([1, 2, 3]);
    },
  );

  test('beyond the limit of a file’s size: local_io, not done, and the next run copes', async () => {
    const path = newPath();
    const script = `
      const failures = [];
      for (let n = 1; n < 100; n += 1) await list.add([{ accession: filing(n), files: 3 }])
        .catch(({ code, stopsRun }) => failures.push({ n, code, stopsRun, has: list.has(filing(n)) }));
      console.log(JSON.stringify(failures));`;
    const failures: { n: number }[] = JSON.parse(await child(script, path, '', 'ulimit -f 1'));
    const added = 99 - failures.length;
    expect(Math.min(added, failures.length)).toBeGreaterThan(5);
    for (const { n, ...failure } of failures) {
      expect(n).toBeGreaterThan(added);
      expect(failure).toEqual({ code: 'local_io', stopsRun: true, has: false });
    }
    expect((await readFile(path, 'utf8')).endsWith('\n')).toBe(false);
    const next = await opened(path);
    await next.add(three(500));
    await next.close();
    expect(known(await withLines(await readFile(path, 'utf8')), added, added + 1, 500)).toEqual([added, 500]);
  });
});

/** Runs a script with `list` and `filing(n)` in a process of its own; gives its stdout. */
async function child(script: string, path: string, arg: string, shell = ':'): Promise<string> {
  const preamble = `
    import { DoneList } from ${JSON.stringify(join(place, 'done-list.mjs'))};
    const filing = (n) => '0001234567-24-' + String(n).padStart(6, '0');
    const options = { path: ${JSON.stringify(path)}, selection: '${id}', readOnly: false };
    const list = await DoneList.open({ ...options, now: () => ${Date.UTC(2024, 4, 1)} }, new AbortController().signal);`;
  const line = `${shell}; "$0" --input-type=module -e "$1" -- "$2"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', line, process.execPath, preamble + script, arg]);
  return stdout;
}
