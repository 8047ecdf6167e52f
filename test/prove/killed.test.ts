import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { test, until } from '../cli/program.ts';
import { readReport } from '../program/batch.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { MIRROR } from './mirror-line.ts';
import { treeOf } from './recipes/mirrored.ts';

const KILLS = 20;
/** Maximum number of requests before the runs are killed, and of milliseconds after these. */
const [MAX_REQUESTS, MAX_MS] = [80, 30];

const numbers = Array.from({ length: 60 }, (_, at) => accession(at));
const names = Array.from({ length: 15 }, (_, n) => `f${n}.htm`);
const body = (number: string, name: string) => Buffer.alloc(20_000 + name.length, `${number}/${name} `).toString();
const filings = Object.fromEntries(
  numbers.map((number) => [number, Object.fromEntries(names.map((name) => [name, body(number, name)]))]),
);

// Several processes share a report, a done list and checksum files.
test.for([
  { what: 'of one process', parts: 1 },
  { what: 'of four processes', parts: 4 },
])('a mirror $what is complete after 20 kills, and repeats no file', async ({ parts }, { place }) => {
  // The service is slow enough that a kill falls into the middle of a run.
  const archive = await startArchive(filings, {
    instead(socket, { name }) {
      if (name === undefined) return false;
      socket.cork();
      setTimeout(() => socket.uncork(), 15);
      return false;
    },
  });
  for (let part = 0; part < parts; part += 1) {
    const own = numbers.filter((_each, at) => at % parts === part);
    await place.write(`in.${part}`, own.map((number) => `${number}\n`).join(''));
  }
  const read = async (name: string) => (await place.read(name).catch(() => '')).toString();

  const reported = async () => {
    const files = readReport(await read('report')).files.filter(({ result }) => result !== 'failed');
    return new Set(files.map(({ accession_no, file_name }) => `${accession_no}/${file_name}`));
  };

  /** Runs all parts at once to their end. Fails if a reported file is requested again. */
  async function run(isKilled: boolean) {
    const [known, before] = [await reported(), archive.asked().length];
    const line = [...MIRROR, '--report', 'report', '-i'];
    const running = Array.from({ length: parts }, (_, part) => place.start([...line, `in.${part}`], archive.env));
    let hasEnded = false;
    const ends = Promise.all(running.map(({ ended }) => ended)).finally(() => {
      hasEnded = true;
    });
    if (isKilled) {
      const enough = before + Math.random() * MAX_REQUESTS;
      await until(() => archive.asked().length > enough || hasEnded);
      await sleep(Math.random() * MAX_MS);
      for (const one of running) one.kill('SIGKILL');
    }
    const ended = await ends;
    const asked = archive.asked().slice(before);
    expect(asked.filter((each) => known.has(each))).toEqual([]);
    return { ended, asked };
  }

  for (let kill = 0; kill < KILLS; kill += 1) {
    await run(true);
    // Every filing of the done list is complete on disk.
    for (const [, number = ''] of (await read('done')).matchAll(/^(\d{10}-\d\d-\d{6})\t[0-9a-f]{16}\t[^\t]+\t\d+$/gm)) {
      for (const name of names) expect((await read(`out/${number}/${name}`)) === body(number, name)).toBe(true);
    }
  }
  const known = await reported();
  expect(known.size).toBeGreaterThan(0);
  const { ended } = await run(false);
  for (const { exitCode, stderr } of ended) expect([exitCode, stderr]).toEqual([0, '']);
  // The tree is the same as after an undisturbed run: right files, right bytes and no others. Parts of killed runs stay
  // for a day.
  const isPart = (path: string) => /\/\.f\d+\.htm\.\w{8}\.filings-part$/.test(path);
  const tree = Object.entries(await treeOf(place.at('out'))).filter(([path]) => !isPart(path));
  const whole = numbers.flatMap((number) => names.map((name) => [`${number}/${name}`, body(number, name)] as const));
  const sums = numbers.map((number) => `${number}/SHA256SUMS`);
  expect(tree.map(([path]) => path).sort()).toEqual([...whole.map(([path]) => path), ...sums].sort());
  expect(isDeepStrictEqual(new Map(tree.filter(([path]) => !sums.includes(path))), new Map(whole))).toBe(true);
  const { exitCode, stdout, stderr } = await place.filings(['verify', 'out']);
  expect([exitCode, stdout.toString()], stderr).toEqual([0, '']);
  expect(await reported()).toEqual(new Set(whole.map(([path]) => path)));
  // Another run has nothing to download.
  expect((await run(false)).asked).toEqual([]);
  process.stdout.write(`${parts} at once: ${known.size} of ${whole.length} files were there before the last run\n`);
});
