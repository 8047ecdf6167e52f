import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Running, until } from '../../cli/program.ts';
import { readReport } from '../../program/batch.ts';
import { sendFile } from '../../servers/answers.ts';
import { accession, type Instead, startArchive } from '../../servers/archive.ts';
import { content } from '../../service/transfer-fixture.ts';
import { firstProcess } from '../container.ts';
import { NO_PODS, type PodsPlace, podsPlace } from './pods-place.ts';
import { signal } from './process-tree.ts';

const SHARDS = 4;
const KILLS = 8;
const there = test.skipIf(NO_PODS !== '');
// Large enough to be gone on with, and small ones beside it.
const files = { 'ex-large.xml': content(1_500_000), 'ex1.htm': content(20_000), 'ex2.htm': content(300) };
const filings = Object.fromEntries(Array.from({ length: 24 }, (_, n) => [accession(n), files]));
const FILES = Object.keys(filings).flatMap((number) => Object.keys(files).map((name) => `${number}/${name}`));

/** A service that goes on in the middle of a file. */
const instead: Instead = (socket, { name = '', request }) => {
  const body = files[name as keyof typeof files];
  if (body) sendFile(socket, request, body, `"${name}"`);
  return body !== undefined;
};

/** Ends a pod as engines do: at once, or asked to end before its grace is over. */
async function endPod({ pid, ended }: Running, asked: boolean): Promise<void> {
  const first = firstProcess(pid);
  if (first !== undefined && asked) {
    signal(first, 'SIGTERM');
    await Promise.race([ended, sleep(5000)]);
  }
  const left = firstProcess(pid);
  if (left !== undefined) signal(left, 'SIGKILL');
  await ended;
}

/** Waits until pods have asked for large files, or have ended, and then for a while at random. */
async function inTheMiddle(pods: readonly Running[], asked: () => string[]): Promise<void> {
  const before = asked().length;
  const large = () =>
    asked()
      .slice(before)
      .filter((each) => each.endsWith('/ex-large.xml')).length;
  let over = false;
  const ends = Promise.all(pods.map(({ ended }) => ended)).then(() => {
    over = true;
  });
  await until(() => over || large() >= pods.length);
  await Promise.race([ends, sleep(Math.random() * 1000)]);
}

/** Right bytes, no file twice, and beside them only what `also` allows. */
async function expectTree(place: PodsPlace, also: (folder: string) => readonly string[]): Promise<void> {
  const root = join(place.data, 'filings');
  expect((await readdir(root)).sort()).toEqual(Object.keys(filings).sort());
  for (const number of Object.keys(filings)) {
    const folder = join(root, number);
    const expected = [...Object.keys(files), 'SHA256SUMS', ...also(folder)];
    expect((await readdir(folder)).sort()).toEqual(expected.sort());
    for (const [name, bytes] of Object.entries(files)) {
      expect((await readFile(join(folder, name))).equals(bytes)).toBe(true);
    }
  }
}

/** What the books of all shards say together: each file fetched once at most and told of, each filing done once. */
async function expectBooks(place: PodsPlace): Promise<number> {
  const book = (name: string) => readFile(join(place.data, 'books', name), 'utf8');
  const indices = Array.from({ length: SHARDS }, (_, index) => index);
  const lines = (await Promise.all(indices.map((index) => book(`report.${index}.jsonl`)))).flatMap(
    (text) => readReport(text).files,
  );
  const told = lines.filter(({ result }) => result !== 'failed');
  const nameOf = (line: (typeof lines)[number]) => `${line.accession_no}/${line.file_name}`;
  expect([...new Set(told.map(nameOf))].sort()).toEqual([...FILES].sort());
  const fetched = told.filter(({ result }) => result !== 'skipped').map(nameOf);
  expect(new Set(fetched).size).toBe(fetched.length);
  const done = (await Promise.all(indices.map((index) => book(`done.${index}`)))).join('').split('\n').filter(Boolean);
  expect(done.map((line) => line.split('\t')[0]).sort()).toEqual(Object.keys(filings).sort());
  return told.filter(({ result }) => result === 'resumed').length;
}

