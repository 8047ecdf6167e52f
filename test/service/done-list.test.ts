import { createHash } from 'node:crypto';
import { existsSync, fstatSync, readdirSync, statSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type DoneList, type DoneListOptions, hashSelection, openDoneList } from '../../src/batch/done-list.ts';
import { parseAccession } from '../../src/service/accession.ts';
import { test as base, temporaryDirectory } from './transfer-fixture.ts';

const id = '0123456789abcdef';
const never = new AbortController().signal;
const filing = (n: number) => parseAccession(`0001234567-24-${String(n).padStart(6, '0')}`);
const entry = (n: number, selection = id) => `${filing(n)}\t${selection}\t2024-05-01T00:00:00Z\t3\n`;
const completedFilings = (...numbers: number[]) => numbers.map((n) => ({ accession: filing(n), selectedCount: 3 }));

/** `test` with the path of a list. */
const test = base.extend('path', ({ directory }) => join(directory, 'list'));

function openList(path: string, more: Partial<DoneListOptions> = {}, signal = never): Promise<DoneList> {
  const now = () => Date.UTC(2024, 4, 1);
  const disk = { sharesDirectory: false, findLoss: () => undefined, warn() {} };
  return openDoneList({ path, selection: id, now, readOnly: false, ...disk, ...more }, signal);
}

/** Returns those of `numbers` whose filings are in a list with this text. */
async function knownFilings(path: string, text: string, ...numbers: number[]): Promise<number[]> {
  await writeFile(path, text);
  const list = await openList(path);
  await list.close();
  return numbers.filter((n) => list.has(filing(n)));
}

test('the selection is 16 digits of the hash of a JSON array', () => {
  const json = '["https://archive.example/",["*.xml","ex*"],[],"{accession_no}/{file_name}","/data/exhibits",[]]';
  const id = createHash('sha256').update(json).digest('hex').slice(0, 16);
  const [service, directory] = ['https://archive.example/', '/data/exhibits'];
  expect(hashSelection(service, ['*.xml', 'ex*'], [], '{accession_no}/{file_name}', directory, [])).toBe(id);
});

test('entries of other selections, garbage and torn lines are ignored, but no unended last line', async ({ path }) => {
  const long = 'x'.repeat(700_000);
  const torn = entry(7).slice(0, 40);
  const text = `${entry(1)}\n\r\n# x\n${torn}\n${torn}${entry(8)}\0\0\0${entry(9)}${long}\n${long}${entry(4)}`;
  const more = `v2\t${entry(5)}${entry(2)}${entry(6, 'f'.repeat(16))}${entry(3).trimEnd()}`;
  expect(await knownFilings(path, text + more, 1, 2, 3, 4, 5, 6, 7, 8, 9)).toEqual([1, 2, 3]);
  const whole = entry(1).trimEnd();
  const broken = [
    `${whole}\tmore`,
    ` ${whole}`,
    whole.replace(id, id.toUpperCase()),
    whole.replaceAll('\t', ' '),
    whole.replace('\t3', '\t-1'),
    ...Array.from({ length: whole.length - 1 }, (_, length) => whole.slice(0, length)),
  ];
  for (const line of broken) expect(await knownFilings(path, `${line}\n`, 1), line).toEqual([]);
});

test('a run that is stopped while it reads its list closes it', async ({ path }) => {
  await writeFile(path, entry(1));
  await expect(openList(path, {}, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  // The stream that has read the list is closed in a later turn. The descriptor of /dev/fd itself is closed by now.
  const { ino } = statSync(path);
  const isList = (fd: string) => existsSync(`/dev/fd/${fd}`) && fstatSync(Number(fd)).ino === ino;
  await expect.poll(() => readdirSync('/dev/fd').filter(isList)).toEqual([]);
});

test('added filings are in the list, even after torn lines, and a read-only one is unchanged', async ({ path }) => {
  const missing = await openList(path, { readOnly: true });
  await missing.add(completedFilings(1));
  await missing.close();
  await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  await writeFile(path, `${entry(1)}torn`);
  for (const readOnly of [false, true]) {
    const list = await openList(path, { readOnly });
    await Promise.all([list.add(completedFilings(3, 4)), list.add(completedFilings(2))]);
    const known = [1, 2, 3, 4, 5].filter((n) => list.has(filing(n)));
    expect(known).toEqual(readOnly ? [1, 2, 3, 4] : [1]);
    await list.close();
    expect(await readFile(path, 'utf8')).toBe(`${entry(1)}torn\n${entry(3)}${entry(4)}${entry(2)}`);
  }
});

test.each`
  directories | sharesDirectory | forgotten
  ${'own'}    | ${false}        | ${[2]}
  ${'shared'} | ${true}         | ${[1, 2, 3]}
`('a lost filing is not done, and is forgotten with those of its $directories directory', async (row) => {
  const { sharesDirectory, forgotten } = row as { sharesDirectory: boolean; forgotten: readonly number[] };
  const path = join(await temporaryDirectory(), 'list');
  const text = entry(1) + entry(2) + entry(3);
  await writeFile(path, text);
  const warnings: string[] = [];
  const list = await openList(path, {
    sharesDirectory,
    findLoss: (accession) => (sharesDirectory || accession === filing(2) ? 'it is lost' : undefined),
    warn: (message) => warnings.push(message),
  });
  expect([1, 2, 3, 2].filter((n) => list.has(filing(n)))).toEqual(sharesDirectory ? [] : [1, 3]);
  expect(warnings).toEqual([expect.stringMatching(`^it is lost, .* ${filing(sharesDirectory ? 1 : 2)}`)]);
  await Promise.all([list.forget(filing(2)), list.forget(filing(2)), list.forget(filing(9))]);
  await list.close();
  const withoutFiles = forgotten.map((n) => entry(n).replace('\t3\n', '\t0\n'));
  expect(await readFile(path, 'utf8')).toBe(text + withoutFiles.join(''));
  const left = [1, 2, 3].filter((n) => !forgotten.includes(n));
  expect(await knownFilings(path, text + withoutFiles.join(''), 1, 2, 3)).toEqual(left);
  expect(await knownFilings(path, text + withoutFiles.join('') + entry(2), 2)).toEqual([2]);
  // A run with another selection has found the loss.
  const elsewhere = entry(3, 'f'.repeat(16)).replace('\t3\n', '\t0\n');
  expect(await knownFilings(path, text + elsewhere, 1, 2, 3)).toEqual([1, 2]);
});

test('opening ends with the reason of an abort', async ({ path }) => {
  const reason = new Error('enough');
  await writeFile(path, entry(1));
  await expect(openList(path, {}, AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('a directory is refused, to write and to read', async ({ path }) => {
  await mkdir(path);
  const refused = (verb: string) => ({
    code: 'local_io',
    message: `--done ${path}: cannot ${verb}: it is a directory`,
  });
  await expect(openList(path)).rejects.toMatchObject(refused('write'));
  await expect(openList(path, { readOnly: true })).rejects.toMatchObject(refused('read'));
});
