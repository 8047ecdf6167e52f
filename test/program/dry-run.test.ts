import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, readlink, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { accession } from '../servers/archive.ts';
import { archivePlace, type ReportLine, readReport } from './batch.ts';

const [A, B] = [accession(1), accession(2)];
const CONTENT = { 'a.htm': 'the first', 'b.htm': 'the second', 'c.htm': 'the third one' };
const FILINGS = { [A]: CONTENT, [B]: CONTENT };

/** The entry that a setup creates at a file's path before the runs. */
const EXISTING = ['nothing', 'the same', 'same size', 'longer', 'empty', 'link', 'directory'] as const;
type Existing = (typeof EXISTING)[number];

interface Setup {
  readonly existing: readonly Existing[];
  readonly filing: 'missing' | 'directory' | 'link' | 'file';
  readonly ifExists: string | undefined;
  readonly layout: string | undefined;
  readonly sizes: boolean;
  readonly hasChecksums: boolean;
}

const SETUP: fc.Arbitrary<Setup> = fc.record({
  existing: fc.array(fc.constantFrom(...EXISTING, 'the same', 'the same'), { minLength: 6, maxLength: 6 }),
  filing: fc.constantFrom('directory', 'directory', 'directory', 'missing', 'link', 'file'),
  ifExists: fc.constantFrom(undefined, undefined, 'skip', 'compare', 'overwrite', 'error'),
  layout: fc.constantFrom(undefined, undefined, '{file_name}', `${B}/{file_name}`, '{file_name}/{accession_no}'),
  sizes: fc.boolean(),
  hasChecksums: fc.boolean(),
});

type Place = Awaited<ReturnType<typeof archivePlace>>;

async function plant({ at, write }: Place, path: string, what: Existing, content: string): Promise<void> {
  if (what === 'nothing') return;
  if (what === 'link') return write('elsewhere/x', content).then(() => symlink(at('elsewhere/x'), at(path)));
  if (what === 'directory') return mkdir(at(path), { recursive: true }).then(() => {});
  const size = { 'the same': content, 'same size': '?'.repeat(content.length), longer: `${content}!`, empty: '' };
  await write(path, size[what]);
}

/** Creates a workplace in which entries exist at the paths of the layout, as the setup says. */
async function setUp({ existing, filing, layout = '{accession_no}/{file_name}', sizes }: Setup): Promise<Place> {
  const place = await archivePlace(FILINGS, { sizes });
  const { at, write } = place;
  await mkdir(at('out'));
  await mkdir(at('elsewhere'));
  if (filing === 'link') await symlink('../elsewhere', at(`out/${A}`));
  if (filing === 'file') await write(`out/${A}`, 'a file');
  for (const [index, [number, name]] of [A, B].flatMap((n) => Object.keys(CONTENT).map((f) => [n, f])).entries()) {
    if (number === A && filing !== 'directory') continue;
    const path = layout.replace('{accession_no}', `${number}`).replace('{file_name}', `${name}`);
    await mkdir(at(join('out', path, '..')), { recursive: true });
    const isTaken = await lstat(at(`out/${path}`)).catch(() => undefined);
    const content = CONTENT[name as keyof typeof CONTENT];
    if (!isTaken) await plant(place, `out/${path}`, existing[index] ?? 'nothing', content);
  }
  return place;
}

const hashOf = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** Every entry of a directory with its kind, content and change time. */
async function tree(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const lines = entries.map(async (entry) => {
    const full = join(entry.parentPath, entry.name);
    const { ctimeMs, size } = await lstat(full);
    if (entry.isSymbolicLink()) return `${full} -> ${await readlink(full)}`;
    const content = entry.isFile() ? hashOf(await readFile(full)) : '';
    return `${full} ${ctimeMs} ${size} ${content}`;
  });
  return (await Promise.all(lines)).sort();
}

/** Report lines by file, because listings may arrive in another order. */
const byFile = (lines: readonly ReportLine[]) =>
  new Map(lines.map((line) => [`${line.accession_no} ${line.file_name}`, line]));

