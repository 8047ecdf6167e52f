// --dry-run: what it plans is what the run does, and it writes nothing but the report.
import { lstat, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { proving } from '../proving.ts';
import { accession } from '../servers/archive.ts';
import { archivePlace, lines, names, numbered, type ReportLine, readReport } from './batch.ts';
import { linesOf } from './run.ts';

const [A, B] = [accession(1), accession(2)];
const CONTENT = { 'a.htm': 'the first', 'b.htm': 'the second', 'c.htm': 'the third one' };

/** What is at the path of a file before the runs. */
const EXISTING = ['nothing', 'the same', 'same size', 'longer', 'empty', 'link', 'directory'] as const;

const SETUP = fc.record({
  existing: fc.array(fc.constantFrom(...EXISTING, 'the same', 'the same'), { minLength: 6, maxLength: 6 }),
  filing: fc.constantFrom('directory', 'directory', 'directory', 'missing', 'link', 'file'),
  ifExists: fc.constantFrom(undefined, undefined, 'skip', 'compare', 'overwrite', 'error'),
  layout: fc.constantFrom(undefined, undefined, '{file_name}', `${B}/{file_name}`, '{file_name}/{accession_no}'),
  sizes: fc.boolean(),
  writesChecksums: fc.boolean(),
});

type Setup = typeof SETUP extends fc.Arbitrary<infer S> ? S : never;

/** A workplace in which something is at the paths of the layout, as the setup says. */
async function setUp({ existing, filing, layout = '{accession_no}/{file_name}', sizes }: Setup) {
  const place = await archivePlace({ [A]: CONTENT, [B]: CONTENT }, { sizes });
  const { at, write } = place;
  for (const name of ['out', 'elsewhere']) await mkdir(at(name));
  if (filing === 'link') await symlink('../elsewhere', at(`out/${A}`));
  if (filing === 'file') await write(`out/${A}`, 'a file');
  const files = [A, B].flatMap((number) =>
    Object.entries(CONTENT).map(([name, content]) => ({ number, name, content })),
  );
  for (const [index, { number, name, content }] of files.entries()) {
    if (number === A && filing !== 'directory') continue;
    const path = `out/${layout.replace('{accession_no}', number).replace('{file_name}', name)}`;
    await mkdir(at(join(path, '..')), { recursive: true });
    // Both filings may have the same paths.
    if (await lstat(at(path)).catch(() => undefined)) continue;
    const what = existing[index];
    if (what === 'the same') await write(path, content);
    if (what === 'same size') await write(path, '?'.repeat(content.length));
    if (what === 'longer') await write(path, `${content}!`);
    if (what === 'empty') await write(path, '');
    if (what === 'link') await symlink(await write('elsewhere/x', content), at(path));
    if (what === 'directory') await mkdir(at(path));
  }
  return place;
}

/** Every entry of a directory with its content and change time. */
async function tree(path: string) {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const lines = entries.map(async (entry) => {
    const full = join(entry.parentPath, entry.name);
    return `${full} ${(await lstat(full)).ctimeMs} ${entry.isFile() ? await readFile(full) : ''}`;
  });
  return (await Promise.all(lines)).sort();
}

/** Report lines by file, because listings may arrive in another order. */
const byFile = (lines: readonly ReportLine[]) =>
  new Map(lines.map((line) => [`${line.accession_no} ${line.file_name}`, line]));

test('a dry run reports for every file what the run does, writes only the report and downloads nothing', async () => {
  const seen = new Set<string>();
  const property = fc.asyncProperty(SETUP, async (setup) => {
    const { archive, at, batch, read } = await setUp(setup);
    const { ifExists, layout, writesChecksums } = setup;
    const args = ['--all', '-d', 'out', '-j', '1', ...(writesChecksums ? ['--checksums'] : [])];
    if (ifExists) args.push('--if-exists', ifExists);
    if (layout) args.push('--layout', layout);
    const trees = () => Promise.all([tree(at('out')), tree(at('elsewhere'))]);
    const before = await trees();
    const dry = await batch([A, B], [...args, '-n', '--report', 'dry']);
    expect([await trees(), archive.asked()]).toEqual([before, [A, B]]);
    const run = await batch([A, B], args);
    const planned = byFile(readReport(await read('dry')).files);
    const done = byFile(run.report.files);
    expect([...planned.keys()].sort()).toEqual([...done.keys()].sort());
    for (const [file, { result, bytes, path, error }] of planned) {
      const end = done.get(file);
      seen.add(`${result} ${end?.result}`);
      if (result === 'failed') expect([file, end?.error]).toEqual([file, error]);
      if (result === 'skipped') expect([file, end?.result, end?.bytes]).toEqual([file, 'skipped', bytes]);
      // Where no directory is in the way, a planned file can fail only because its bytes differ.
      const isFree = setup.filing === 'directory' || setup.filing === 'missing';
      if (result === 'planned' && end?.error && isFree) expect(end.error.message).toContain('a different file already');
      expect(path).toBe(end?.path);
    }
    const plan = [...planned.values()].filter(({ result }) => result === 'planned');
    expect(`${dry.stdout}`).toBe(plan.map((line) => `${line.accession_no}\t${line.file_name}\n`).join(''));
    if (run.exitCode === 0) expect(dry.exitCode).toBe(0);
  });
  await fc.assert(property, { numRuns: proving ? 200 : 15, seed: 2 });
  // Every combination must have occurred, and no other.
  const plans = ['failed failed', 'planned downloaded', 'planned failed', 'planned skipped', 'skipped skipped'];
  expect([...seen].sort()).toEqual(plans);
});

const KEEPING = ['--checksums', '--done', 'done', '--failed', 'failed', '-d', 'out'];

test('a dry run of lines that name files requests nothing, and its plan is an input that names them again', async () => {
  const { archive, batch, names: present } = await numbered(3);
  const { exitCode, stdout, stderr } = await batch(lines(2), ['-n', ...KEEPING]);
  expect([exitCode, archive.asked()]).toEqual([0, []]);
  expect(linesOf(stdout)).toEqual(names(2).map((name) => `${A}\t${name}`));
  expect(stderr).toContain('dry run: 2 files would be downloaded with 2 requests');
  expect(stderr).not.toContain('--layout');
  expect(await present()).toEqual(['report']);
  expect((await batch(`${stdout}`)).report.summaries.at(-1)).toMatchObject({ downloaded: 2 });
});

test('a dry run of filings lists those that are not done, and plans each file with its size, whatever the limits are', async () => {
  const [C, content] = [accession(3), { 'a.htm': 'twenty characters...' }];
  const { archive, batch, names: present, write } = await archivePlace({ [A]: content, [C]: content });
  await batch([C], ['--all', ...KEEPING]);
  const before = await present();
  await write('report', '');
  const limits = ['--max-requests', '1', '--max-bytes', '1', '--stop-after', '1ms'];
  const { exitCode, stderr, report } = await batch([A, B, C], ['-n', '--all', ...KEEPING, ...limits]);
  expect([exitCode, archive.asked().slice(2)]).toEqual([3, [A, B]]);
  expect(stderr).toContain('1 file would be downloaded (20 B as listed) with 1 request');
  const file = { accession_no: A, path: `out/${A}/a.htm`, result: 'planned', bytes: 20, verified_length: false };
  expect(report.files).toMatchObject([file, { accession_no: B, result: 'failed' }]);
  expect(report.summaries).toMatchObject([{ planned: 1, done: 1, downloaded: 0, failed: 1, exit_code: 3 }]);
  expect(await present()).toEqual(before);
});

test('the plan of FILE arguments says which layout belongs to it, and --report - takes the place of a plan', async () => {
  const { batch } = await numbered(3);
  const plan = await batch(undefined, [A, ...names(2), '-n', '-d', 'x']);
  expect(plan.stderr).toContain("to use these lines with --input, add --layout '{file_name}'");
  const again = await batch(`${plan.stdout}`, ['-d', 'x', '--layout', '{file_name}']);
  const paths = again.report.files.slice(2).map(({ path }) => path);
  expect(paths.sort()).toEqual(['x/f000.htm', 'x/f001.htm']);
  const reported = await batch(undefined, [A, 'f002.htm', '-n', '--report', '-']);
  expect(readReport(reported.stdout)).toMatchObject({ files: [{ result: 'planned' }], endsSummed: true });
  expect(linesOf(reported.stdout)).toHaveLength(2);
});

test.each`
  args                                        | exit | says
  ${['missing']}                              | ${0} | ${/^dry run: 1 file would be downloaded with 1 request$/m}
  ${['f000.htm', '-o', 'missing/f000.htm']}   | ${0} | ${/^dry run: 1 file would be downloaded/m}
  ${['f000.htm', '--if-exists', 'error']}     | ${8} | ${/^filings: f000.htm: it already exists/m}
  ${['f000.htm', '--sha256', '0'.repeat(64)]} | ${9} | ${/^filings: .*wrong hash/m}
`('a dry run of one file with $args exits with $exit', async ({ args, exit, says }) => {
  const { archive, batch, write, names: present } = await numbered(1);
  await write('f000.htm', 'x');
  const { exitCode, stderr, report } = await batch(undefined, [A, ...args, '-n']);
  expect(exitCode, stderr).toBe(exit);
  expect(stderr).toMatch(says);
  expect(stderr).not.toContain('1 of 1');
  expect(report.files).toMatchObject([{ result: exit === 0 ? 'planned' : 'failed', verified_length: false }]);
  expect(report.summaries).toMatchObject([{ exit_code: exit }]);
  expect([archive.asked(), (await present()).sort()]).toEqual([[], ['f000.htm', 'report']]);
});

test('a report waits for its reader with no more than 64 KiB and a line', async () => {
  const { archive, filings } = await numbered(1);
  const sizes: number[] = [];
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      sizes.push(chunk.length);
      setImmediate(done);
    },
  });
  const own = { input: lines(5000).join('\n'), stdout };
  expect((await filings(['download', '-n', '-i', '-', '--report', '-'], archive.env, own)).exitCode).toBe(0);
  expect(Math.max(...sizes)).toBeLessThan((64 << 10) + 300);
});

test('a dry run whose plan nobody reads any more ends with 0, and its report has a summary', async () => {
  const { batch } = await numbered(3);
  const stdout = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('closed'), { code: 'EPIPE' })),
  });
  const { exitCode, stderr, report } = await batch(lines(3), ['-n'], { stdout });
  expect([exitCode, stderr.includes('filings:')]).toEqual([0, false]);
  expect([report.endsSummed, report.summaries[0]?.exit_code]).toEqual([true, 0]);
});
