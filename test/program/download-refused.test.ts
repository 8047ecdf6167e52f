// Command lines that are refused before anything is requested or written, and files that a run may not replace because
// they are its own.
import { execFileSync } from 'node:child_process';
import { mkdir, rename, symlink } from 'node:fs/promises';
import { test as base, expect } from 'vitest';
import { accession } from '../servers/archive.ts';
import { archivePlace } from './batch.ts';
import { linesOf } from './run.ts';

const [A, B] = [accession(1), accession(2)];
const FILES = { 'run.jsonl': 'a file', done: 'a file', 'failed.txt': 'a file', in: 'a file', 'c.json': '{}' };
const HASH = 'a'.repeat(64);

/** A workplace with an input, a config file, and several names for the same files and directories. */
const test = base.extend('place', async () => {
  const place = await archivePlace({ [A]: { ...FILES, key: 'from the service', 'x.htm': 'x' } });
  const { at, write } = place;
  await write('in', `${A}\n`);
  await write('c.json', '{}');
  await write('key', 'a-key');
  await symlink('in', at('link'));
  await symlink('.', at('here'));
  await symlink('x/new', at('dangling'));
  await symlink('here/x/./new', at('nowhere'));
  // In `links/up/..`, the `..` leads to `deep`, and not back to `links`.
  for (const name of ['deep/er', 'links']) await mkdir(at(name), { recursive: true });
  await symlink('../deep/er', at('links/up'));
  await symlink('up/../later', at('links/later'));
  await symlink('../later', at('links/SHA256SUMS'));
  await mkdir(at('out'));
  return place;
});

const IN = '-i in --all';
const ONE = `${A} x.htm`;
const KEY = '--api-key-file key';