it('a dry run reports for every file what the run does, writes only the report and downloads nothing', async () => {
  const seen: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(SETUP, async (setup) => {
      const place = await setUp(setup);
      const { archive, at, batch, read } = place;
      const { ifExists, layout, hasChecksums } = setup;
      const args = ['--all', '-d', 'out', '-j', '1', ...(hasChecksums ? ['--checksums'] : [])];
      if (ifExists) args.push('--if-exists', ifExists);
      if (layout) args.push('--layout', layout);
      const before = [await tree(at('out')), await tree(at('elsewhere'))];
      const dry = await batch([A, B], [...args, '-n', '--report', 'dry']);
      expect([await tree(at('out')), await tree(at('elsewhere'))]).toEqual(before);
      expect(archive.asked()).toEqual([A, B]);
      const run = await batch([A, B], args);
      const planned = byFile(readReport(await read('dry')).files);
      const done = byFile(run.report.files);
      expect([...planned.keys()].sort()).toEqual([...done.keys()].sort());
      for (const [file, plan] of planned) {
        const end = done.get(file);
        const what = `${plan.result} ${end?.result}`;
        seen[what] = (seen[what] ?? 0) + 1;
        if (plan.result === 'failed') expect([file, end?.error]).toEqual([file, plan.error]);
        else if (plan.result === 'skipped')
          expect([file, end?.result, end?.bytes]).toEqual([file, 'skipped', plan.bytes]);
        else expect([file, what]).toEqual([file, expect.stringMatching(/^planned (downloaded|skipped|failed)$/)]);
        // A planned file can fail only because its bytes differ.
        if (what === 'planned failed') expect(end?.error?.message).toContain('a different file already exists');
        expect(plan.path).toBe(end?.path);
      }
      if (run.report.files.every(({ result }) => result !== 'failed'))
        expect([dry.exitCode, run.exitCode]).toEqual([0, 0]);
    }),
    { numRuns: 50 },
  );
  // Every combination must have occurred.
  for (const what of ['planned downloaded', 'planned skipped', 'planned failed', 'skipped skipped', 'failed failed'])
    expect(seen).toHaveProperty([what]);
});

const paths = (lines: readonly ReportLine[]) => lines.map(({ path }) => path).sort();

const LIMITED = fc.record({
  existing: fc.array(fc.constantFrom<Existing>('nothing', 'the same'), { minLength: 12, maxLength: 12 }),
  limit: fc.oneof(
    fc.integer({ min: 1, max: 16 }).map((count) => ['--max-requests', `${count}`]),
    fc.integer({ min: 1, max: 1200 }).map((bytes) => ['--max-bytes', `${bytes}`]),
  ),
  ifExists: fc.constantFrom('skip', 'compare', 'overwrite'),
  isListed: fc.boolean(),
});

it('a dry run with a limit plans as many files as the run downloads', async () => {
  const numbers = [1, 2, 3, 4].map(accession);
  const ends = new Set<number>();
  await fc.assert(
    fc.asyncProperty(LIMITED, async ({ existing, limit, ifExists, isListed }) => {
      const place = await archivePlace(Object.fromEntries(numbers.map((number) => [number, CONTENT])));
      const files = numbers.flatMap((number) =>
        Object.entries(CONTENT).map(([name, text]) => [number, name, text] as const),
      );
      for (const [index, [number, name, text]] of files.entries())
        await plant(place, `${number}/${name}`, existing[index] ?? 'nothing', text);
      const input = isListed ? numbers : files.map(([number, name]) => `${number} ${name}`);
      const args = [...limit, '--if-exists', ifExists, '-j', '1', ...(isListed ? ['--all'] : [])];
      const dry = await place.batch(input, [...args, '-n', '--report', 'dry']);
      const run = await place.batch(input, args);
      const { files: lines, summaries } = readReport(await place.read('dry'));
      const [plan, done] = [summaries[0], run.report.summaries[0]];
      // The sizes of named files are unknown.
      if (!isListed && limit[0] === '--max-bytes') return;
      ends.add(dry.exitCode);
      expect(dry.exitCode).toBe(run.exitCode);
      expect(paths(run.report.files)).toEqual(expect.arrayContaining(paths(lines)));
      expect(paths(lines)).toEqual(
        expect.arrayContaining(paths(run.report.files.filter(({ result }) => result === 'downloaded'))),
      );
      // The run may request the next listing before the current file is complete, and then skips files of it.
      if (limit[0] === '--max-bytes') return;
      expect(plan?.not_started).toBe(done?.not_started);
      expect(paths(lines)).toEqual(paths(run.report.files));
      expect(Number(plan?.planned) + Number(plan?.skipped)).toBe(Number(done?.downloaded) + Number(done?.skipped));
    }),
    { numRuns: 50 },
  );
  expect([...ends].sort()).toEqual([0, 10]);
});

it('a dry run of a single file reports the path that --output names', async () => {
  const { batch } = await archivePlace(FILINGS);
  const { report } = await batch(undefined, [A, 'a.htm', '-o', './x', '-n']);
  expect(report.files).toMatchObject([{ result: 'planned', path: './x' }]);
});

it('a dry run that hashes an existing file does not delete abandoned parts beside it', async () => {
  const { at, batch, names, write } = await archivePlace(FILINGS);
  await write('a.htm', CONTENT['a.htm']);
  const abandoned = '.a.htm._.abcdefgh.part';
  await write(abandoned, 'a part');
  const old = new Date(Date.now() - 3 * 86_400_000);
  await utimes(at(abandoned), old, old);
  const sha256 = hashOf(CONTENT['a.htm']);
  const args = [A, 'a.htm', '--sha256', sha256];
  expect((await batch(undefined, [...args, '-n'])).report.files).toMatchObject([{ result: 'skipped', sha256 }]);
  expect(await names()).toContain(abandoned);
  await batch(undefined, args);
  expect(await names()).not.toContain(abandoned);
});
