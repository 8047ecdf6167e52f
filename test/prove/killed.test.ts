import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Running, workplace } from '../cli/program.ts';
import { readReport } from '../program/batch.ts';
import { accession, startArchive } from '../servers/archive.ts';
import { MIRROR } from './mirror-line.ts';

const KILLS = 20;
const FILINGS = 60;
const FILES = 15;
const PARTS = 4;
/** The most a run lives before it is killed, in milliseconds, from the first answer on. */
const MOST_MS = 400;

const body = (number: string, name: string) => Buffer.alloc(20_000 + name.length, `${number}/${name} `);
const filings = Object.fromEntries(
  Array.from({ length: FILINGS }, (_, at) => [
    accession(at),
    Object.fromEntries(Array.from({ length: FILES }, (_, n) => [`f${n}.htm`, body(accession(at), `f${n}.htm`)])),
  ]),
);
const LINE = [...MIRROR, '--report', 'report'];

async function setUp() {
  // A service that is slow enough for a run to be killed in its middle.
  const archive = await startArchive(filings, {
    instead(socket, { name }) {
      if (name !== undefined) socket.cork();
      if (name !== undefined) setTimeout(() => socket.uncork(), 15);
      return false;
    },
  });
  const place = await workplace();
  for (const parts of [1, PARTS]) {
    for (let part = 0; part < parts; part += 1) {
      const numbers = Object.keys(filings).filter((_, at) => at % parts === part);
      await writeFile(join(place.path, `in.${part}-of-${parts}`), numbers.map((number) => `${number}\n`).join(''));
    }
  }
  return { archive, place, asked: () => archive.asked() };
}

type Setting = Awaited<ReturnType<typeof setUp>>;

/** What the reports have said so far stands: `ACCESSION/NAME`. */
async function reported({ place }: Setting): Promise<Set<string>> {
  const { files } = readReport(await place.read('report').catch(() => ''));
  return new Set(
    files
      .filter(({ result }) => result !== 'failed')
      .map(({ accession_no, file_name }) => `${accession_no}/${file_name}`),
  );
}

/** Kills what runs at a random time behind its first answer, or lets it end before. */
async function killAtRandom(running: readonly Running[], { asked }: Setting): Promise<void> {
  const before = asked().length;
  const ends = Promise.all(running.map(({ ended }) => ended));
  let hasEnded = false;
  void ends.then(() => {
    hasEnded = true;
  });
  while (asked().length === before && !hasEnded) await sleep(2);
  await Promise.race([sleep(Math.random() * MOST_MS), ends]);
  for (const one of running) one.kill('SIGKILL');
  await ends;
}

/** What is in the done list is complete on disk. */
async function expectDoneIsWhole({ place }: Setting): Promise<void> {
  const list = (await place.read('done').catch(() => '')).toString();
  for (const line of list.split('\n').filter((each) => /^\d{10}-\d\d-\d{6}\t[0-9a-f]{16}\t[^\t]+\t\d+$/.test(each))) {
    const [number = ''] = line.split('\t');
    for (const [name, bytes] of Object.entries(filings[number] ?? {})) {
      expect((await readFile(join(place.path, 'out', number, name))).equals(bytes as Buffer)).toBe(true);
    }
  }
}

/** The tree is that of a run that nobody disturbed: right files, right bytes, nothing else. */
async function expectUndisturbed(setting: Setting): Promise<void> {
  const { place, archive } = setting;
  for (const [number, files] of Object.entries(filings)) {
    expect((await readdir(join(place.path, 'out', number))).sort()).toEqual(
      [...Object.keys(files), 'SHA256SUMS'].sort(),
    );
    for (const [name, bytes] of Object.entries(files)) {
      expect((await readFile(join(place.path, 'out', number, name))).equals(bytes as Buffer)).toBe(true);
    }
  }
  expect((await readdir(join(place.path, 'out'))).sort()).toEqual(Object.keys(filings).sort());
  const { exitCode, stdout, stderr } = await place.filings(['verify', 'out'], archive.env);
  expect({ exitCode, stdout: stdout.toString(), stderr }).toMatchObject({ exitCode: 0, stdout: '' });
  expect((await reported(setting)).size).toBe(FILINGS * FILES);
}

describe.each([
  ['one process', 1],
  ['four at once, each with a part of the input, with one report, one done list and the same checksum files', PARTS],
])('a mirror that is killed 20 times: %s', (_what, parts) => {
  it('comes to the same tree, fetches nothing twice that it reported, and holds nothing for done that is not', async () => {
    const setting = await setUp();
    const { place, archive } = setting;
    const again = (known: ReadonlySet<string>, before: number) =>
      archive
        .asked()
        .slice(before)
        .filter((asked) => known.has(asked));
    const start = () =>
      Array.from({ length: parts }, (_, at) => place.start([...LINE, '-i', `in.${at}-of-${parts}`], archive.env));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const [known, before] = [await reported(setting), archive.asked().length];
      await killAtRandom(start(), setting);
      expect(again(known, before)).toEqual([]);
      await expectDoneIsWhole(setting);
    }
    const [known, before] = [await reported(setting), archive.asked().length];
    const ended = await Promise.all(start().map((one) => one.ended));
    expect(ended.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
      ended.map(() => ({ exitCode: 0, stderr: '' })),
    );
    expect(again(known, before)).toEqual([]);
    await expectUndisturbed(setting);
    // And then there is nothing left to do.
    const then = archive.asked().length;
    await Promise.all(start().map((one) => one.ended));
    expect(archive.asked()).toHaveLength(then);
    process.stdout.write(
      `${parts} at once: ${known.size} of ${FILINGS * FILES} files were there before the last run, ${then} requests in all\n`,
    );
  });
});