// Patterns, layouts and names have tables of their own.
test.for`
  line                                                       | says
  ${''}                                                      | ${/ACCESSION is missing/}
  ${A}                                                       | ${/no files selected/}
  ${`${ONE} --all`}                                          | ${/FILE cannot be used with --all/}
  ${`${A} ex1.htm --include ex2.htm`}                        | ${/FILE cannot be used with .*\n +hint: quote the pattern/}
  ${`${A} --all --include x*`}                               | ${/--all cannot be used with --include\n +hint: omit --all/}
  ${`${A} ${IN}`}                                            | ${/--input cannot be used with ACCESSION/}
  ${`${A} ${B} x.htm`}                                       | ${/accession number\n +hint: for several filings/}
  ${`x.htm y.htm ${B}`}                                      | ${/'x.htm' is not an accession number\n.*the accession number comes first: \S+ x.htm y.htm\n/}
  ${`${A}/x.htm ${B}`}                                       | ${/is not an accession number/}
  ${'-i missing --all'}                                      | ${/--input missing: no such file/}
  ${`${A} a b -o x`}                                         | ${/--output requires exactly one FILE/}
  ${`${ONE} -o x -d out`}                                    | ${/--output/}
  ${`${ONE} -o here`}                                        | ${/--output must be a file, .*\n +hint: .*--directory here\n/}
  ${`${ONE} -o new/`}                                        | ${/--output must be a file, .*\n +hint: .* --directory new\/\n/}
  ${`${ONE} -o new/.`}                                       | ${/--output must be a file/}
  ${`${ONE} --report here`}                                  | ${/--report must be a file, not a directory: here\n +hint:/}
  ${`${ONE} --report new/`}                                  | ${/--report must be a file/}
  ${`${IN} --done new/`}                                     | ${/--done must be a file/}
  ${`${ONE} -o fifo --report fifo`}                          | ${/--report and --output are the same file/}
  ${`${A} a b --sha256 ${HASH}`}                             | ${/--sha256/}
  ${`${ONE} --sha256 abc`}                                   | ${/--sha256/}
  ${`${A} --all --done d`}                                   | ${/--done requires --input/}
  ${`${A} --all --exclude {a`}                               | ${/--exclude.*\{a/}
  ${`${A} --all --layout {accession_no}`}                    | ${/--layout.*file_name/}
  ${`${A} a\x1bb`}                                           | ${/file name 'a\\x1bb'/}
  ${`${A} R2.htm r2.htm`}                                    | ${/r2\.htm/}
  ${`${ONE} --api-key-file - --jwt-file -`}                  | ${/stdin/}
  ${'-i - --all --api-key-file -'}                           | ${/stdin/}
  ${`${ONE} -o - --report -`}                                | ${/--output - and --report - cannot both write to stdout/}
  ${`${ONE} -o - --dry-run`}                                 | ${/--output - and --dry-run cannot both write to stdout/}
  ${`${ONE} -o /proc/self/fd/1 --report /dev/stdout`}        | ${/stdout/}
  ${`${IN} --failed -`}                                      | ${/--failed must be a file/}
  ${`${IN} --done -`}                                        | ${/--done must be a file/}
  ${`${IN} --failed .`}                                      | ${/--failed must be a file/}
  ${`${IN} --failed fifo`}                                   | ${/--failed must be a file/}
  ${`${IN} --failed in`}                                     | ${/--input and --failed are the same file\n +hint: .*--failed\n/}
  ${`${IN} --report link`}                                   | ${/same file/}
  ${`${IN} --report x --failed here/x`}                      | ${/same file/}
  ${`${IN} --done dangling --report nowhere`}                | ${/same file/}
  ${`${IN} --report links/later --failed deep/later`}        | ${/same file/}
  ${`${IN} --done c.json --config c.json`}                   | ${/the config file and --done are the same file/}
  ${`${ONE} -o here/x --report x`}                           | ${/same file/}
  ${`${ONE} --report x.htm`}                                 | ${/x\.htm': it is the same file as --report/}
  ${`${ONE} -d new --failed here/new/x.htm`}                 | ${/same file/}
  ${`${IN} ${KEY} --report here/key`}                        | ${/the key or token file and --report are the same/}
  ${`${IN} ${KEY} --jwt-file key`}                           | ${/same file/}
  ${`${A} key ${KEY}`}                                       | ${/key': it is the same file as the key or token file/}
  ${`${IN} --checksums -d out --report out/SHA256SUMS`}      | ${/--report cannot be named SHA256SUMS/}
  ${`${IN} --checksums -d out --done here/out/a/sha256sums`} | ${/--done cannot be named SHA256SUMS/}
  ${`${IN} --checksums -d out --report links/SHA256SUMS`}    | ${/--report cannot be named SHA256SUMS/}
`(
  'exits with 2 and changes nothing: download $line',
  async ({ line, says }: { line: string; says: RegExp }, { place }) => {
    const { archive, at, filings, names, read } = place;
    if (line.includes('fifo')) execFileSync('mkfifo', [at('fifo')]);
    const before = (await names()).sort();
    const { FILINGS_API_KEY, ...withoutKey } = archive.env;
    const env = line.includes('--api-key-file') ? withoutKey : archive.env;
    const { exitCode, stderr, stdout } = await filings(['download', ...line.split(' ').filter(Boolean)], env);
    expect([exitCode, stdout.toString()], stderr).toEqual([2, '']);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain('\x1b');
    expect(archive.asked()).toEqual([]);
    expect((await names()).sort()).toEqual(before);
    expect([`${await read('in')}`, `${await read('key')}`]).toEqual([`${A}\n`, 'a-key']);
  },
);

test.for`
  source                  | env                                                                  | config
  ${'--report and so on'} | ${{}}                                                                | ${{}}
  ${'names of links'}     | ${{ REAL: 'out', FILINGS_API_KEY: '', FILINGS_API_KEY_FILE: 'key' }} | ${{}}
  ${'a link in DIR'}      | ${{ DIR: 'here' }}                                                   | ${{}}
  ${'a variable'}         | ${{ FILINGS_API_KEY: '', FILINGS_API_KEY_FILE: 'key' }}              | ${{}}
  ${'the config file'}    | ${{ FILINGS_API_KEY: '' }}                                           | ${{ apiKeyFile: 'key' }}
  ${'a key for JWTs'}     | ${{}}                                                                | ${{ jwt: { secretFile: 'key' } }}
`('only the listed files fail that would replace a file of the run: $source', async ({ env, config }, { place }) => {
  const { archive, at, filings, read, write } = place;
  const secret = 'a-key-that-is-long-enough-for-a-secret';
  await write('key', secret);
  await write('c.json', JSON.stringify({ ...config, baseUrl: archive.url }));
  const own = '--report run.jsonl --done done --failed failed.txt --config c.json --layout {file_name}';
  const { DIR = '.', REAL, ...settings } = env;
  for (const name of REAL ? [...Object.keys(FILES), 'key'] : []) {
    await rename(at(name), at(`${REAL}/${name}`)).catch(() => {});
    await symlink(`${REAL}/${name}`, at(name));
  }
  const args = `download ${IN} -d ${DIR} ${own} --if-exists overwrite`.split(' ');
  const { exitCode, stderr } = await filings(args, { ...archive.env, FILINGS_BASE_URL: archive.url, ...settings });
  expect(exitCode, stderr).toBe(3);
  const refused = Object.keys(FILES).map((name) => `${A} ${name}`);
  const isKeyUsed = JSON.stringify([settings, config]).includes('"key"');
  expect(linesOf(await read('failed.txt')).sort()).toEqual([...refused, ...(isKeyUsed ? [`${A} key`] : [])].sort());
  expect([`${await read('in')}`, `${await read('x.htm')}`]).toEqual([`${A}\n`, 'x']);
  expect(`${await read('key')}`).toBe(isKeyUsed ? secret : 'from the service');
});

test('a file named - is not stdin or stdout, and /dev/null may be used for several files', async ({ place }) => {
  const { archive, at, filings } = place;
  const args = ['download', ...ONE.split(' '), '--api-key-file', '-', '--report', at('-')];
  expect((await filings(args, { FILINGS_BASE_URL: archive.url }, { input: 'a-key' })).exitCode).toBe(0);
  const devices = ['download', ...ONE.split(' '), '-o', '/dev/null', '--report', '/dev/null'];
  expect((await filings(devices, archive.env)).exitCode).toBe(0);
});
