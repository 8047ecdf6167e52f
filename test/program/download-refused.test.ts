import { execFileSync } from 'node:child_process';
import { link, mkdir, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { accession } from '../servers/archive.ts';
import { archivePlace, readReport } from './batch.ts';
import { linesOf } from './run.ts';

const A = accession(1);
const FILES = { 'run.jsonl': 'a file', done: 'a file', 'failed.txt': 'a file', in: 'a file', 'c.json': '{}' };
const HASH = 'a'.repeat(64);

/** A place with an input, a config file, and other names for files and for the place itself. */
async function setUp() {
  const place = await archivePlace({ [A]: { ...FILES, 'x.htm': 'x' } });
  const { at, write } = place;
  await write('in', `${A}\n`);
  await write('c.json', '{}');
  await write('report', '');
  await link(at('report'), at('hard'));
  await symlink('in', at('link'));
  await symlink('.', at('here'));
  await mkdir(at('out'));
  execFileSync('mkfifo', [at('fifo')]);
  const download = (...args: string[]) => place.filings(['download', ...args], place.archive.env);
  return { ...place, download };
}

const IN = ['-i', 'in', '--all'];
const ONE = [A, 'x.htm'];

describe('a command line that is wrong: 2, and nothing is asked or written', () => {
  it.each<[args: readonly string[], says: RegExp]>([
    // What to download.
    [[], /ACCESSION is missing/],
    [[A, '--sandbox'], /no files selected[\s\S]*filings list [\d-]+ --sandbox/],
    [[...ONE, '--all'], /FILE cannot be used with --all/],
    [[...ONE, '--include', '*'], /FILE cannot be used with/],
    [[A, '--all', '--include', 'x*'], /--all cannot be used with --include\n +hint: omit --all/],
    [[...IN, '--include', 'x*', '--exclude', 'y*'], /--all cannot be used with --include/],
    [[A, ...IN], /--input cannot be used with ACCESSION/],
    [[A, accession(2), 'x.htm', '-d', 'x.htm'], /accession number\n +hint: for several filings, omit FILE and add/],
    [[`${A}/x.htm`, accession(2)], /is not an accession number\n +hint: for several filings, omit FILE and add/],
    [[`${A}/x.htm`, `${accession(2)}/x.htm`], /is not an accession number\n +hint: for several filings, omit/],
    [['--', A, accession(2), 'x.htm'], /accession number\n +hint: for several filings, omit FILE and add/],
    [['-i', 'missing', '--all'], /--input missing: no such file/],
    // What is for one file, or for an input.
    [[A, '--all', '-o', 'x'], /--output/],
    [[A, 'a', 'b', '-o', 'x'], /--output takes exactly one/],
    [[...ONE, '-o', 'x', '-d', 'out'], /--output/],
    [[...ONE, '-o', 'here'], /--output must be a file\n +hint: to write into this directory: --directory here\n/],
    [[...ONE, '-o', 'new/'], /--output must be a file\n +hint: to write into this directory: --directory new\/\n/],
    [[A, '--all', '--sha256', HASH], /--sha256/],
    [[A, 'a', 'b', '--sha256', HASH], /--sha256/],
    [[...ONE, '--sha256', 'abc'], /--sha256/],
    [[A, '--all', '--spool'], /--spool/],
    [[...ONE, '--spool'], /--spool requires --output -/],
    [[A, '--all', '--done', 'd'], /--done requires --input/],
    // Globs and layouts; their own tests have more of them.
    [[A, '--all', '--exclude', '{a'], /--exclude.*\{a/],
    [[A, '--all', '--include', '['], /--include.*\[/],
    [[A, '--all', '--layout', '{accession_no}'], /--layout.*file_name/],
    // Names.
    [[A, '../x'], /file name/],
    [[A, 'a\x1bb'], /file name 'a\\x1bb'/],
    [[A, 'xslF345X05/form4.xml'], /-o/],
    [[A, 'R2.htm', 'r2.htm'], /R2\.htm/],
    // One user a stream, one use a file.
    [['-i', '-', '--all', '--api-key-file', '-'], /stdin/],
    [[...ONE, '-o', '-', '--report', '-'], /--output - and --report - cannot both write to stdout/],
    [[...ONE, '-o', '-', '--report', '/dev/stdout'], /stdout/],
    [[...ONE, '-o', '/proc/self/fd/1', '--report', '-'], /stdout/],
    [[...IN, '--failed', '-'], /--failed must be a file/],
    [[...IN, '--done', '-'], /--done must be a file/],
    [[...IN, '--failed', '.'], /--failed must be a file/],
    [[...IN, '--failed', 'fifo'], /--failed must be a file/],
    [[...IN, '--failed', 'in'], /same file\n +hint: choose another file for --failed\n/],
    [[...IN, '--done', './in'], /same file/],
    [[...IN, '--report', 'link'], /same file/],
    [[...IN, '--failed', 'here/in'], /same file/],
    [[...IN, '--report', 'x', '--failed', 'here/x'], /same file/],
    [[...IN, '--report', 'report', '--failed', 'hard'], /same file/],
    [[...IN, '--report', 'fifo', '--done', 'fifo'], /same file/],
    [[...IN, '--done', 'c.json', '--config', 'c.json'], /same file\n +hint: choose another file for --done\n/],
    [[...ONE, '-o', 'x', '--failed', 'x'], /same file/],
    [[...ONE, '-o', 'here/x', '--report', 'x'], /same file/],
    [[...ONE, '-o', 'fifo', '--report', 'fifo'], /same file/],
    [[...ONE, '-o', 'c.json', '--config', 'c.json'], /same file/],
    [[...ONE, '--report', 'x.htm'], /same file\n +hint: choose another file for --report\n/],
    [[...ONE, '-d', 'out', '--failed', 'out/x.htm'], /same file/],
  ])('%j', async (args, says) => {
    const { archive, download, names, read } = await setUp();
    const before = (await names()).sort();
    const { exitCode, stderr, stdout } = await download(...args);
    expect([exitCode, stdout.toString()], stderr).toEqual([2, '']);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain('\x1b');
    expect(archive.asked()).toEqual([]);
    expect((await names()).sort()).toEqual(before);
    expect(`${await read('in')}`).toBe(`${A}\n`);
  });
});

it.each([[['-d', '.']], [['-d', 'here']], [['-d', '.', '--if-exists', 'overwrite']]])(
  'a file of a listing that would replace one of the run is refused alone: 9 (%j)',
  async (args) => {
    const { download, read } = await setUp();
    const own = ['--report', 'run.jsonl', '--done', 'done', '--failed', 'failed.txt', '--config', 'c.json'];
    const { exitCode, stderr } = await download(...IN, '--layout', '{file_name}', ...own, ...args, '-j', '1');
    expect(exitCode, stderr).toBe(3);
    const told = readReport(await read('run.jsonl')).files;
    const refused = Object.keys(FILES).map((name) => `${name} 9`);
    expect(told.map(({ file_name, error }) => `${file_name} ${error?.exit_code ?? 'came'}`).sort()).toEqual(
      [...refused, 'x.htm came'].sort(),
    );
    expect(`${await read('in')}`).toBe(`${A}\n`);
    expect(linesOf(await read('failed.txt'))).toHaveLength(refused.length);
  },
);

it('a null device may be named twice', async () => {
  const { download } = await setUp();
  expect((await download(...ONE, '-o', '/dev/null', '--report', '/dev/null')).exitCode).toBe(0);
});

it.each([[[A]], [['-i', 'in']]])('--all with --exclude takes all other files (%j)', async (filing) => {
  const { archive, download } = await setUp();
  const { exitCode, stderr } = await download(...filing, '--all', '--exclude', '*.json*', '-d', 'out');
  expect(exitCode, stderr).toBe(0);
  expect(archive.asked().sort()).toEqual([A, `${A}/done`, `${A}/failed.txt`, `${A}/in`, `${A}/x.htm`]);
});