describe(`pods over one directory${NO_PODS}`, () => {
  there(`killed ${KILLS} times, started anew under new names and on other nodes: right in the end`, async () => {
    const service = await startArchive(filings, { instead });
    const place = await podsPlace(Object.keys(filings));
    const start = (round: number, more: readonly string[] = []) =>
      Array.from({ length: SHARDS }, (_, index) => {
        // Kubernetes calls the pods of one index by one host name, others by a new one.
        const name = round % 2 === 0 ? `filings-${index}` : `filings-${index}-${round}`;
        const args = [...place.manifestArgs(index, SHARDS), ...more];
        return place.startPod(name, index + round, args, { ...service.env, JOB_COMPLETION_INDEX: `${index}` });
      });
    for (let round = 0; round < KILLS; round += 1) {
      // So slow that it is killed in the middle of files.
      const pods = start(round, ['--limit-rate', '2MB/s']);
      await inTheMiddle(pods, service.asked);
      await Promise.all(pods.map((each) => endPod(each, round % 2 === 1)));
      if (round % 3 !== 2) await place.agesParts();
    }
    for (const { ended } of start(KILLS)) expect(await ended).toMatchObject({ exitCode: 0 });

    // What is left over are parts that were not yet ten minutes old when their file was fetched by another.
    const left = await place.parts();
    await expectTree(place, (folder) =>
      left.flatMap(({ path }) => (path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [])),
    );
    const resumed = await expectBooks(place);
    process.stdout.write(`${resumed} files were gone on with by another pod; ${left.length} parts and records left\n`);
    expect(resumed).toBeGreaterThan(0);
    expect((await place.filings(['verify', 'data/filings'])).exitCode).toBe(0);

    // Ten minutes later a run that looks at each file sweeps them, and fetches nothing.
    await place.agesParts();
    const asked = service.asked().length;
    const args = place.manifestArgs(0, SHARDS).filter((arg) => !arg.startsWith('--shard') && !arg.startsWith('--done'));
    const swept = await place.startPod('sweeper', 0, args, service.env).ended;
    expect(swept.exitCode, swept.stderr).toBe(0);
    await expectTree(place, () => []);
    expect(service.asked().slice(asked).sort()).toEqual(Object.keys(filings).sort());
  });

  there('two pods of one shard, as when a lost node comes back: both are right', async () => {
    const service = await startArchive(filings, { instead });
    const place = await podsPlace(Object.keys(filings));
    const env = { ...service.env, JOB_COMPLETION_INDEX: '0' };
    const args = place.manifestArgs(0, 1);
    const lost = place.startPod('filings-0', 0, [...args, '--limit-rate', '4MB/s'], env);
    await until(async () => (await place.parts()).length > 0);
    const anew = place.startPod('filings-0', 1, args, env);
    for (const { ended } of [lost, anew]) expect(await ended).toMatchObject({ exitCode: 0 });
    await expectTree(place, () => []);
    expect((await place.filings(['verify', 'data/filings'])).exitCode).toBe(0);
  });
});

describe(`hosts of different names${NO_PODS}`, () => {
  there('one report, one done list, one checksum file for all: no line is lost or torn', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        accession(n),
        Object.fromEntries(Array.from({ length: 12 }, (_, f) => [`ex${f}.htm`, `${n} ${f}`])),
      ]),
    );
    const service = await startArchive(many);
    const place = await podsPlace(Object.keys(many));
    const args = ['download', '-i', 'data/accessions.txt', '--all', '-d', 'flat', '--checksums', '-j', '8'];
    const books = ['--layout', '{accession_no}-{file_name}', '--report', 'report', '--done', 'done'];
    const shards = [1, 2, 3].map((index) =>
      place.startPod(`host-${index}`, index, [...args, ...books, '--shard', `${index}/3`], service.env),
    );
    for (const { ended } of shards) expect(await ended).toMatchObject({ exitCode: 0 });
    const expected = Object.entries(many).flatMap(([number, names]) =>
      Object.keys(names).map((name) => `${number}-${name}`),
    );
    // Who appends while another's line is half way begins with a line break: an empty line, which every reader passes.
    const lines = async (name: string) => (await place.read(name)).toString().split('\n').filter(Boolean);
    const report = await lines('report');
    const { files: told, summaries } = readReport(report.join('\n'));
    expect([report.length, summaries.length]).toEqual([expected.length + 3, 3]);
    expect(told.map(({ accession_no, file_name }) => `${accession_no}-${file_name}`).sort()).toEqual(expected.sort());
    expect((await lines('done')).map((line) => line.split('\t')[0]).sort()).toEqual(Object.keys(many).sort());
    expect((await lines('flat/SHA256SUMS')).map((line) => line.slice(66)).sort()).toEqual(expected.sort());
    expect((await place.shell('cd flat && sha256sum --quiet --strict -c SHA256SUMS')).exitCode).toBe(0);
  });
});
