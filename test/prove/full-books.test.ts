import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workplace } from '../cli/program.ts';
import { readReport } from '../program/batch.ts';
import { accession, startArchive } from '../servers/archive.ts';

const [A, B] = [accession(1), accession(2)];
const FILINGS = { [A]: { 'a.htm': 'a', 'ex1.htm': 'ex' }, [B]: { 'b.htm': 'b' } };
/** As long as a file may be here, in bytes. */
const MOST = 4096;
const FULL = `${'#'.repeat(MOST - 1)}\n`;

/** Batches under a limit of file sizes, where one of their books is full already. */
async function setUp(book: string) {
  const archive = await startArchive(FILINGS);
  const place = await workplace();
  await writeFile(join(place.path, 'in'), `${A}\n${B}\n`);
  await mkdir(join(place.path, 'out', A), { recursive: true });
  await writeFile(join(place.path, book), FULL);
  const line = 'download -i in --all -d out --checksums --done done --report report --failed failed -j 1';
  return {
    place,
    limited: () => place.shell(`ulimit -f ${MOST / 1024}; exec $FILINGS ${line}`, archive.env),
    unlimited: () => place.shell(`exec $FILINGS ${line}`, archive.env),
  };
}

it.each([
  ['the done list', 'done', /--done \S*\/done: cannot write/],
  ['a checksum file', `out/${A}/SHA256SUMS`, /SHA256SUMS: cannot write/],
])('%s that is full: 8, summed up, nothing is done; the next run does it', async (_what, book, says) => {
  const { place, limited, unlimited } = await setUp(book);
  const { exitCode, stderr } = await limited();
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 8, stderr: expect.stringMatching(says) });
  const { summaries, endsSummed } = readReport(await place.read('report'));
  expect(summaries).toMatchObject([{ exit_code: 8, stopped_by: 'local_io', done: 0 }]);
  expect(endsSummed).toBe(true);
  expect((await place.read('done').catch(() => Buffer.from(''))).toString()).not.toMatch(/^\d{10}-/m);
  expect((await unlimited()).exitCode).toBe(0);
  expect(readReport(await place.read('report')).summaries[1]).toMatchObject({ done: 0, failed: 0, exit_code: 0 });
  expect((await place.read('done')).toString().match(/^\d{10}-/gm)).toHaveLength(2);
});

it('a report that is full: 8, and nothing is done that is not reported', async () => {
  const { place, limited, unlimited } = await setUp('report');
  const { exitCode, stderr } = await limited();
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 8, stderr: expect.stringMatching(/--report.*cannot write/) });
  expect((await place.read('done')).toString()).toBe('');
  expect((await unlimited()).exitCode).toBe(0);
  expect(readReport(await place.read('report')).files).toHaveLength(3);
});

it('checksums that can’t be flushed (strace): 8, the filing is not done; the next run does it', async () => {
  const archive = await startArchive(FILINGS);
  const place = await workplace();
  await writeFile(join(place.path, 'in'), `${A}\n`);
  await mkdir(join(place.path, 'out', A), { recursive: true });
  const sums = join(place.path, 'out', A, 'SHA256SUMS');
  await writeFile(sums, '');
  const line = 'download -i in --all -d out --checksums --done done';
  const fault = `strace -f -o /dev/null -P '${sums}' -e trace=fsync -e inject=fsync:error=EIO`;
  const { exitCode, stderr } = await place.shell(`exec ${fault} $FILINGS ${line}`, archive.env);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 8,
    stderr: expect.stringMatching(/SHA256SUMS: cannot write: the disk reported an error/),
  });
  expect((await place.read('done')).toString()).toBe('');
  expect((await place.shell(`exec $FILINGS ${line}`, archive.env)).exitCode).toBe(0);
  expect((await place.read('done')).toString()).toMatch(`${A}\t`);
});
