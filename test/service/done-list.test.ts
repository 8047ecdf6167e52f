import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { appendFile, link, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessionNumber } from '../../src/service/accession.ts';
import { doneLine } from '../../src/transfer/selection/done/done-entry.ts';
import { DoneList, type DoneListOptions } from '../../src/transfer/selection/done/done-list.ts';

const id = '0123456789abcdef';
const never = new AbortController().signal;
const NOW = Date.UTC(2024, 4, 1);
const uid = process.geteuid?.();
const filing = (n: number) => `0001234567-24-${String(n).padStart(6, '0')}` as AccessionNumber;
const entry = (n: number, time = NOW, selection = id) => doneLine({ accession: filing(n), selection, time, files: 3 });

let place: string;
let serial = 0;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'filings-done-'));
  await build({
    entryPoints: [join(import.meta.dirname, '../../src/transfer/selection/done/done-list.ts')],
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

function opened(path: string, options: Partial<DoneListOptions> = {}): Promise<DoneList> {
  const file = { path, shown: '--done list', uid };
  return DoneList.open(file, { selection: id, now: () => NOW, ...options }, never);
}

async function withLines(text: string, options?: Partial<DoneListOptions>): Promise<DoneList> {
  const path = newPath();
  await writeFile(path, text);
  const list = await opened(path, options);
  await list.close();
  return list;
}

const known = (list: DoneList, ...numbers: number[]) => numbers.map((n) => list.has(filing(n)));

describe('reading', () => {
  test('a missing list is made, and is empty', async () => {
    const path = newPath();
    const list = await opened(path);
    await list.close();
    expect(list.size).toBe(0);
    expect((await stat(path)).size).toBe(0);
  });

  test('read only, nothing is made and nothing is written', async () => {
    const path = newPath();
    const missing = await opened(path, { readOnly: true });
    await missing.add(filing(1), 1);
    await missing.close();
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
    await writeFile(path, entry(1));
    const list = await opened(path, { readOnly: true });
    expect(known(list, 1, 2)).toEqual([true, false]);
    await list.add(filing(2), 1);
    await list.close();
    expect(await readFile(path, 'utf8')).toBe(entry(1));
  });

  test('entries of other selections are passed over', async () => {
    const list = await withLines(entry(1) + entry(2, NOW, 'f'.repeat(16)) + entry(3));
    expect(known(list, 1, 2, 3)).toEqual([true, false, true]);
    expect(list.size).toBe(2);
  });

  test('garbage, torn lines and those of another version are passed over, a line break at the end may be missing', async () => {
    const long = 'x'.repeat(700_000);
    const torn = entry(7).slice(0, 40);
    const text = `${entry(1)}\n\r\n# x\n${torn}\n${torn}${entry(8)}\0\0\0${entry(9)}${long}\n${long}${entry(4)}`;
    const list = await withLines(`${text}v2\t${entry(5)}${entry(2)}${entry(3).trimEnd()}`);
    expect(known(list, 1, 2, 3, 4, 5, 7, 8, 9)).toEqual([true, true, true, false, false, false, false, false]);
  });

  test('a signal ends it with its reason', async () => {
    const path = newPath();
    await writeFile(path, entry(1));
    const reason = new Error('enough');
    const file = { path, shown: '--done list', uid };
    const opening = DoneList.open(file, { selection: id, now: () => NOW }, AbortSignal.abort(reason));
    await expect(opening).rejects.toBe(reason);
  });
});

describe('what stands in its place', () => {
  test.each<[what: string, make: (path: string) => unknown, why: string]>([
    ['a directory', (path) => mkdir(path), 'it is a directory'],
    ['a FIFO', (path) => execFileSync('mkfifo', [path]), 'it is no plain file'],
    ['a device', (path) => symlink('/dev/null', path), 'it is a symbolic link, and is not followed'],
    ['a link to a file', (path) => symlink('other', path), 'it is a symbolic link, and is not followed'],
    [
      'a file with two names',
      async (path) => {
        await writeFile(path, '');
        await link(path, `${path}-too`);
      },
      'it has a second name (a hard link)',
    ],
  ])('%s is refused', async (_what, make, why) => {
    for (const readOnly of [false, true]) {
      const path = newPath();
      await make(path);
      await expect(opened(path, { readOnly })).rejects.toMatchObject({
        code: 'usage',
        message: `--done list: ${why}`,
      });
    }
  });

  test('another user’s file is refused', async () => {
    const path = newPath();
    await writeFile(path, entry(1));
    const file = { path, shown: '--done list', uid: (uid ?? 0) + 1 };
    const opening = DoneList.open(file, { selection: id, now: () => NOW }, never);
    await expect(opening).rejects.toMatchObject({ code: 'usage', message: '--done list: another user owns it' });
  });

  test('a device itself, too', async () => {
    await expect(opened('/dev/null')).rejects.toMatchObject({
      code: 'usage',
      message: '--done list: it is no plain file',
    });
  });

  test('a directory that is not there is local_io', async () => {
    await expect(opened(join(place, 'missing', 'list'))).rejects.toMatchObject({
      code: 'local_io',
      message: '--done list: cannot write: the directory is not there',
    });
  });
});

describe('appending', () => {
  test('what was added is known, and stands there for the next run', async () => {
    const path = newPath();
    const list = await opened(path);
    expect(known(list, 1)).toEqual([false]);
    await Promise.all([list.add(filing(1), 3), list.add(filing(2), 3)]);
    expect(known(list, 1, 2, 3)).toEqual([true, true, false]);
    await list.close();
    expect(await readFile(path, 'utf8')).toBe(entry(1) + entry(2));
    const next = await opened(path);
    expect(known(next, 1, 2, 3)).toEqual([true, true, false]);
    await next.close();
  });

  test.each(['torn', '\0\0', `${entry(5).trimEnd()}`])(
    'after the torn line %j it begins with a line break',
    async (torn) => {
      const path = newPath();
      await writeFile(path, entry(1) + torn);
      const list = await opened(path);
      await list.add(filing(2), 3);
      // Another process may be cut off meanwhile.
      await appendFile(path, torn);
      await list.add(filing(3), 3);
      await list.close();
      expect(await readFile(path, 'utf8')).toBe(`${entry(1)}${torn}\n${entry(2)}${torn}\n${entry(3)}`);
      expect(known(await withLines(await readFile(path, 'utf8')), 1, 2, 3)).toEqual([true, true, true]);
    },
  );

  test('several processes at once lose nothing', async () => {
    const path = newPath();
    await writeFile(path, 'torn');
    const script = `
      const list = await open();
      const from = Number(process.argv[1]);
      for (let n = from; n < from + 500; n += 1) await list.add(filing(n), 3);
      await list.close();`;
    await Promise.all([0, 1, 2, 3].map((k) => child(script, { path, args: [`${k * 500}`] })));
    const lines = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    expect(lines[0]).toBe('torn');
    expect(lines.slice(1).sort()).toEqual(Array.from({ length: 2000 }, (_, n) => entry(n).trimEnd()));
  });

  const ADD_ALL = `
    const list = await open();
    const failures = [];
    for (let n = 1; n < 100; n += 1) await list.add(filing(n), 3).catch((error) => failures.push({ n, code: error.code, message: error.message, stopsRun: error.stopsRun, has: list.has(filing(n)) }));
    await list.close();
    console.log(JSON.stringify(failures));`;

  test('beyond the limit of a file’s size: local_io, not done, and the next run copes', async () => {
    const path = newPath();
    await expectTorn(
      path,
      JSON.parse(await child(ADD_ALL, { path, shell: 'ulimit -f 1' })),
      'larger than may be written',
    );
  });

  const namespaces = succeeds('unshare', ['-Urm', 'true']);
  test.skipIf(!namespaces)('a full disk (a tmpfs of one page): the same', async () => {
    const disk = newPath();
    const path = newPath();
    await mkdir(disk);
    const told = await child(ADD_ALL, {
      path: join(disk, 'list'),
      shell: `mount -t tmpfs -o size=4k none ${disk} || exit 99`,
      after: `cat ${disk}/list > ${path}`,
      within: ['unshare', '-Urm'],
    });
    await expectTorn(path, JSON.parse(told), 'the disk is full');
  });

  /** The list has as many entries as were added, then a piece of one, and nothing counts that failed. */
  async function expectTorn(path: string, failures: readonly Record<string, unknown>[], why: string): Promise<void> {
    const text = await readFile(path, 'utf8');
    const added = 99 - failures.length;
    expect(added).toBeGreaterThan(5);
    expect(failures.length).toBeGreaterThan(5);
    for (const { n, ...failure } of failures) {
      expect(n).toBeGreaterThan(added);
      expect(failure).toEqual({ code: 'local_io', message: expect.stringContaining(why), stopsRun: true, has: false });
    }
    expect(text.length).toBeGreaterThan(entry(1).length * added);
    expect(text.endsWith('\n')).toBe(false);
    const next = await opened(path);
    expect(next.size).toBe(added);
    await next.add(filing(500), 3);
    await next.close();
    expect(known(await withLines(await readFile(path, 'utf8')), added, added + 1, 500)).toEqual([true, false, true]);
  }
});

interface ChildOptions {
  readonly path: string;
  readonly args?: readonly string[];
  /** What the shell does before and after it. */
  readonly shell?: string;
  readonly after?: string;
  readonly within?: readonly string[];
}

/** Runs a script with `open()` and `filing(n)` in a process of its own; gives its stdout. */
async function child(
  script: string,
  { path, args = [], shell = ':', after = ':', within = [] }: ChildOptions,
): Promise<string> {
  const preamble = `
    import { DoneList } from ${JSON.stringify(join(place, 'done-list.mjs'))};
    const filing = (n) => '0001234567-24-' + String(n).padStart(6, '0');
    const open = () => DoneList.open(
      { path: ${JSON.stringify(path)}, shown: '--done list', uid: process.geteuid() },
      { selection: '${id}', now: () => ${NOW} },
      new AbortController().signal,
    );`;
  const [program, ...before] = [...within, 'bash'];
  const node = `"$0" --input-type=module -e "$1" -- "\${@:2}"`;
  const { stdout } = await promisify(execFile)(program ?? '', [
    ...before,
    '-c',
    `${shell}; ${node}; code=$?; ${after}; exit $code`,
    process.execPath,
    preamble + script,
    ...args,
  ]);
  return stdout;
}

function succeeds(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
