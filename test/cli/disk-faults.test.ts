import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { readReport } from '../program/batch.ts';
import { whole } from '../servers/answers.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { scripted } from '../servers/scripted.ts';
import { content } from '../service/transfer-fixture.ts';
import { ACCESSION, proving, serviceAt, test } from './program.ts';

test('exits with 8 and keeps only the old file if the new one exceeds the file size limit', async ({ place }) => {
  const file = content(3_000_000);
  const server = await scripted(whole(file));
  await place.write('a.htm', 'old');
  const line = `ulimit -f 1000; $FILINGS download ${ACCESSION} a.htm --if-exists overwrite`;
  const { exitCode, stderr } = await place.shell(line, serviceAt(server.url));
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/larger than allowed/);
  expect([await place.names(), (await place.read('a.htm')).toString()]).toEqual([['a.htm'], 'old']);
});

test('exits with 8 if SHA256SUMS exceeds its limit, and the next run repairs and completes it', async ({ place }) => {
  const server = await scripted(whole(content(100)));
  // The limit is 1024 bytes.
  const comment = `# ${'x'.repeat(990)}\n`;
  await place.write('SHA256SUMS', comment);
  const line = `$FILINGS download ${ACCESSION} a.htm --checksums`;
  const { exitCode, stderr } = await place.shell(`ulimit -f 1; ${line}`, serviceAt(server.url));
  expect(exitCode, stderr).toBe(8);
  expect(stderr).toMatch(/SHA256SUMS: cannot write: the file is larger than allowed/);
  expect((await place.read('SHA256SUMS')).toString()).toMatch(/^# x+\n[\da-f]{31}$/);
  expect(await place.names()).toEqual(['SHA256SUMS']);
  expect(await place.shell(line, serviceAt(server.url))).toMatchObject({ exitCode: 0 });
  expect((await place.read('SHA256SUMS')).toString()).toMatch(/^# x+\n#[\da-f]{30}\n[\da-f]{64} {2}a\.htm\n$/);
  expect(await place.shell('sha256sum --strict -c SHA256SUMS')).toMatchObject({ exitCode: 0 });
});

/** Shortens the first write that is long enough for a line to 40 bytes. */
const SHORT_WRITE = `const fs = require('node:fs');
const { writeSync } = fs;
fs.writeSync = (fd, bytes, ...rest) => {
  if (bytes.length <= 40) return writeSync(fd, bytes, ...rest);
  fs.writeSync = writeSync;
  return writeSync(fd, bytes, 0, 40);
};`;

test('a line of SHA256SUMS that was written in part becomes a comment, and a whole one follows', async ({ place }) => {
  const file = content(100);
  const server = await scripted(whole(file));
  const env = { ...serviceAt(server.url), ...(await place.hook(SHORT_WRITE)) };
  const { exitCode, stderr } = await place.filings(['download', ACCESSION, 'a.htm', '--checksums'], env);
  expect(exitCode, stderr).toBe(0);
  const hash = createHash('sha256').update(file).digest('hex');
  expect((await place.read('SHA256SUMS')).toString()).toBe(`#${hash.slice(1, 40)}\n${hash}  a.htm\n`);
});

test('a line of the report that was written in part is written again as a whole', async ({ place }) => {
  const server = await scripted(whole(content(100)));
  const env = { ...serviceAt(server.url), ...(await place.hook(SHORT_WRITE)) };
  const args = ['download', ACCESSION, 'a.htm', 'b.htm', '-j', '1', '--report', 'report'];
  expect(await place.filings(args, env)).toMatchObject({ exitCode: 0 });
  const report = `${await place.read('report')}`;
  expect(report).toMatch(/^\{"v":1.{34}\n\{"v":1/);
  expect(readReport(report)).toMatchObject({ files: [{ path: 'a.htm' }, { path: 'b.htm' }], endsSummed: true });
});

test('reports too many open files if it cannot load its own code', async ({ place }) => {
  const reports: string[] = [];
  // With a lower limit Node cannot start and may crash. With a higher one it has enough descriptors.
  for (let limit = 16; limit <= 28 && (proving || reports.length === 0); limit += 1) {
    const line = `ulimit -n ${limit}; exec $FILINGS --sandbox list ${ACCESSION} --retries 0`;
    const { exitCode, killedBy, stderr } = await place.shell(line);
    if (killedBy !== undefined || stderr.startsWith('node:')) continue;
    if (exitCode !== 0) expect([limit, stderr]).toEqual([limit, expect.stringMatching(/^filings: /)]);
    if (/^filings: too many open files: raise the limit \(ulimit -n\), or lower --jobs\n/.test(stderr))
      reports.push(stderr);
  }
  expect(reports).not.toEqual([]);
});

/** Fails each call $CALL whose last path matches $PATH with the error $CODE, or runs the code $CODE before it. */
const FAILING_CALL = `const fs = require('node:fs');
const { CALL, PATH, CODE } = process.env;
const real = fs[CALL];
fs[CALL] = (...args) => {
  const path = args.findLast((arg) => typeof arg === 'string');
  if (!new RegExp(PATH).test(path)) return real(...args);
  if (CODE.startsWith('E')) throw Object.assign(new Error(CODE), { code: CODE });
  new Function('fs', CODE)(fs);
  return real(...args);
};`;

const [A, B] = [accession(1), accession(2)];
const MOVED = `fs.renameSync('m/${A}', 'm/away')`;
const REFUSED = 'a.htm: cannot write: the file system refuses the name, which has 5 bytes';
const UNASKED = 'b.htm: not requested: ';
const MODES = { skip: [], overwrite: ['--if-exists', 'overwrite'] };
type Fault = Record<'call' | 'path' | 'code' | 'says' | 'failed' | 'requested', string> & { mode: keyof typeof MODES };

// One file's trouble is its own, and one directory's. `requested` are the files of A that are requested, which has
// a.htm and b.htm; the file of B is always downloaded.
test.for`
  what                                         | mode           | call            | path                 | code              | says                                              | failed  | requested
  ${'a refused name'}                          | ${'skip'}      | ${'openSync'}   | ${'/\\.a\\.htm\\.'}  | ${'EINVAL'}       | ${REFUSED}                                        | ${'a'}  | ${'ab'}
  ${'a refused name, as on exFAT'}             | ${'skip'}      | ${'openSync'}   | ${'/\\.a\\.htm\\.'}  | ${'ENOENT'}       | ${REFUSED}                                        | ${'a'}  | ${'ab'}
  ${'a name too long'}                         | ${'skip'}      | ${'openSync'}   | ${'/\\.a\\.htm\\.'}  | ${'ENAMETOOLONG'} | ${REFUSED}                                        | ${'a'}  | ${'ab'}
  ${'a file of another user'}                  | ${'overwrite'} | ${'renameSync'} | ${'/a\\.htm$'}       | ${'EPERM'}        | ${'a.htm: cannot write: operation not permitted'} | ${'a'}  | ${'ab'}
  ${'a directory without permission'}          | ${'skip'}      | ${'accessSync'} | ${`${A}$`}           | ${'EACCES'}       | ${UNASKED}                                        | ${'ab'} | ${''}
  ${'a directory that refuses files'}          | ${'skip'}      | ${'openSync'}   | ${`${A}/\\.`}        | ${'EACCES'}       | ${UNASKED}                                        | ${'ab'} | ${'a'}
  ${'a SHA256SUMS of another user'}            | ${'skip'}      | ${'openSync'}   | ${`${A}/SHA256SUMS`} | ${'EACCES'}       | ${UNASKED}                                        | ${'ab'} | ${''}
  ${'a directory that was moved away'}         | ${'skip'}      | ${'linkSync'}   | ${'/a\\.htm$'}       | ${MOVED}          | ${'the directory no longer exists'}               | ${'ab'} | ${'a'}
  ${'no hard links'}                           | ${'skip'}      | ${'linkSync'}   | ${''}                | ${'EIO'}          | ${''}                                             | ${''}   | ${'ab'}
  ${'no hard links, said like a refused name'} | ${'skip'}      | ${'linkSync'}   | ${''}                | ${'EINVAL'}       | ${''}                                             | ${''}   | ${'ab'}
  ${'a file that vanishes at once'}            | ${'skip'}      | ${'linkSync'}   | ${''}                | ${'EEXIST'}       | ${''}                                             | ${''}   | ${'ab'}
`('a run goes on after $what', async (row: Fault, { place }) => {
  const { mode, call, path, code, says } = row;
  const [failed, requested] = [[...row.failed], [...row.requested]];
  const archive = await startArchive({ [A]: { 'a.htm': 'a', 'b.htm': 'b' }, [B]: { 'c.htm': 'c' } });
  await place.write(`m/${A}/SHA256SUMS`, '# no entry yet\n');
  await place.write('in', `${A}\n${B}\n`);
  const line = ['download', '-i', 'in', '--all', '-j', '1', '-d', 'm', '--checksums', '--report', 'report'];
  const env = { ...archive.env, ...(await place.hook(FAILING_CALL)), CALL: call, PATH: path, CODE: code };
  const { exitCode, stderr } = await place.filings([...line, ...MODES[mode as 'skip']], env);
  expect([exitCode, stderr]).toEqual([failed.length > 0 ? 3 : 0, expect.stringContaining(says)]);
  const { files: ended } = readReport(await place.read('report'));
  const failures = ended.filter(({ result }) => result === 'failed').map(({ path }) => path);
  expect(failures).toEqual(failed.map((name) => `m/${A}/${name}.htm`));
  const asked = archive.asked().filter((what) => what.startsWith(`${A}/`));
  expect(asked).toEqual(requested.map((name) => `${A}/${name}.htm`));
  expect(`${await place.read(`m/${B}/c.htm`)}`).toBe('c');
});
