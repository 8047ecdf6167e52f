import { expect } from 'vitest';
import { test as base, workplace } from '../cli/program.ts';
import { readReport } from '../program/batch.ts';
import { accession, startArchive } from '../servers/archive.ts';

const [A, B] = [accession(1), accession(2)];
const FILINGS = { [A]: { 'a.htm': 'a' }, [B]: { 'b.htm': 'b', 'ex1.htm': 'ex' } };
/** Size limit of a file, in bytes. */
const MAX_FILE_BYTES = 4096;

/** A batch of two filings. `run` runs it after the given words of a shell. `ended` has what its last summary says. */
const test = base.extend('batch', async () => {
  const [archive, place] = [await startArchive(FILINGS), await workplace()];
  await place.write('in', `${A}\n${B}\n`);
  const line = 'download -i in --all -d out --checksums --done done --report report --failed failed -j 1';
  const textOf = async (name: string) => (await place.read(name).catch(() => '')).toString();
  return {
    ...place,
    run: (words: string) => place.shell(`${words} $FILINGS ${line}`, archive.env),
    done: async () => (await textOf('done')).match(/^\d{10}-/gm)?.length ?? 0,
    ended: async () => readReport(await textOf('report')).summaries.at(-1),
  };
});

const STOPPED = { exit_code: 8, stopped_by: 'local_io' };

// A report that is full has no summary.
test.for([
  { book: 'done', summary: STOPPED },
  { book: 'report', summary: undefined },
])('$book over its size limit exits with 8, and the next run completes the filings', async (row, { batch }) => {
  const { book, summary } = row;
  await batch.write(book, `${'#'.repeat(MAX_FILE_BYTES - 1)}\n`);
  const { exitCode, stderr } = await batch.run(`ulimit -f ${MAX_FILE_BYTES / 1024}; exec`);
  expect([exitCode, stderr]).toEqual([8, expect.stringContaining(`${book}: cannot write`)]);
  expect([await batch.done(), await batch.ended()]).toMatchObject([0, summary]);
  expect(await batch.run('exec')).toMatchObject({ exitCode: 0 });
  expect([await batch.done(), await batch.ended()]).toMatchObject([2, { exit_code: 0, failed: 0 }]);
});
