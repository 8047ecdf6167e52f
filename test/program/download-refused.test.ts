import { execFileSync } from 'node:child_process';
import { link, mkdir, symlink } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { accession, startArchive } from '../servers/archive.ts';
import { archivePlace, readReport } from './batch.ts';
import { linesOf, workplace } from './run.ts';

const A = accession(1);
const FILES = { 'run.jsonl': 'a file', done: 'a file', 'failed.txt': 'a file', in: 'a file', 'c.json': '{}' };
const HASH = 'a'.repeat(64);

/** A workplace with an input, a config file, and several names for the same files and directories. */
async function setUp() {
  const place = await archivePlace({ [A]: { ...FILES, 'x.htm': 'x' } });
  const { at, write } = place;
  await write('in', `${A}\n`);
  await write('c.json', '{}');
  await write('report', '');
  await link(at('report'), at('hard'));
  await symlink('in', at('link'));
  await symlink('.', at('here'));
  await symlink('x/new', at('dangling'));
  await symlink('here/x/./new', at('nowhere'));
  await mkdir(at('out'));
  await symlink('out/SHA256SUMS', at('sums-link'));
  await write('key', 'a-key');
  await link(at('key'), at('hard-key'));
  await write('out/SHA256SUMS', '');
  await link(at('out/SHA256SUMS'), at('hard-sums'));
  execFileSync('mkfifo', [at('fifo')]);
  const download = (...args: string[]) => {
    const { FILINGS_API_KEY, ...env } = place.archive.env;
    const hasKey = args.includes('--api-key-file');
    return place.filings(['download', ...args], hasKey ? env : place.archive.env);
  };
  return { ...place, download };
}

const IN = ['-i', 'in', '--all'];
const ONE = [A, 'x.htm'];
const KEY = ['--api-key-file', 'key'];
const SUMS = ['--checksums', '-d', 'out'];

