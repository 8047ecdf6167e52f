import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workplace } from '../cli/program.ts';
import { readReport } from '../program/batch.ts';
import { accession, startArchive } from '../servers/archive.ts';

const [A, B] = [accession(1), accession(2)];
const FILINGS = { [A]: { 'a.htm': 'a', 'ex1.htm': 'ex' }, [B]: { 'b.htm': 'b' } };
/** Size limit of a file, in bytes. */
const MAX_FILE_BYTES = 4096;
const LIMITED = `ulimit -f ${MAX_FILE_BYTES / 1024}; exec`;
const DONE = /^\d{10}-/gm;

/** A batch whose file `book` already has `content`. `run` runs it after the given words of a shell. */
async function setUp(book: string, content = `${'#'.repeat(MAX_FILE_BYTES - 1)}\n`) {
  const archive = await startArchive(FILINGS);
  const place = await workplace();
  await writeFile(join(place.path, 'in'), `${A}\n${B}\n`);
  await mkdir(join(place.path, 'out', A), { recursive: true });
  await writeFile(join(place.path, book), content);
  const line = 'download -i in --all -d out --checksums --done done --report report --failed failed -j 1';
  return {
    run: async (words: string) => {
      const { exitCode, stderr } = await place.shell(`${words} $FILINGS ${line}`, archive.env);
      return { exitCode, stderr };
    },
    done: async () => (await place.read('done').catch(() => '')).toString().match(DONE)?.length ?? 0,
    report: async () => readReport(await place.read('report')),
  };
}

test.each([
  ['the done list', 'done', /--done \S*\/done: cannot write/],
  ['a checksum file', `out/${A}/SHA256SUMS`, /SHA256SUMS: cannot write/],
])('%s over its size limit exits with 8, and the next run completes the filings', async (_what, book, says) => {
  const { run, done, report } = await setUp(book);
  expect(await run(LIMITED)).toEqual({ exitCode: 8, stderr: expect.stringMatching(says) });
  const { summaries, endsSummed } = await report();
  expect(summaries).toMatchObject([{ exit_code: 8, stopped_by: 'local_io', done: 0 }]);
  expect([endsSummed, await done()]).toEqual([true, 0]);
  expect(await run('exec')).toMatchObject({ exitCode: 0 });
  expect((await report()).summaries[1]).toMatchObject({ done: 0, failed: 0, exit_code: 0 });
  expect(await done()).toBe(2);
});

test('a report over its size limit exits with 8, and only reported filings are done', async () => {
  const { run, done, report } = await setUp('report');
  expect(await run(LIMITED)).toEqual({ exitCode: 8, stderr: expect.stringMatching(/--report.*cannot write/) });
  expect(await done()).toBe(0);
  expect(await run('exec')).toMatchObject({ exitCode: 0 });
  expect((await report()).files).toHaveLength(3);
});

test('a SHA256SUMS that cannot be flushed exits with 8, and the next run completes the filing', async () => {
  const sums = `out/${A}/SHA256SUMS`;
  const { run, done } = await setUp(sums, '');
  const faulty = `exec strace -f -o /dev/null -P "$PWD/${sums}" -e trace=fsync -e inject=fsync:error=EIO`;
  const stderr = expect.stringMatching(/SHA256SUMS: cannot write: the disk reported an error/);
  expect(await run(faulty)).toEqual({ exitCode: 8, stderr });
  expect(await done()).toBe(0);
  expect(await run('exec')).toMatchObject({ exitCode: 0 });
  expect(await done()).toBe(2);
});
