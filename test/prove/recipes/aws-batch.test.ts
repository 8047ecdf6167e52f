import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BIN, NODE, type Workplace, workplace } from '../../cli/program.ts';
import { readReport } from '../../program/batch.ts';
import { jobDefinition } from '../../recipes.ts';
import { accession, startArchive } from '../../servers/archive.ts';

const SIZE = 5;
const filings = Object.fromEntries(
  Array.from({ length: 20 }, (_, n) => [accession(n), { 'ex1.htm': `one ${n}`, 'ex2.htm': `two ${n}`, 'r.xml': 'no' }]),
);
const { command, environment, secrets } = jobDefinition().containerProperties;

/** The environment of a task as AWS Batch makes it: what the definition says, the secret's value, the index. */
function taskEnvironment(url: string, array: Record<string, string>): Record<string, string> {
  const told = environment.map(({ name, value }: { name: string; value: string }) => [name, value]);
  const secret = secrets.map(({ name }: { name: string }) => [name, 'a-key']);
  return { ...Object.fromEntries([...told, ...secret]), FILINGS_BASE_URL: url, ...array };
}

/** The definition's command, with `/data` in the test's folder. */
async function task(place: Workplace, env: Record<string, string>) {
  const [shell, option, line] = command;
  expect([shell, option]).toEqual(['sh', '-c']);
  const script = (line as string).replaceAll('/data/', `${place.path}/`);
  return place.shell(script, { ...env, PATH: `${place.home}:${process.env.PATH}` });
}

async function dataPlace(): Promise<Workplace> {
  const place = await workplace();
  await mkdir(join(place.path, 'books'));
  await writeFile(join(place.home, 'filings'), `#!/bin/sh\nexec ${NODE} ${BIN} "$@"\n`, { mode: 0o755 });
  await writeFile(join(place.path, 'accessions.txt'), Object.keys(filings).join('\n'));
  return place;
}

test('all tasks of the array together fetch everything, each its own', async () => {
  const archive = await startArchive(filings);
  const place = await dataPlace();
  const array = { AWS_BATCH_JOB_ARRAY_SIZE: `${SIZE}` };
  const run = async (index: number) => {
    const env = taskEnvironment(archive.url, { ...array, AWS_BATCH_JOB_ARRAY_INDEX: `${index}` });
    const ended = await task(place, env);
    expect(ended.exitCode, ended.stderr).toBe(0);
    const { files } = readReport(await place.read(`books/report.${index}.jsonl`));
    return [...new Set(files.map(({ accession_no }) => `${accession_no}`))];
  };
  const taken = await Promise.all(Array.from({ length: SIZE }, (_, index) => run(index)));
  // Disjoint, and nothing is missing.
  expect(taken.flat().sort()).toEqual(Object.keys(filings).sort());
  expect(taken.every((each) => each.length > 0)).toBe(true);
  for (const number of Object.keys(filings)) {
    expect((await readdir(join(place.path, 'filings', number))).sort()).toEqual(['SHA256SUMS', 'ex1.htm', 'ex2.htm']);
  }
  expect((await readdir(join(place.path, 'books'))).length).toBe(SIZE * 3);
});

test.each([
  ['outside an array', {}, 'none of'],
  ['an index without a size', { AWS_BATCH_JOB_ARRAY_INDEX: '1' }, 'AWS_BATCH_JOB_ARRAY_SIZE is not set'],
  [
    'an index that is not there',
    { AWS_BATCH_JOB_ARRAY_INDEX: '5', AWS_BATCH_JOB_ARRAY_SIZE: '5' },
    'the indices are 0 to 4',
  ],
  [
    'inside another engine’s array',
    { AWS_BATCH_JOB_ARRAY_INDEX: '1', AWS_BATCH_JOB_ARRAY_SIZE: '5', SLURM_ARRAY_TASK_ID: '2' },
    'two different parts',
  ],
])('%s: exit 2, which says why, and nothing is asked', async (_name, array, why) => {
  const archive = await startArchive(filings);
  const place = await dataPlace();
  const { exitCode, stderr } = await task(place, taskEnvironment(archive.url, array));
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(why)]);
  expect(archive.asked()).toEqual([]);
});