describe('an invalid command line exits with 2 without a request or a change of files', () => {
  it.each<[args: readonly string[], says: RegExp]>([
    // Selection of files.
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
    // Options for a single file, and options for an input.
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
    // Patterns and layouts. Their own tests have more cases.
    [[A, '--all', '--exclude', '{a'], /--exclude.*\{a/],
    [[A, '--all', '--include', '['], /--include.*\[/],
    [[A, '--all', '--layout', '{accession_no}'], /--layout.*file_name/],
    // Names.
    [[A, '../x'], /file name/],
    [[A, 'a\x1bb'], /file name 'a\\x1bb'/],
    [[A, 'xslF345X05/form4.xml'], /-o/],
    [[A, 'R2.htm', 'r2.htm'], /R2\.htm/],
    // One stream for one purpose, one file for one purpose.
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
    [[...ONE, '-d', 'new', '--failed', 'here/new/x.htm'], /same file/],
    [[...ONE, '--done', 'dangling', '--report', 'run.jsonl', '-i', 'in'], /--input cannot be used/],
    [[...IN, '--done', 'dangling', '--report', 'nowhere'], /same file/],
    // Files of the key and of the token.
    [[...IN, ...KEY, '--report', 'key'], /--report and --api-key-file are the same file/],
    [[...IN, ...KEY, '--failed', 'hard-key'], /same file/],
    [[...IN, ...KEY, '--done', 'here/key'], /same file/],
    [['-i', 'key', '--all', ...KEY], /same file/],
    [[...ONE, ...KEY, '-o', 'key'], /same file/],
    [[...ONE, ...KEY, '-o', 'hard-key'], /same file/],
    [[...IN, ...KEY, '--jwt-file', 'hard-key'], /--api-key-file and --jwt-file are the same file/],
    [[A, 'key', ...KEY], /--api-key-file and the file 'key' are the same file/],
    [[A, 'x.htm', 'hard-key', ...KEY, '--if-exists', 'overwrite'], /same file/],
    // A SHA256SUMS that the run writes.
    [[...IN, ...SUMS, '--report', 'out/SHA256SUMS'], /--report: --checksums keeps a SHA256SUMS/],
    [[...IN, ...SUMS, '--failed', `out/${A}/SHA256SUMS`], /--failed: --checksums keeps/],
    [[...IN, ...SUMS, '--done', 'here/out/a/b/sha256sums'], /--done: --checksums keeps/],
    [[...IN, ...SUMS, '--report', 'sums-link'], /--report: --checksums keeps/],
    [[...IN, ...SUMS, '--layout', '{file_name}', '--report', 'hard-sums'], /--report: --checksums keeps/],
    [['-i', 'out/SHA256SUMS', '--all', ...SUMS], /--input: --checksums keeps/],
    [[...IN, ...SUMS, '--api-key-file', 'out/SHA256SUMS'], /--api-key-file: --checksums keeps/],
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
    expect(`${await read('key')}`).toBe('a-key');
  });
});

it('a run file may be called SHA256SUMS without --checksums, or outside the directory of the files', async () => {
  const { download } = await setUp();
  expect((await download(...ONE, '-d', 'out', '--report', 'out/SHA256SUMS')).exitCode).toBe(0);
  expect((await download(...ONE, ...SUMS, '--report', 'SHA256SUMS')).exitCode).toBe(0);
});

describe('only the listed file that would replace the file of a key or a token fails', () => {
  const SOURCES: readonly [source: string, env: Record<string, string>, config: object, says: RegExp][] = [
    ['a variable', { FILINGS_API_KEY_FILE: 'key' }, {}, /the file of FILINGS_API_KEY_FILE/],
    ['the config file', {}, { apiKeyFile: '../../work/key' }, /the file of \/.*config\.json: apiKeyFile/],
    ['profile', { FILINGS_PROFILE: 'p' }, { profiles: { p: { apiKeyFile: '~/work/key' } } }, /profiles\.p\.apiKeyFile/],
    ['an unused level', { FILINGS_API_KEY: 'k' }, { apiKeyFile: '../../work/key' }, /config\.json: apiKeyFile/],
    [
      'two levels',
      { FILINGS_API_KEY_FILE: 'key' },
      { apiKeyFile: '../../work/key' },
      /the file of FILINGS_API_KEY_FILE/,
    ],
    ['the command of the key', {}, { apiKeyCommand: ['../../work/key'] }, /the file of \/.*: apiKeyCommand/],
    ['FILINGS_JWT_FILE', { FILINGS_API_KEY: 'k', FILINGS_JWT_FILE: 'key' }, {}, /the file of FILINGS_JWT_FILE/],
    ['jwtFile', { FILINGS_API_KEY: 'k' }, { jwtFile: '../../work/key' }, /the file of \/.*: jwtFile/],
    ['jwt', { FILINGS_API_KEY: 'k' }, { jwt: { secretFile: '../../work/key' } }, /the file of \/.*: jwt\.secretFile/],
    ['authorities', { FILINGS_API_KEY: 'k', NODE_EXTRA_CA_CERTS: 'key' }, {}, /the file of NODE_EXTRA_CA_CERTS/],
  ];

  it.each(SOURCES)('%s', async (_, env, config, says) => {
    const foreign = 'from the service';
    const archive = await startArchive({
      [A]: { key: foreign, 'x.htm': 'x' },
      [accession(2)]: { 'hard-key': foreign, KEY: foreign },
    });
    const { at, config: writeConfig, filings, read, write } = await workplace();
    const own = 'apiKeyCommand' in config ? '#!/bin/sh\necho a-key\n' : 'a-key-that-is-long-enough-for-a-secret';
    await write('key', own, 0o700);
    await link(at('key'), at('hard-key'));
    await write('in', `${A}\n${accession(2)}\n`);
    await writeConfig({ ...config, baseUrl: archive.url, keyIn: 'header' });
    const options = ['--layout', '{file_name}', '--if-exists', 'overwrite', '--report', 'run.jsonl'];
    const { exitCode, stderr } = await filings(['download', ...IN, ...options], env);
    expect(exitCode, stderr).toBe(3);
    expect(stderr).toMatch(says);
    const reportLines = readReport(await read('run.jsonl')).files;
    expect(
      reportLines.map(({ file_name, error }) => `${file_name} ${error?.exit_code ?? 'downloaded'}`).sort(),
    ).toEqual(['KEY 9', 'hard-key 9', 'key 9', 'x.htm downloaded'].sort());
    expect([`${await read('key')}`, `${await read('hard-key')}`]).toEqual([own, own]);
    expect(archive.asked()).not.toContain(`${A}/key`);
  });
});

it('exits with 2 if another name of the report is the SHA256SUMS of a file', async () => {
  const { at, download, read, write } = await setUp();
  await write(`out/${A}/SHA256SUMS`, '');
  await link(at(`out/${A}/SHA256SUMS`), at('run.jsonl'));
  const { exitCode, stderr } = await download(
    A,
    'x.htm',
    '--layout',
    '{accession_no}/{file_name}',
    ...SUMS,
    '--report',
    'run.jsonl',
  );
  expect(exitCode, stderr).toBe(2);
  expect(stderr).toContain(`out/${A}/x.htm: the SHA256SUMS beside it is the file of --report`);
  expect(readReport(await read('run.jsonl')).files).toMatchObject([{ file_name: 'x.htm', result: 'failed' }]);
});

it.each([[['-d', '.']], [['-d', 'here']], [['-d', '.', '--if-exists', 'overwrite']]])(
  'only a listed file that would replace a file of the run fails (%j)',
  async (args) => {
    const { download, read } = await setUp();
    const own = ['--report', 'run.jsonl', '--done', 'done', '--failed', 'failed.txt', '--config', 'c.json'];
    const { exitCode, stderr } = await download(...IN, '--layout', '{file_name}', ...own, ...args, '-j', '1');
    expect(exitCode, stderr).toBe(3);
    const reportLines = readReport(await read('run.jsonl')).files;
    const refused = Object.keys(FILES).map((name) => `${name} 9`);
    expect(
      reportLines.map(({ file_name, error }) => `${file_name} ${error?.exit_code ?? 'downloaded'}`).sort(),
    ).toEqual([...refused, 'x.htm downloaded'].sort());
    expect(`${await read('in')}`).toBe(`${A}\n`);
    expect(linesOf(await read('failed.txt'))).toHaveLength(refused.length);
  },
);

it('--api-key-file - does not conflict with a file named -', async () => {
  const { archive, at, filings } = await archivePlace({ [A]: { 'x.htm': 'x' } });
  const env = { FILINGS_BASE_URL: archive.url };
  const args = ['download', ...ONE, '--api-key-file', '-', '--report', at('-')];
  expect((await filings(args, env, { input: 'a-key' })).exitCode).toBe(0);
});

it('/dev/null may be used for --output and --report', async () => {
  const { download } = await setUp();
  expect((await download(...ONE, '-o', '/dev/null', '--report', '/dev/null')).exitCode).toBe(0);
});

it.each([[[A]], [['-i', 'in']]])('--all with --exclude selects all other files (%j)', async (filing) => {
  const { archive, download } = await setUp();
  const { exitCode, stderr } = await download(...filing, '--all', '--exclude', '*.json*', '-d', 'out');
  expect(exitCode, stderr).toBe(0);
  expect(archive.asked().sort()).toEqual([A, `${A}/done`, `${A}/failed.txt`, `${A}/in`, `${A}/x.htm`]);
});
